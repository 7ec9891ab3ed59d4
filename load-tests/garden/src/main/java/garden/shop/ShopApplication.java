package garden.shop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.scheduling.annotation.EnableAsync;

/** The shop, which is the application that the diagnosis watches. */
@SpringBootApplication(scanBasePackages = {"garden.shop", "garden.open", "garden.blind"})
@AutoConfigurationPackage(basePackages = "garden")
@EnableAsync
public class ShopApplication {

    public static void main(String[] arguments) throws IOException {
        ConfigurableApplicationContext shop = SpringApplication.run(ShopApplication.class, arguments);
        ConfigurableEnvironment environment = shop.getEnvironment();
        Properties ports = new Properties();
        ports.setProperty("web", environment.getProperty("local.server.port", ""));
        ports.setProperty("rpc", environment.getProperty("local.rpc.port", ""));
        ports.setProperty("control", String.valueOf(Control.start(shop)));
        Path ready = Path.of(environment.getRequiredProperty("garden.ready-file"));
        Path partial = ready.resolveSibling(ready.getFileName() + ".part");
        try (var out = Files.newOutputStream(partial)) {
            ports.store(out, null);
        }
        Files.move(partial, ready);
    }
}
