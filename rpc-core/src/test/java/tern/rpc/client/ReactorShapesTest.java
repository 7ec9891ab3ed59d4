package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.InMemoryTransport;

/** Tests methods with Mono and Flux on the client and the server. */
@Timeout(60)
class ReactorShapesTest {

    interface Reactive {
        Mono<String> later(String text);

        Flux<Integer> count(int upTo);

        Mono<Integer> sum(Flux<Integer> values);

        Flux<Integer> doubled(Flux<Integer> values);

        Flux<String> endless();

        Mono<Integer> never(Flux<Integer> values);

        Mono<String> stuck();
    }

    private static final Duration LONG = Duration.ofSeconds(20);

    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

    private final class Server implements Reactive {
        @Override
        public Mono<String> later(String text) {
            events.add("called");
            return switch (text) {
                case "empty" -> Mono.empty();
                case "fails" -> Mono.error(new RpcException(StatusCode.NOT_FOUND, "nothing later"));
                default -> Mono.just(text).delayElement(Duration.ofMillis(1));
            };
        }

        @Override
        public Flux<Integer> count(int upTo) {
            return Flux.range(0, upTo);
        }

        @Override
        public Mono<Integer> sum(Flux<Integer> values) {
            return values.reduce(0, Integer::sum);
        }

        @Override
        public Flux<Integer> doubled(Flux<Integer> values) {
            return values.map(value -> value * 2);
        }

        @Override
        public Flux<String> endless() {
            return Flux.generate((reactor.core.publisher.SynchronousSink<String> sink) -> sink.next("again"))
                    .doOnCancel(() -> events.add("cancelled"));
        }

        @Override
        public Mono<Integer> never(Flux<Integer> values) {
            return values.ignoreElements()
                    .doOnTerminate(() -> events.add("all read"))
                    .then(Mono.<Integer>never())
                    .doOnCancel(() -> events.add("cancelled"));
        }

        @Override
        public Mono<String> stuck() {
            return Mono.<String>never()
                    .doOnSubscribe(subscribed -> events.add("subscribed"))
                    .doOnCancel(() -> events.add("cancelled"));
        }
    }

    private final InMemoryTransport transport = new InMemoryTransport(new JdkSerializer());
    private final RpcServer server = RpcServer.builder(transport)
            .export(ServiceExport.of(Reactive.class, new Server()))
            .build();
    private final RpcClient client = RpcClient.builder()
            .transport(transport)
            .timeout(Duration.ofSeconds(20))
            .build();
    private final Reactive proxy = start();

    private Reactive start() {
        server.start();
        return refer(client);
    }

    private static Reactive refer(RpcClient client) {
        return client.refer(ServiceReference.to(Reactive.class, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                .protocol(InMemoryTransport.PROTOCOL)
                .build());
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    @Test
    void monoIsAUnaryCallAtEachSubscription() {
        Mono<String> later = proxy.later("x");

        assertThat(events).isEmpty();
        assertThat(later.block(LONG)).isEqualTo("x");
        assertThat(later.block(LONG)).isEqualTo("x");
        assertThat(events).hasSize(2);
        assertThat(proxy.later("empty").block(LONG)).isNull();
        assertThatThrownBy(() -> proxy.later("fails").block(LONG))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("nothing later");
    }

    @Test
    void fluxIsAStreamInEitherDirection() {
        assertThat(proxy.count(1_000).collectList().block(LONG))
                .isEqualTo(IntStream.range(0, 1_000).boxed().toList());
        assertThat(proxy.sum(Flux.range(1, 1_000)).block(LONG)).isEqualTo(500_500);
        assertThat(proxy.doubled(Flux.range(1, 1_000)).collectList().block(LONG))
                .isEqualTo(
                        IntStream.rangeClosed(1, 1_000).map(i -> i * 2).boxed().toList());
    }

    @Test
    void cancelOfAFluxReachesTheServer() throws Exception {
        assertThat(proxy.endless().take(5).collectList().block(LONG)).hasSize(5);

        assertThat(events.poll(20, TimeUnit.SECONDS)).isEqualTo("cancelled");
    }

    @Test
    void cancelOfAMonoReachesTheServer() throws Exception {
        Disposable subscription = proxy.never(Flux.range(0, 3)).subscribe();
        assertThat(events.poll(20, TimeUnit.SECONDS)).isEqualTo("all read");

        subscription.dispose();

        assertThat(events.poll(20, TimeUnit.SECONDS)).isEqualTo("cancelled");
        while (transport.inFlight() > 0) {
            Thread.yield();
        }
    }

    @Test
    void cancelOfAMonoWithoutAStreamReachesTheServer() throws Exception {
        Disposable subscription = proxy.stuck().subscribe();
        assertThat(events.poll(20, TimeUnit.SECONDS)).isEqualTo("subscribed");

        subscription.dispose();

        assertThat(events.poll(20, TimeUnit.SECONDS)).isEqualTo("cancelled");
    }

    @Test
    void cancelOfAMonoBehindServerFiltersReachesTheServer() throws Exception {
        InMemoryTransport other = new InMemoryTransport(new JdkSerializer());
        try (RpcServer filtered = RpcServer.builder(other)
                        .export(ServiceExport.of(Reactive.class, new Server()))
                        .filter((call, next) -> next.invoke(call))
                        .build();
                RpcClient caller = RpcClient.builder()
                        .transport(other)
                        .timeout(Duration.ofSeconds(20))
                        .build()) {
            filtered.start();
            Disposable subscription = refer(caller).stuck().subscribe();
            assertThat(events.poll(20, TimeUnit.SECONDS)).isEqualTo("subscribed");

            subscription.dispose();

            assertThat(events.poll(20, TimeUnit.SECONDS)).isEqualTo("cancelled");
        }
    }

    @Test
    void deadlineOfTheCallCancelsTheMono() throws Exception {
        try (RpcClient hasty = RpcClient.builder()
                .transport(transport)
                .timeout(Duration.ofMillis(100))
                .build()) {
            assertThatThrownBy(() -> refer(hasty).stuck().block(LONG))
                    .isInstanceOfSatisfying(
                            RpcException.class,
                            late -> assertThat(late.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
            assertThat(events.poll(20, TimeUnit.SECONDS)).isEqualTo("subscribed");
            assertThat(events.poll(20, TimeUnit.SECONDS)).isEqualTo("cancelled");
        }
    }
}
