package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.RpcMethod;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;

class FallbackTest {

    public interface Stock {
        int left(String item);

        CompletableFuture<Integer> leftLater(String item);

        Mono<Integer> leftMono(String item);
    }

    /** The implementation that answers calls on the client if no provider can. */
    private static final class NothingLeft implements Stock {
        @Override
        public int left(String item) {
            if (item.isEmpty()) {
                throw new IllegalArgumentException("no item");
            }
            return 0;
        }

        @Override
        public CompletableFuture<Integer> leftLater(String item) {
            return CompletableFuture.supplyAsync(() -> left(item));
        }

        @Override
        public Mono<Integer> leftMono(String item) {
            return Mono.fromSupplier(() -> left(item));
        }
    }

    private final FakeNetwork network = new FakeNetwork();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final RpcClient client = RpcClient.builder()
            .meters(new RpcMeters(registry, Slo.DEFAULT))
            .transport(network)
            .build();
    private final Stock stock =
            client.refer(ServiceReference.<Stock>to(Stock.class, new StaticEndpoints(List.of(new Endpoint("one", 1))))
                    .protocol(FakeNetwork.PROTOCOL)
                    .fallback(new NothingLeft())
                    .build());

    /** A service whose timeout contains a placeholder, which only the Spring Boot starter can resolve. */
    interface Placeholder {
        @RpcMethod(timeout = "${limit}")
        int left(String item);
    }

    @Test
    void placeholderInATimeoutIsRefusedWithoutSpring() {
        ServiceReference<Placeholder> reference = ServiceReference.to(
                        Placeholder.class, new StaticEndpoints(List.of(new Endpoint("one", 1))))
                .protocol(FakeNetwork.PROTOCOL)
                .build();

        assertThatThrownBy(() -> client.refer(reference))
                .hasMessage(
                        "@RpcMethod(timeout) of Placeholder/left is '${limit}'; only the Spring Boot starter replaces"
                                + " placeholders");
    }

    @AfterEach
    void close() {
        client.close();
    }

    private void fails(StatusCode code, Executed executed) {
        network.taking = (endpoint, call) -> call.fail(RpcException.refusal(code, "on purpose", executed));
    }

    private double answered() {
        return registry.get("rpc.client.fallbacks").functionCounter().count();
    }

    @Test
    void fallbackAnswersWhenNoProviderTakesTheCall() {
        fails(StatusCode.UNAVAILABLE, Executed.NO);
        assertThat(stock.left("tea")).isZero();
        fails(StatusCode.UNAVAILABLE, Executed.MAYBE);
        assertThat(stock.left("tea")).isZero();
        fails(StatusCode.DEADLINE_EXCEEDED, Executed.NO);
        assertThat(stock.left("tea")).isZero();
        fails(StatusCode.RESOURCE_EXHAUSTED, Executed.NO);
        assertThat(stock.left("tea")).isZero();

        assertThat(answered()).isEqualTo(4);
    }

    @Test
    void laterResultsFallBackToo() {
        fails(StatusCode.UNAVAILABLE, Executed.NO);

        assertThat(stock.leftLater("tea").join()).isZero();
        assertThat(stock.leftMono("tea").block()).isZero();
        assertThat(answered()).isEqualTo(2);
    }

    @Test
    void callThatMayStillRunAndAnswersOfTheMethodAreNotReplaced() {
        fails(StatusCode.DEADLINE_EXCEEDED, Executed.MAYBE);
        assertThatThrownBy(() -> stock.left("tea")).hasMessageContaining("on purpose");
        fails(StatusCode.INVALID_ARGUMENT, Executed.YES);
        assertThatThrownBy(() -> stock.left("tea")).hasMessageContaining("on purpose");

        assertThat(answered()).isZero();
    }

    @Test
    void unavailabilityThatTheMethodReportsIsNotReplaced() {
        fails(StatusCode.UNAVAILABLE, Executed.YES);

        assertThatThrownBy(() -> stock.left("tea")).hasMessageContaining("on purpose");
        assertThatThrownBy(() -> stock.leftLater("tea").join()).hasMessageContaining("on purpose");

        assertThat(answered()).isZero();
    }

    @Test
    void failureOfTheCallStaysInTheMeters() {
        fails(StatusCode.UNAVAILABLE, Executed.NO);

        stock.left("tea");

        assertThat(registry.get("rpc.client.requests")
                        .tag("outcome", "unavailable")
                        .timer()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void exceptionOfTheFallbackCarriesTheFailureOfTheCall() {
        fails(StatusCode.UNAVAILABLE, Executed.NO);

        assertThatThrownBy(() -> stock.left(""))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(thrown -> assertThat(thrown.getSuppressed()[0]).hasMessageContaining("on purpose"));
    }
}
