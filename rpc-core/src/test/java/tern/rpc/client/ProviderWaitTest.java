package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.cluster.Cluster;
import tern.rpc.cluster.ClusterParts;
import tern.rpc.cluster.ClusterSettings;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;

/** Tests that closing a client ends the calls that are waiting for a provider. */
@Timeout(120)
class ProviderWaitTest {

    private static final Endpoint ONE = new Endpoint("one", 1);

    public interface Service {
        CompletableFuture<String> find();
    }

    private final ManualTimer timer = new ManualTimer(); // runs tasks only when the test calls runAll()
    private final FakeNetwork network = new FakeNetwork();
    private final ClusterParts parts = new ClusterParts(NanoClock.SYSTEM, timer, 1);
    private final Cluster cluster = parts.cluster(
            "Service",
            List.of(),
            FakeNetwork.PROTOCOL,
            new StaticEndpoints(List.of(ONE)),
            parts.nodes(network::at),
            ClusterSettings.DEFAULT);

    @AfterEach
    void close() {
        cluster.close();
        timer.shutdownNow();
    }

    private ProviderWait newWait() {
        return new ProviderWait(cluster, NanoClock.SYSTEM, timer, new ProviderFailures(cluster, NanoClock.SYSTEM));
    }

    @Test
    void closeRunsEachWaitingTaskOnce() {
        ProviderWait wait = newWait();
        AtomicInteger runs = new AtomicInteger();
        wait.later(runs::incrementAndGet, 1);
        wait.later(runs::incrementAndGet, 1);
        assertThat(runs).hasValue(0);

        wait.close();
        wait.close();
        timer.runAll();

        assertThat(runs).hasValue(2);
    }

    @Test
    void taskThatComesAfterTheCloseRunsAtOnce() {
        ProviderWait wait = newWait();
        AtomicInteger runs = new AtomicInteger();

        wait.close();
        wait.later(runs::incrementAndGet, 1);
        timer.runAll();

        assertThat(runs).hasValue(1);
    }

    @Test
    void taskThatComesDuringTheCloseRunsOnce() throws Exception {
        ExecutorService other = Executors.newSingleThreadExecutor();
        CyclicBarrier start = new CyclicBarrier(2);
        try {
            for (int i = 0; i < 5_000; i++) {
                ProviderWait wait = newWait();
                AtomicInteger runs = new AtomicInteger();
                var closed = other.submit(() -> {
                    start.await();
                    wait.close();
                    return runs;
                });
                start.await();
                wait.later(runs::incrementAndGet, 1);

                assertThat(closed.get()).hasValue(1);
            }
        } finally {
            other.shutdownNow();
        }
    }

    @Test
    void cancelledTaskDoesNotRun() {
        ProviderWait wait = newWait();
        AtomicInteger runs = new AtomicInteger();
        ProviderWait.Later later = wait.later(runs::incrementAndGet, 1);

        later.cancel();
        later.run();
        timer.runAll();
        wait.close();

        assertThat(runs).hasValue(0);
    }

    @Test
    void filteredCallThatHasEndedIsNotKeptUntilItsDeadline() {
        EndpointInvoker endpoints = new EndpointInvoker(
                new ServiceKey("Service", "", ""),
                cluster,
                new RetryPolicy(NanoClock.SYSTEM),
                NanoClock.SYSTEM,
                Runnable::run,
                timer);
        Invocation call = new Invocation(
                endpoints.service(),
                ServiceDescriptor.of(Service.class).methods().get(0),
                new Object[0],
                new Metadata(),
                Deadline.after(Duration.ofDays(1)),
                Runnable::run);
        FilteredCall filtered = new FilteredCall(
                endpoints, NanoClock.SYSTEM, call, 0, new CallFuture<>(Runnable::run), (response, failure) -> {});

        filtered.watch(); // A filter has returned, but has not passed the call on yet.
        assertThat(endpoints.providerWait().waiting()).isEqualTo(1);
        filtered.accept(null, new IllegalStateException("a filter has failed"));

        assertThat(endpoints.providerWait().waiting()).isZero();
    }

    @Test
    void allCallsEndWhenTheClientIsClosedWhileTheyBeginToWait() throws Exception {
        network.at(ONE).available = false;
        ExecutorService other = Executors.newSingleThreadExecutor();
        CyclicBarrier start = new CyclicBarrier(2);
        try {
            for (int i = 0; i < 50; i++) {
                RpcClient client = RpcClient.builder()
                        .transport(network)
                        .timeout(Duration.ofDays(1))
                        .build();
                Service service = client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE)))
                        .protocol(FakeNetwork.PROTOCOL)
                        .waitForReady()
                        .build());
                var closed = other.submit(() -> {
                    start.await();
                    client.close();
                    return client;
                });
                List<CompletableFuture<String>> calls = new ArrayList<>();
                start.await();
                for (int call = 0; call < 100; call++) {
                    calls.add(service.find());
                }

                closed.get();
                for (CompletableFuture<String> call : calls) {
                    assertThatThrownBy(() -> call.get(60, TimeUnit.SECONDS))
                            .cause()
                            .isInstanceOfSatisfying(RpcException.class, failure -> {
                                assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
                                assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
                            });
                }
            }
        } finally {
            other.shutdownNow();
        }
    }
}
