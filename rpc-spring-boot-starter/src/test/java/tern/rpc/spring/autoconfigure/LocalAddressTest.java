package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import jakarta.annotation.PostConstruct;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests the {@code local} address, which refers to the server in the same application. */
@Timeout(120)
class LocalAddressTest {

    private static ApplicationContextRunner local(Class<?>... configurations) {
        return provider(configurations).withPropertyValues("rpc.client.url=local");
    }

    @ParameterizedTest
    @ValueSource(strings = {"local", "local://", " local "})
    void callsTheServerOfTheSameApplication(String address) {
        provider(Desk.class, Clerk.class)
                .withPropertyValues("rpc.client.url=" + address)
                .run(here -> {
                    assertThat(here).hasNotFailed();
                    assertThat(here.getBean(Desk.class).clerk.greet("Ada")).isEqualTo("Good day, Ada");
                    assertThat(here.getBean(RpcClient.class).references())
                            .singleElement()
                            .satisfies(reference -> assertThat(reference.connections())
                                    .extracting(
                                            connection -> connection.endpoint().toString())
                                    .containsExactly("local"));
                });
    }

    @Test
    void annotationAndOneServiceMayNameIt() {
        provider(AnnotatedDesk.class, Clerk.class)
                .run(here -> assertThat(here.getBean(AnnotatedDesk.class).clerk.greet("Ada"))
                        .isEqualTo("Good day, Ada"));
        provider(Desk.class, Clerk.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1", "rpc.client.services.front-desk.url=local")
                .run(here ->
                        assertThat(here.getBean(Desk.class).clerk.greet("Ada")).isEqualTo("Good day, Ada"));
    }

    @Test
    void argumentsAndResultsAreCopies() {
        local(Desk.class, Clerk.class).run(here -> {
            List<String> mine = new ArrayList<>(List.of("a"));

            List<String> theirs = here.getBean(Desk.class).clerk.append(mine);

            assertThat(mine).containsExactly("a");
            assertThat(theirs).containsExactly("a", "b");
        });
    }

    @Test
    void valuesThatCannotBeSentAreRefusedAsOverASocket() {
        local(Desk.class, Clerk.class).run(here -> {
            assertThatExceptionOfType(RpcException.class)
                    .isThrownBy(() -> here.getBean(Desk.class).clerk.take(new Thing()))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                    .withMessageContaining("Thing does not implement java.io.Serializable");
        });
    }

    @Test
    void maximumMessageFollowsTheProperty() {
        local(Desk.class, Clerk.class)
                .withPropertyValues("rpc.limits.max-message=2KB")
                .run(here -> assertThatExceptionOfType(RpcException.class)
                        .isThrownBy(() -> here.getBean(Desk.class).clerk.greet("x".repeat(4_096)))
                        .satisfies(e -> {
                            assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                            assertThat(e.wasExecuted()).isEqualTo(Executed.NO);
                        }));
    }

    @Test
    void maximumRequestAndAnswerFollowTheirProperties() {
        local(Desk.class, Clerk.class)
                .withPropertyValues("rpc.limits.max-request=8KB", "rpc.limits.max-response=2KB")
                .run(here -> assertThatExceptionOfType(RpcException.class)
                        .isThrownBy(() -> here.getBean(Desk.class).clerk.greet("x".repeat(4_096)))
                        .withMessageContaining("rpc.limits.max-response"));
        local(Desk.class, Clerk.class)
                .withPropertyValues("rpc.limits.max-request=2KB")
                .run(here -> assertThatExceptionOfType(RpcException.class)
                        .isThrownBy(() -> here.getBean(Desk.class).clerk.greet("x".repeat(4_096)))
                        .withMessageContaining("rpc.limits.max-request"));
    }

    @Test
    void answerWithTooManyValuesIsNamedWithItsMethod() {
        local(Desk.class, Clerk.class)
                .withPropertyValues("rpc.limits.max-values=1000")
                .run(here -> assertThatExceptionOfType(RpcException.class)
                        .isThrownBy(() -> here.getBean(Desk.class).clerk.many(2_000))
                        .satisfies(e -> assertThat(e.wasExecuted()).isEqualTo(Executed.YES))
                        .withMessageContaining("FrontDesk/many: the answer of local")
                        .withMessageContaining("rpc.limits.max-values"));
    }

    @Test
    void deadlineEndsACall() {
        local(Desk.class, Clerk.class)
                .withPropertyValues("rpc.client.timeout=50ms")
                .run(here -> assertThatExceptionOfType(RpcException.class)
                        .isThrownBy(() -> here.getBean(Desk.class).clerk.waitForInterrupt())
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED)));
    }

    @Test
    void declaredExceptionsArriveTypedAndAreNotTheSameObject() {
        local(Desk.class, Clerk.class)
                .run(here -> assertThatExceptionOfType(Closed.class)
                        .isThrownBy(() -> here.getBean(Desk.class).clerk.close())
                        .satisfies(e -> assertThat(e).isNotSameAs(Clerk.CLOSED))
                        .withMessage("at six"));
    }

    @Test
    void metadataIsSent() {
        local(Desk.class, Clerk.class)
                .run(here -> assertThat(CallOptions.none()
                                .header("tenant", "blue")
                                .on(here.getBean(Desk.class).clerk)
                                .tenant())
                        .isEqualTo("blue"));
    }

    @Test
    void tokenIsCheckedAsOverASocket() {
        local(Desk.class, Clerk.class)
                .withPropertyValues("rpc.server.token=right", "rpc.client.token=wrong")
                .run(here -> assertThatExceptionOfType(RpcException.class)
                        .isThrownBy(() -> here.getBean(Desk.class).clerk.greet("Ada"))
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNAUTHENTICATED)));
        local(Desk.class, Clerk.class)
                .withPropertyValues("rpc.server.token=right", "rpc.client.token=right")
                .run(here ->
                        assertThat(here.getBean(Desk.class).clerk.greet("Ada")).isEqualTo("Good day, Ada"));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void serviceThatIsNotExportedIsNamedAtStartup(CapturedOutput output) {
        local(OtherGroup.class, Desk.class, Clerk.class)
                .run(here -> assertThat(output)
                        .contains("Calls to local will fail, because this application does not export ")
                        .containsOnlyOnce("FrontDesk; it exports "));
    }

    @Test
    void groupThatIsNotExportedIsNamed() {
        local(OtherGroup.class, Clerk.class)
                .run(here -> assertThatExceptionOfType(RpcException.class)
                        .isThrownBy(() -> here.getBean(OtherGroup.class).clerk.greet("Ada"))
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNIMPLEMENTED))
                        .withMessageContaining("FrontDesk"));
    }

    @Test
    void beansCallEachOtherWhileTheApplicationStarts() {
        local(Eager.class, Clerk.class)
                .run(here -> assertThat(here.getBean(Eager.class).heard).isEqualTo("Good day, early bird"));
    }

    @Test
    void providerMayCallAnotherProviderOfTheApplicationWhileItIsMade() {
        local(EagerService.class, Clerk.class)
                .run(here -> assertThat(here.getBean(EagerService.class).heard).isEqualTo("Good day, colleague"));
    }

    @Test
    void lazyBeansAreMadeByTheFirstCall() {
        local(Eager.class, Clerk.class)
                .withPropertyValues("spring.main.lazy-initialization=true")
                .run(here -> assertThat(here.getBean(Eager.class).heard).isEqualTo("Good day, early bird"));
    }

    @Test
    void checkAtStartFindsTheServerThatStartsLast() {
        local(Desk.class, Clerk.class)
                .withPropertyValues("rpc.client.services.front-desk.check=true")
                .run(here ->
                        assertThat(here.getBean(Desk.class).clerk.greet("Ada")).isEqualTo("Good day, Ada"));
    }

    @Test
    void runnersMayCall() {
        try (ConfigurableApplicationContext here = start(Runs.class)) {
            assertThat(here.getBean(Runs.class).heard).isEqualTo("Good day, runner");
        }
    }

    @Test
    void eachContextCallsItsOwnServerAndRestartsFindTheNewOne() {
        try (ConfigurableApplicationContext first = start(Runs.class)) {
            String before = first.getBean(Desk.class).clerk.identity();
            try (ConfigurableApplicationContext second = start(Runs.class)) {
                assertThat(second.getBean(Desk.class).clerk.identity()).isNotEqualTo(before);
                assertThat(first.getBean(Desk.class).clerk.identity()).isEqualTo(before);
            }
            assertThat(first.getBean(Desk.class).clerk.identity()).isEqualTo(before);
        }
    }

    @Test
    void callAfterTheEndIsRefused() {
        FrontDesk clerk;
        try (ConfigurableApplicationContext here = start(Runs.class)) {
            clerk = here.getBean(Desk.class).clerk;
        }

        assertThatExceptionOfType(RpcException.class)
                .isThrownBy(() -> clerk.greet("Ada"))
                .satisfies(e -> assertThat(e.wasExecuted()).isEqualTo(Executed.NO));
    }

    @Test
    void failureNamesAnApplicationThatServesNothing() {
        local(Desk.class, Clerk.class)
                .withPropertyValues("rpc.server.enabled=false")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("refers to local, but this application exports no services")
                        .hasMessageContaining("rpc.server.enabled is false"));
        local(Desk.class)
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("it has no @RpcService bean"));
    }

    @Test
    void portOfTheOwnServerIsAnsweredWithTheAddressThatWorks() {
        provider(Desk.class, Clerk.class)
                .withPropertyValues("rpc.client.url=localhost:${local.rpc.port}")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("${local.rpc.port}")
                        .satisfies(e ->
                                assertThat(((RpcStartException) e).action()).contains("rpc.client.url to local")));
        provider(PortDesk.class, Clerk.class)
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("${local.rpc.port}"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"local,127.0.0.1:1", "local,local", "local://here", "local?weight=5"})
    void localIsRefusedBesideAnotherAddress(String address) {
        application(Desk.class, Clerk.class)
                .withPropertyValues("rpc.client.url=" + address)
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessageContaining("rpc.client.url")
                        .hasMessageContaining("local"));
    }

    private static ConfigurableApplicationContext start(Class<?> configuration) {
        return new SpringApplicationBuilder(configuration)
                .web(WebApplicationType.NONE)
                .bannerMode(org.springframework.boot.Banner.Mode.OFF)
                .run("--rpc.server.port=0", "--rpc.client.url=local", "--rpc.client.timeout=1m");
    }

    /** An exception that the interface declares. */
    public static final class Closed extends Exception {
        public Closed(String message) {
            super(message);
        }
    }

    /** A type that no serializer can send. */
    public static final class Thing {}

    public interface FrontDesk {
        String greet(String name);

        List<String> append(List<String> words);

        List<String> many(int count);

        void take(Object anything);

        void waitForInterrupt();

        void close() throws Closed;

        String tenant();

        String identity();
    }

    @RpcService
    static class Clerk implements FrontDesk {

        static final Closed CLOSED = new Closed("at six");

        @Override
        public String greet(String name) {
            return "Good day, " + name;
        }

        @Override
        public List<String> append(List<String> words) {
            words.add("b");
            return words;
        }

        @Override
        public List<String> many(int count) {
            return new ArrayList<>(Collections.nCopies(count, "x"));
        }

        @Override
        public void take(Object anything) {}

        @Override
        public void waitForInterrupt() {
            try {
                new java.util.concurrent.CountDownLatch(1).await(20, java.util.concurrent.TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void close() throws Closed {
            throw CLOSED;
        }

        @Override
        public String tenant() {
            return String.valueOf(ServerContext.current().metadata().get("tenant"));
        }

        @Override
        public String identity() {
            return Integer.toHexString(System.identityHashCode(this));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Desk {
        @RpcReference
        FrontDesk clerk;
    }

    @Configuration(proxyBeanMethods = false)
    static class AnnotatedDesk {
        @RpcReference(url = "local")
        FrontDesk clerk;
    }

    @Configuration(proxyBeanMethods = false)
    static class PortDesk {
        @RpcReference(url = "127.0.0.1:${local.rpc.port}")
        FrontDesk clerk;
    }

    @Configuration(proxyBeanMethods = false)
    static class OtherGroup {
        @RpcReference(group = "other")
        FrontDesk clerk;
    }

    @Configuration(proxyBeanMethods = false)
    static class Eager {
        @RpcReference
        FrontDesk clerk;

        @Nullable
        String heard;

        @PostConstruct
        void begin() {
            heard = clerk.greet("early bird");
        }
    }

    public interface Colleague {
        String ask();
    }

    @RpcService
    static class EagerService implements Colleague {
        @RpcReference
        FrontDesk clerk;

        @Nullable
        String heard;

        @PostConstruct
        void begin() {
            heard = clerk.greet("colleague");
        }

        @Override
        public String ask() {
            return "asked";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Clerk.class, Desk.class})
    static class Runs {
        @Nullable
        String heard;

        @Bean
        ApplicationRunner calling(Desk desk) {
            return arguments -> heard = desk.clerk.greet("runner");
        }
    }
}
