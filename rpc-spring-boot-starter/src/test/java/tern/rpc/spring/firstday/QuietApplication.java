package tern.rpc.spring.firstday;

import java.io.Serializable;
import java.util.List;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** A program that contains a provider and a consumer. The consumer calls the provider over both binary protocols. */
public final class QuietApplication {

    private QuietApplication() {}

    public interface Kitchen {
        Dish cook(Dish dish);
    }

    public record Dish(String name, List<Spice> spices) implements Serializable {}

    public static class Spice implements Serializable {
        public String name = "salt";
    }

    @RpcService
    static class Cook implements Kitchen {
        @Override
        public Dish cook(Dish dish) {
            return dish;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Cook.class)
    static class Provider {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Consumer {
        @RpcReference(name = "dubbo", protocol = "dubbo")
        Kitchen dubbo;

        @RpcReference(name = "tri", protocol = "tri")
        Kitchen tri;
    }

    public static void main(String[] arguments) {
        try (ConfigurableApplicationContext provider =
                start(Provider.class, "rpc.server.address=127.0.0.1", "rpc.server.port=0")) {
            String port = provider.getEnvironment().getProperty("local.rpc.port");
            try (ConfigurableApplicationContext consumer = start(Consumer.class, "rpc.client.url=127.0.0.1:" + port)) {
                Consumer wires = consumer.getBean(Consumer.class);
                Dish dish = new Dish("soup", List.of(new Spice()));
                for (Kitchen wire : List.of(wires.dubbo, wires.tri)) {
                    System.out.println("cooked " + wire.cook(dish).name());
                }
            }
        }
    }

    private static ConfigurableApplicationContext start(Class<?> configuration, String... properties) {
        return new SpringApplicationBuilder(configuration)
                .web(WebApplicationType.NONE)
                .properties("rpc.client.timeout=1m")
                .properties(properties)
                .run();
    }
}
