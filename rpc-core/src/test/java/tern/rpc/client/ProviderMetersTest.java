package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.RpcMethod;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/** Tests the meters for silent, slow and failing providers. Only the test advances the clock. */
class ProviderMetersTest {

    private static final Endpoint ONE = new Endpoint("one", 1);
    private static final Endpoint TWO = new Endpoint("two", 2);

    public interface Service {
        @RpcMethod(readOnly = true)
        CompletableFuture<String> find();

        CompletableFuture<String> store();
    }

    private final AtomicLong now = new AtomicLong();
    private final FakeNetwork network = new FakeNetwork();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final RpcClient client = RpcClient.builder()
            .clock(now::get)
            .meters(new RpcMeters(registry, Slo.DEFAULT))
            .transport(network)
            .timeout(Duration.ofDays(1))
            .threads(ProviderMetersTest::onTheThreadOfTheTest, Duration.ZERO)
            .build();

    /**
     * Creates a thread whose {@code start()} method runs the task itself, so that a call has ended on the client before
     * the test advances the clock.
     */
    private static Thread onTheThreadOfTheTest(Runnable task) {
        return new Thread(task) {
            @Override
            public synchronized void start() {
                task.run();
            }
        };
    }

    @AfterEach
    void close() {
        client.close();
    }

    private Service refer(Endpoint... endpoints) {
        return client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(endpoints)))
                .protocol(FakeNetwork.PROTOCOL)
                .build());
    }

    private double ejections() {
        return registry.get("rpc.client.ejections").functionCounter().count();
    }

    private double probes(String probe) {
        return registry.get("rpc.client.probes")
                .tag("probe", probe)
                .functionCounter()
                .count();
    }

    private static void fail(PendingCall call) {
        call.fail(RpcException.refusal(StatusCode.UNAVAILABLE, "on purpose", Executed.YES));
    }

    private static boolean isAnswered(CompletableFuture<String> call) {
        return call.handle((value, failure) -> failure == null).join();
    }

    @Test
    void eachEjectionCountsOnce() {
        Service service = refer(ONE);
        assertThat(isAnswered(refused(service))).isFalse(); // after this first call, the node counts as connected
        assertThat(ejections()).isZero();

        for (int i = 0; i < 5; i++) {
            assertThat(isAnswered(refused(service))).isFalse();
        }
        assertThat(ejections()).isEqualTo(1);

        now.addAndGet(Duration.ofSeconds(11).toNanos());
        for (int i = 0; i < 5; i++) {
            assertThat(isAnswered(refused(service))).isFalse();
        }
        assertThat(ejections()).isEqualTo(2);
    }

    private CompletableFuture<String> refused(Service service) {
        network.taking = (endpoint, call) -> fail(call);
        return service.store();
    }

    @Test
    void silentProviderIsPingedOnceInFiveSeconds() {
        Service service = refer(ONE, TWO);
        List<CompletableFuture<String>> waiting =
                List.of(service.store(), service.store(), service.store(), service.store());
        assertThat(probes("ping")).isZero();

        for (int i = 0; i < 40; i++) {
            now.addAndGet(Duration.ofMillis(100).toNanos());
            assertThat(service.store()).isNotDone();
        }

        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        assertThat(probes("ping")).isEqualTo(2); // Each provider gets one ping.
        assertThat(probes("call")).isZero();
    }

    @Test
    void copyOfACallToAFailingProviderCounts() {
        network.taking = (endpoint, call) -> {
            if (endpoint.equals(ONE)) {
                fail(call);
            } else {
                call.answer(Answer.NOTHING);
            }
        };
        Service service = refer(ONE, TWO);
        network.at(TWO).available = false; // The first call must go to the failing provider.
        assertThat(isAnswered(service.find())).isFalse();
        network.at(TWO).available = true;

        for (int i = 0; i < 200; i++) {
            now.addAndGet(Duration.ofMillis(50).toNanos());
            assertThat(isAnswered(service.find())).isTrue();
        }

        // For ten seconds, a probe (a copy of a call) was sent to the failing provider every 2.5 s, plus or minus half
        // of this time.
        assertThat(probes("call")).isBetween(2.0, 8.0);
        assertThat(probes("ping")).isZero();
    }
}
