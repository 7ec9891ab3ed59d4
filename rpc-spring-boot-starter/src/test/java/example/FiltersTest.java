package example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import example.filters.TenantCheck;
import example.filters.TenantOfCaller;
import example.filters.TimesOfCalls;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Runs the filters of docs/filters.md, and compares the page with their sources. */
@Timeout(120)
class FiltersTest {

    interface Shop {
        String tenant();
    }

    @RpcService
    static class Counter implements Shop {
        @Override
        public String tenant() {
            return String.valueOf(
                    Objects.requireNonNull(ServerContext.current()).metadata().get("x-tenant"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({TenantCheck.class, Counter.class})
    static class Provider {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Stranger {
        @RpcReference
        Shop shop;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({TenantOfCaller.class, TimesOfCalls.class})
    static class Consumer {
        @RpcReference
        Shop shop;

        @Bean
        static MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }

    private static ConfigurableApplicationContext run(Class<?> type, String... properties) {
        return SpringApplication.run(type, properties);
    }

    private static String address(ConfigurableApplicationContext provider, String protocol) {
        return "--rpc.client.url=" + protocol + "://127.0.0.1:"
                + provider.getEnvironment().getProperty("local.rpc.port");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void filtersOfBothSidesRunAroundEachCall(String protocol) {
        try (ConfigurableApplicationContext provider = run(Provider.class, "--rpc.server.port=0");
                ConfigurableApplicationContext consumer =
                        run(Consumer.class, address(provider, protocol), "--rpc.client.timeout=1m")) {
            Shop shop = consumer.getBean(Consumer.class).shop;

            assertThat(shop.tenant()).isEqualTo("blue");
            assertThat(CallOptions.none().header("x-tenant", "red").on(shop).tenant())
                    .isEqualTo("red");
            assertThat(consumer.getBean(MeterRegistry.class)
                            .get("shop.calls")
                            .tags("method", "tenant", "server", "shop-1")
                            .timer()
                            .count())
                    .isEqualTo(2);
        }
    }

    @Test
    void callThatTheServersFilterRefusesDidNotRun() {
        try (ConfigurableApplicationContext provider = run(Provider.class, "--rpc.server.port=0");
                ConfigurableApplicationContext stranger =
                        run(Stranger.class, address(provider, "dubbo"), "--rpc.client.timeout=1m")) {
            Shop shop = stranger.getBean(Stranger.class).shop;

            RpcException failure = catchThrowableOfType(RpcException.class, shop::tenant);

            assertThat(failure.code()).isEqualTo(StatusCode.PERMISSION_DENIED);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(failure).hasMessageContaining("the call names no x-tenant");
        }
    }

    @Test
    void pageShowsThisCode() throws IOException {
        List<String> shown = ShownCode.typesOf(Path.of("..", "docs", "filters.md"));

        assertThat(shown).containsExactly("TenantOfCaller", "TimesOfCalls", "TenantCheck");
    }
}
