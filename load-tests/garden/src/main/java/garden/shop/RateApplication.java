package garden.shop;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;

/** An application with the service of rates. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import(RateDesk.class)
public class RateApplication {

    public static ConfigurableApplicationContext start(int port) {
        return new SpringApplicationBuilder(RateApplication.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--rpc.server.port=" + port,
                        "--spring.datasource.url=jdbc:h2:mem:rates",
                        "--spring.application.name=rates");
    }
}
