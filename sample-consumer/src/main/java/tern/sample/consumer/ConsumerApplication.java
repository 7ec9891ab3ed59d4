package tern.sample.consumer;

import java.io.IOException;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.context.ConfigurableApplicationContext;

@SpringBootApplication
@ConfigurationPropertiesScan
public class ConsumerApplication {

    /**
     * Starts the application. If {@code load.rate} is set, the application runs a load at that rate and then exits,
     * with status 0 if the load met its target and 1 otherwise.
     */
    public static void main(String[] args) throws InterruptedException, IOException {
        ConfigurableApplicationContext context = SpringApplication.run(ConsumerApplication.class, args);
        LoadRun load = context.getBean(LoadRun.class);
        if (load.requested()) {
            boolean passed = load.run();
            if (!load.keepRunning()) {
                System.exit(SpringApplication.exit(context, () -> passed ? 0 : 1));
            }
        }
    }
}
