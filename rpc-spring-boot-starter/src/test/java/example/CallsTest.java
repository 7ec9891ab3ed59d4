package example;

import static org.assertj.core.api.Assertions.assertThat;

import example.calls.Documents;
import example.calls.Editor;
import example.calls.UserOfCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.TaskDecorator;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.stereotype.Component;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Runs the code of docs/calls.md, and compares the page with its sources. */
@Timeout(120)
class CallsTest {

    interface Desk {
        String user();

        CompletableFuture<String> userOfAnotherThread();
    }

    @RpcService
    static class DeskOfProvider implements Desk {
        private final Helper helper;

        DeskOfProvider(Helper helper) {
            this.helper = helper;
        }

        @Override
        public String user() {
            return String.valueOf(MDC.get("user"));
        }

        @Override
        public CompletableFuture<String> userOfAnotherThread() {
            return helper.user();
        }
    }

    @Component
    static class Helper {
        @Async
        public CompletableFuture<String> user() {
            ServerContext call = ServerContext.current();
            return CompletableFuture.completedFuture(
                    call == null ? "no call" : call.metadata().get("x-user"));
        }
    }

    interface Rates {
        @Cacheable("rates")
        @Retryable(maxRetries = 3, delay = 1)
        int rate();
    }

    /** Fails every second call. */
    @RpcService
    static class RatesOfProvider implements Rates {
        private final AtomicInteger calls = new AtomicInteger();

        @Override
        public int rate() {
            int call = calls.incrementAndGet();
            if (call % 2 == 0) {
                throw new RpcException(StatusCode.UNAVAILABLE, "call " + call);
            }
            return call;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableAsync
    @Import({Documents.class, UserOfCalls.class, DeskOfProvider.class, Helper.class, RatesOfProvider.class})
    static class Provider {}

    @Configuration(proxyBeanMethods = false)
    static class WithContext {
        @Bean
        TaskDecorator callContext() {
            return task -> {
                ServerContext call = ServerContext.current();
                return call == null ? task : call.wrap(task);
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableCaching
    @EnableResilientMethods
    @Import(Editor.class)
    static class Consumer {
        @RpcReference
        Desk desk;

        @RpcReference
        Rates rates;

        @Bean
        static ConcurrentMapCacheManager caches() {
            return new ConcurrentMapCacheManager();
        }
    }

    private static ConfigurableApplicationContext provider(Class<?>... types) {
        return new SpringApplicationBuilder(types).run("--rpc.server.port=0");
    }

    private static ConfigurableApplicationContext consumer(ConfigurableApplicationContext provider) {
        return new SpringApplicationBuilder(Consumer.class)
                .run(
                        "--rpc.client.url=tri://127.0.0.1:"
                                + provider.getEnvironment().getProperty("local.rpc.port"),
                        "--rpc.client.timeout=1m");
    }

    @Test
    void methodsOfEachShapeAreCalled() {
        byte[] part = new byte[100_000];
        Arrays.fill(part, (byte) 7);
        try (ConfigurableApplicationContext provider = provider(Provider.class);
                ConfigurableApplicationContext consumer = consumer(provider)) {
            Editor editor = consumer.getBean(Editor.class);

            assertThat(editor.title("tea")).isEqualTo("About tea");
            assertThat(editor.authors("tea", "milk")).isEqualTo("Ada, Ada");
            assertThat(editor.write("tea", List.of(part, part))).isEqualTo(200_000);
            assertThat(editor.read("tea")).hasSize(200_000).containsOnly(7);
        }
    }

    @Test
    void valuesOfTheCallersThreadAreSentOnlyAsHeaders() {
        try (ConfigurableApplicationContext provider = provider(Provider.class);
                ConfigurableApplicationContext consumer = consumer(provider)) {
            Desk desk = consumer.getBean(Consumer.class).desk;
            MDC.put("user", "bob");
            try {
                assertThat(desk.user()).isEqualTo("null");
            } finally {
                MDC.remove("user");
            }

            assertThat(CallOptions.none().header("x-user", "ada").on(desk).user())
                    .isEqualTo("ada");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anotherThreadSeesTheCallIfItsTaskIsWrapped(boolean wrapped) {
        Class<?>[] types =
                wrapped ? new Class<?>[] {Provider.class, WithContext.class} : new Class<?>[] {Provider.class};
        try (ConfigurableApplicationContext provider = provider(types);
                ConfigurableApplicationContext consumer = consumer(provider)) {
            Desk desk = consumer.getBean(Consumer.class).desk;

            assertThat(CallOptions.none()
                            .header("x-user", "ada")
                            .on(desk)
                            .userOfAnotherThread()
                            .join())
                    .isEqualTo(wrapped ? "ada" : "no call");
        }
    }

    @Test
    void annotationsOfSpringOnTheInterfaceHaveNoEffectOnTheCaller() {
        try (ConfigurableApplicationContext provider = provider(Provider.class);
                ConfigurableApplicationContext consumer = consumer(provider)) {
            Rates rates = consumer.getBean(Consumer.class).rates;

            assertThat(rates.rate()).isEqualTo(1); // The result is not cached, so the next call reaches the provider.
            assertThat(failureOf(rates)).hasMessageContaining("call 2"); // The failed call is not retried.
            assertThat(rates.rate()).isEqualTo(3);
        }
    }

    private static Throwable failureOf(Rates rates) {
        try {
            return new AssertionError("the call returned " + rates.rate());
        } catch (RpcException e) {
            return e;
        }
    }

    @Test
    void pageShowsThisCode() throws IOException {
        List<String> shown = ShownCode.typesOf(Path.of("..", "docs", "calls.md"));

        assertThat(shown).containsExactly("DocumentService", "Documents", "Editor", "Collector", "UserOfCalls");
    }
}
