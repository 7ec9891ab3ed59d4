package tern.rpc.test.packed;

import java.io.Serializable;
import java.util.List;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** A program that exports a service and calls it over each protocol. */
public final class PackedApplication {

    private PackedApplication() {}

    public interface Kitchen {
        Dish cook(Dish dish);
    }

    public record Dish(String name, List<String> spices) implements Serializable {}

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

        @RpcReference(name = "http", protocol = "http")
        Kitchen http;
    }

    public static void main(String[] arguments) {
        try (ConfigurableApplicationContext provider = start(Provider.class, "rpc.server.port=0")) {
            String port = provider.getEnvironment().getProperty("local.rpc.port");
            try (ConfigurableApplicationContext consumer = start(Consumer.class, "rpc.client.url=127.0.0.1:" + port)) {
                Consumer wires = consumer.getBean(Consumer.class);
                for (Kitchen wire : List.of(wires.dubbo, wires.tri, wires.http)) {
                    Dish dish = wire.cook(new Dish("soup", List.of("salt")));
                    System.out.println("cooked " + dish);
                }
            }
        }
        System.out.println("from "
                + PackedApplication.class.getProtectionDomain().getCodeSource().getLocation());
    }

    private static ConfigurableApplicationContext start(Class<?> configuration, String property) {
        return new SpringApplicationBuilder(configuration)
                .properties(property, "rpc.server.address=127.0.0.1", "rpc.client.timeout=1m")
                .run();
    }
}
