package garden.world;

import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;

/** The application that provides rates. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import(RateDesk.class)
class RateApplication {

    static ConfigurableApplicationContext start() {
        return new SpringApplicationBuilder(RateApplication.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .run(
                        "--rpc.server.port=0",
                        "--rpc.server.threads=20",
                        "--spring.datasource.url=jdbc:h2:mem:rates",
                        "--spring.application.name=rates",
                        "--logging.level.root=ERROR");
    }
}
