package tern.rpc.spring.firstday;

import java.io.Serializable;
import java.util.function.Supplier;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/**
 * An application that serves calls, and calls itself over both binary protocols. Each restart loads the application's
 * classes again.
 */
public final class RestartedApplication implements Supplier<String>, AutoCloseable {

    /** Starts the provider and the consumer. */
    public RestartedApplication() {}

    interface Kitchen {
        Dish cook(String name) throws Burnt;
    }

    record Dish(String name) implements Serializable {}

    static class Burnt extends Exception {}

    @RpcService
    static class Cook implements Kitchen {
        @Override
        public Dish cook(String name) throws Burnt {
            if (name.equals("coal")) {
                throw new Burnt();
            }
            return new Dish(name);
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

    private final ConfigurableApplicationContext provider =
            start(Provider.class, "rpc.server.address=127.0.0.1", "rpc.server.port=0");
    private final ConfigurableApplicationContext consumer = start(
            Consumer.class,
            "rpc.client.url=127.0.0.1:" + provider.getEnvironment().getProperty("local.rpc.port"));

    private static ConfigurableApplicationContext start(Class<?> configuration, String... properties) {
        return new SpringApplicationBuilder(configuration)
                .web(WebApplicationType.NONE)
                .properties("rpc.client.timeout=1m")
                .properties(properties)
                .run();
    }

    /**
     * Calls the service over both protocols and returns the answers as text. A call fails if its answer contains an
     * instance of a class that was loaded by an earlier start of the application.
     */
    @Override
    public String get() {
        Consumer wires = consumer.getBean(Consumer.class);
        try {
            return wires.dubbo.cook("soup").name() + burnt(wires.dubbo) + ", "
                    + wires.tri.cook("tea").name() + burnt(wires.tri);
        } catch (Burnt e) {
            throw new AssertionError(e);
        }
    }

    private static String burnt(Kitchen wire) {
        try {
            wire.cook("coal");
            return " and no failure";
        } catch (Burnt e) {
            return " and burnt";
        }
    }

    @Override
    public void close() {
        consumer.close();
        provider.close();
    }
}
