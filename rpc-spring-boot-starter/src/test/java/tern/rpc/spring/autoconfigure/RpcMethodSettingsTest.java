package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.springframework.util.ReflectionUtils;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.client.MethodSettings;
import tern.rpc.client.RpcClient;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests which setting takes effect if a reference is configured in several places. */
class RpcMethodSettingsTest {

    @Test
    void everyShapeOfMethodIsCalled() {
        provider(Counter.class)
                .run(there -> consumerOf(there, User.class).run(here -> {
                    CounterService counter = here.getBean(User.class).counter;

                    counter.add(3);
                    assertThat(counter.count()).isEqualTo(3);
                    assertThat(counter.later().join()).isEqualTo(3);
                    counter.hint(4);
                    there.getBean(Counter.class).hinted.await();
                    assertThat(counter.count()).isEqualTo(7);
                }));
    }

    @Test
    void timeoutOfAMethodTakesEffectAndOthersKeepTheirs() {
        provider(Counter.class)
                .run(there -> consumerOf(there, User.class)
                        .withPropertyValues("rpc.client.services.counter-service.methods.waitForRelease.timeout=100ms")
                        .run(here -> {
                            CounterService counter = here.getBean(User.class).counter;
                            assertThat(counter.count()).isZero();

                            assertThatThrownBy(counter::waitForRelease)
                                    .isInstanceOfSatisfying(
                                            RpcException.class,
                                            failure ->
                                                    assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));

                            there.getBean(Counter.class).released.countDown();
                            assertThat(counter.count()).isZero();
                        }));
    }

    @Test
    void ownConnectionsAreOpenedInAdditionToTheSharedOne() {
        provider(Counter.class, Greeter.class)
                .run(there -> consumerOf(there, TwoUser.class).run(here -> {
                    assertThat(here.getBean(RpcClient.class).connections()).hasSize(2);
                    assertThat(here.getBean(TwoUser.class).greetings.greet("x")).isEqualTo("Hello x");
                    assertThat(here.getBean(TwoUser.class).counter.count()).isZero();
                }));
    }

    @Test
    void propertiesWinOverTheAnnotation() {
        RpcClientProperties.Service service = new RpcClientProperties.Service(
                List.of("10.0.0.1:1"),
                "g",
                "v",
                Duration.ofSeconds(5),
                2,
                true,
                "round-robin",
                "gray",
                true,
                null,
                null,
                null,
                RpcClientProperties.Ssl.NONE,
                null,
                List.of(),
                null,
                Map.of("count", new RpcClientProperties.Method(Duration.ofSeconds(1), true, null, null, "user", null)));

        ReferenceSettings settings = reference("annotated", Map.of("counter", service));

        assertThat(settings.endpoints()).hasToString("[10.0.0.1:1]");
        assertThat(settings.key()).hasToString("g/" + CounterService.class.getName() + ":v");
        assertThat(settings.defaults())
                .isEqualTo(new MethodSettings(Duration.ofSeconds(5), null, null, "rpc.client.services.counter.timeout")
                        .withWaitForReady(true));
        assertThat(settings.methods())
                .isEqualTo(Map.of(
                        "count",
                        new MethodSettings(
                                Duration.ofSeconds(1),
                                true,
                                null,
                                "rpc.client.services.counter.methods.count.timeout",
                                null,
                                "user",
                                null)));
        assertThat(settings.choice())
                .isEqualTo(new ProviderChoice(
                        "round-robin", "rpc.client.services.counter.load-balancing", "", "gray", 100));
        assertThat(settings.connections()).isEqualTo(2);
        assertThat(settings.check()).isTrue();
    }

    @Test
    void annotationCountsWhereThereAreNoProperties() {
        ReferenceSettings settings = reference("annotated", Map.of());

        assertThat(settings.endpoints()).hasToString("[[::1]:20880, names:7]");
        assertThat(settings.key()).hasToString("a/" + CounterService.class.getName() + ":b");
        assertThat(settings.defaults().timeout()).isEqualTo(Duration.ofMillis(500));
        assertThat(settings.connections()).isEqualTo(3);
        assertThat(settings.check()).isFalse();
    }

    @Test
    void everySpellingOfTheInterfaceNamesItsSettings() {
        for (String name : List.of("counter-service", "counterService", "CounterService", "counterservice")) {
            RpcClientProperties.Service service = new RpcClientProperties.Service(
                    List.of("10.0.0.9:9"),
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    null,
                    RpcClientProperties.Ssl.NONE,
                    null,
                    List.of(),
                    null,
                    Map.of());

            assertThat(reference("plain", Map.of(name, service)).endpoints())
                    .as(name)
                    .hasToString("[10.0.0.9:9]");
        }
    }

    private static ReferenceSettings reference(String field, Map<String, RpcClientProperties.Service> services) {
        RpcClientProperties properties = new RpcClientProperties(
                List.of(),
                Duration.ofSeconds(3),
                Duration.ofSeconds(3),
                Duration.ofSeconds(60),
                Duration.ofSeconds(30),
                Duration.ofSeconds(3),
                Duration.ofSeconds(30),
                "p2c",
                null,
                100,
                false,
                null,
                RpcClientProperties.Ssl.NONE,
                null,
                null,
                Map.of(),
                services);
        RpcReference annotation =
                ReflectionUtils.findField(References.class, field).getAnnotation(RpcReference.class);
        return ClientSettings.of(
                        properties, Settings.LIMITS, Settings.NO_BUNDLES, "test", java.util.stream.Stream::empty)
                .reference(CounterService.class, annotation, UnaryOperator.identity(), "here");
    }

    static class References {
        @RpcReference(
                name = "counter",
                url = "[::1], dubbo://names:7",
                group = "a",
                version = "b",
                timeout = "500ms",
                connections = 3)
        CounterService annotated;

        @RpcReference
        CounterService plain;
    }

    static class User {
        @RpcReference
        CounterService counter;
    }

    static class TwoUser {
        @RpcReference(connections = 1)
        CounterService counter;

        @RpcReference
        GreetingService greetings;
    }

    @RpcService
    static class Counter implements CounterService {
        final CountDownLatch released = new CountDownLatch(1);
        final CountDownLatch hinted = new CountDownLatch(1);
        private final AtomicInteger count = new AtomicInteger();

        @Override
        public int count() {
            return count.get();
        }

        @Override
        public void add(int amount) {
            count.addAndGet(amount);
        }

        @Override
        public void hint(int amount) {
            count.addAndGet(amount);
            hinted.countDown();
        }

        @Override
        public CompletableFuture<Integer> later() {
            return CompletableFuture.supplyAsync(count::get);
        }

        @Override
        public void waitForRelease() throws InterruptedException {
            released.await();
        }
    }
}
