package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Invocation;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/** Tests which providers get calls if some providers do not offer the service. Only the test advances the clock. */
class MissingServiceTest {

    private static final Endpoint ONE = new Endpoint("one", 1);
    private static final Endpoint TWO = new Endpoint("two", 2);
    private static final Endpoint THREE = new Endpoint("three", 3);
    private static final Endpoint FOUR = new Endpoint("four", 4);
    private static final RpcException NOT_EXPORTED = RpcException.refusal(
            StatusCode.UNIMPLEMENTED, "service x is not exported here; exported services: none", Executed.NO);

    /** The service that some providers lack. */
    public interface Orders {
        String store();

        CompletableFuture<String> storeLater();
    }

    /** A service that all providers offer. */
    public interface Stock {
        String find();
    }

    private final AtomicLong now = new AtomicLong();
    private final ManualTimer timer = new ManualTimer();
    private final FakeNetwork network = new FakeNetwork();
    private final Set<Endpoint> lacking = ConcurrentHashMap.newKeySet();
    private RpcException failure = NOT_EXPORTED;
    private final RpcClient client = RpcClient.builder()
            .clock(now::get)
            .timer(timer)
            .transport(network)
            .timeout(Duration.ofDays(1))
            .build();

    @BeforeEach
    void answerCalls() {
        network.taking = this::answer;
    }

    @AfterEach
    void close() {
        client.close();
    }

    private <T> T refer(Class<T> service, Endpoint... endpoints) {
        return client.refer(ServiceReference.to(service, new StaticEndpoints(List.of(endpoints)))
                .protocol(FakeNetwork.PROTOCOL)
                .build());
    }

    private void answer(Endpoint endpoint, PendingCall call) {
        if (lacking.contains(endpoint) && call.call().service().interfaceName().equals(Orders.class.getName())) {
            call.fail(failure);
        } else {
            call.answer(new Answer() {
                @Override
                public Response decode(Invocation decoded) {
                    return Response.of("ok");
                }

                @Override
                public void discard() {
                    // The answer has no resources to release.
                }
            });
        }
    }

    private long sentTo(Endpoint endpoint) {
        synchronized (network.sent) {
            return network.sent.stream()
                    .filter(sent -> sent.endpoint().equals(endpoint))
                    .count();
        }
    }

    private void passMillis(long millis) {
        now.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private void store(Orders orders, int calls) {
        for (int i = 0; i < calls; i++) {
            assertThat(orders.store()).isEqualTo("ok");
            passMillis(10);
        }
    }

    @Test
    void providerWithoutTheServiceGetsOneCallAndNoCallFails() {
        lacking.add(ONE);
        Orders orders = refer(Orders.class, ONE, TWO, THREE, FOUR);

        store(orders, 400);

        assertThat(sentTo(ONE)).isEqualTo(1);
        assertThat(network.sent).hasSize(401);
    }

    @Test
    void otherServicesOfTheProviderAreStillCalled() {
        lacking.add(ONE);
        Orders orders = refer(Orders.class, ONE, TWO);
        Stock stock = refer(Stock.class, ONE, TWO);
        store(orders, 100);

        for (int i = 0; i < 100; i++) {
            assertThat(stock.find()).isEqualTo("ok");
        }

        assertThat(sentTo(ONE)).isBetween(11L, 100L);
    }

    @Test
    void callsInFlightAreRepeatedOutsideOfTheBudget() {
        Orders orders = refer(Orders.class, ONE, TWO, THREE, FOUR);
        network.taking = (endpoint, call) -> {};
        List<CompletableFuture<String>> calls = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            calls.add(orders.storeLater());
        }
        List<FakeNetwork.Sent> inFlight = List.copyOf(network.sent);
        assertThat(sentTo(ONE)).isGreaterThan(35); // more calls than the retry budget, which permits 30 retries

        lacking.add(ONE);
        network.taking = this::answer;
        inFlight.forEach(sent -> answer(sent.endpoint(), sent.call()));

        assertThat(calls).allSatisfy(call -> assertThat(call.join()).isEqualTo("ok"));
    }

    @Test
    void serviceThatTheOnlyProviderLacksFailsAtOnce() {
        lacking.add(ONE);
        Orders orders = refer(Orders.class, ONE);

        for (int i = 1; i <= 3; i++) {
            assertThatThrownBy(orders::store).hasMessageContaining("service x is not exported here");
            assertThat(network.sent).hasSize(i);
        }
    }

    @Test
    void serviceThatAllProvidersLackFailsAtOnce() {
        lacking.addAll(List.of(ONE, TWO));
        Orders orders = refer(Orders.class, ONE, TWO);

        assertThatThrownBy(orders::store).hasMessageContaining("service x is not exported here");
        assertThat(network.sent).hasSize(2);
        assertThatThrownBy(orders::store).hasMessageContaining("service x is not exported here");
        assertThat(network.sent).hasSize(3);
    }

    @Test
    void providerIsTriedAgainAfterGrowingPauses() {
        lacking.add(ONE);
        Orders orders = refer(Orders.class, ONE, TWO);
        store(orders, 400);
        assertThat(sentTo(ONE)).isEqualTo(1);

        passMillis(10_000);
        store(orders, 400);
        assertThat(sentTo(ONE)).isEqualTo(2);

        passMillis(10_000);
        store(orders, 100);
        assertThat(sentTo(ONE)).isEqualTo(2);

        lacking.clear();
        passMillis(10_000);
        store(orders, 400);
        assertThat(sentTo(ONE)).isGreaterThan(40);
    }

    @Test
    void ambiguousMessageMeansAMissingServiceUntilTheProviderHasServedACall() {
        failure = RpcException.refusal(StatusCode.UNIMPLEMENTED, "Method not found: x/store", Executed.NO);
        Orders orders = refer(Orders.class, ONE, TWO);
        lacking.add(ONE);
        store(orders, 100);
        assertThat(sentTo(ONE)).isEqualTo(1);

        lacking.clear();
        lacking.add(TWO); // TWO offers the service, so its refusals can only mean that it lacks the method
        passMillis(20_000);
        long before = sentTo(TWO);
        store(orders, 20);
        assertThat(sentTo(TWO)).isGreaterThan(before + 1);
    }

    @Test
    void callThatMayHaveRunIsNotRepeatedButTheProviderIsAvoided() {
        failure = RpcException.refusal(StatusCode.UNIMPLEMENTED, "unknown service x", Executed.MAYBE);
        lacking.add(ONE);
        Orders orders = refer(Orders.class, ONE, TWO);

        int failed = 0;
        for (int i = 0; i < 100; i++) {
            failed += catchThrowable(orders::store) == null ? 0 : 1;
        }

        assertThat(failed).isEqualTo(1);
        assertThat(network.sent).hasSize(100);
    }
}
