package garden.run;

import garden.shop.OrderService;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import tern.rpc.spring.RpcReference;

/** The application that calls the shop application over RPC. */
@SpringBootConfiguration
@EnableAutoConfiguration
class Caller {

    @RpcReference
    @SuppressWarnings("NullAway.Init") // The Spring Boot starter for RPC injects a proxy into this field.
    private OrderService orders;

    OrderService orders() {
        return orders;
    }

    static ConfigurableApplicationContext start(int port) {
        return new SpringApplicationBuilder(Caller.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .run(
                        "--rpc.client.services.OrderService.url=127.0.0.1:" + port,
                        "--rpc.server.enabled=false",
                        "--spring.datasource.url=jdbc:h2:mem:caller",
                        "--spring.application.name=caller",
                        "--logging.level.root=ERROR");
    }
}
