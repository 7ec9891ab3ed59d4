package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.TimeLimit;
import tern.rpc.cluster.AttemptBudget;
import tern.rpc.cluster.ClusterParts;
import tern.rpc.cluster.ClusterSettings;
import tern.rpc.cluster.UsualTime;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.transport.RetryPushBack;

class RetryPolicyTest {

    interface Service {
        void call();
    }

    private final AtomicLong now = new AtomicLong();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final RetryPolicy policy = new RetryPolicy(now::get);
    private final AttemptBudget provider = AttemptBudget.forRetries(now::get);

    @AfterEach
    void stopTimer() {
        timer.shutdownNow();
    }

    private ClientMethod method(boolean idempotent) {
        MethodDescriptor descriptor =
                ServiceDescriptor.of(Service.class).methods().get(0);
        ServiceKey key = new ServiceKey(Service.class.getName(), "", "");
        ClusterParts parts = new ClusterParts(NanoClock.SYSTEM, timer, 1);
        EndpointInvoker endpoints = new EndpointInvoker(
                key,
                parts.cluster(
                        "a service",
                        List.of(),
                        "memory",
                        new StaticEndpoints(List.of()),
                        parts.nodes(endpoint -> {
                            throw new AssertionError("nothing to connect to");
                        }),
                        ClusterSettings.DEFAULT),
                policy,
                NanoClock.SYSTEM,
                Runnable::run,
                timer);
        return new ClientMethod(
                key,
                descriptor,
                new TimeLimit(Duration.ofSeconds(1), "a test"),
                idempotent,
                false,
                false,
                ClientMethod.NO_KEY,
                List.of(),
                null,
                endpoints,
                RpcMeters.withoutRegistry().client(key, descriptor, "memory"),
                new UsualTime(),
                null,
                new ProviderMethodNames("Service.call"));
    }

    private boolean again(boolean idempotent, Executed executed, int attempt, boolean elsewhere, long remaining) {
        RpcException failure = RpcException.refusal(StatusCode.UNAVAILABLE, "x", executed);
        return policy.again(method(idempotent), failure, attempt, elsewhere, remaining, provider);
    }

    @Test
    void callThatDidNotRunGoesElsewhereOnce() {
        assertThat(again(false, Executed.NO, 1, true, 1)).isTrue();
        assertThat(again(false, Executed.NO, 2, true, 1)).isFalse();
        assertThat(again(false, Executed.NO, 1, false, 1)).isFalse();
    }

    @Test
    void callThatMayHaveRunIsRepeatedOnlyIfIdempotent() {
        assertThat(again(false, Executed.MAYBE, 1, true, 1)).isFalse();
        assertThat(again(true, Executed.MAYBE, 1, true, 1)).isTrue();
        assertThat(again(true, Executed.MAYBE, 2, true, 1)).isFalse();
    }

    @Test
    void callThatRanIsNeverRepeated() {
        assertThat(again(true, Executed.YES, 1, true, 1)).isFalse();
    }

    @Test
    void cancelledCallIsNeverRepeated() {
        RpcException cancelled = RpcException.refusal(StatusCode.CANCELLED, "x", Executed.MAYBE);

        assertThat(policy.again(method(true), cancelled, 1, true, 1, provider)).isFalse();
    }

    @Test
    void nothingIsRepeatedAfterTheDeadline() {
        assertThat(again(true, Executed.NO, 1, true, 0)).isFalse();
    }

    @Test
    void budgetIsATenthOfTheCalls() {
        for (int i = 0; i < 1_000; i++) {
            policy.called();
            provider.called();
        }
        int allowed = 0;
        for (int i = 0; i < 1_000; i++) {
            allowed += again(true, Executed.MAYBE, 1, true, 1) ? 1 : 0;
        }

        assertThat(allowed).isEqualTo(100);
        assertThat(policy.retries()).isEqualTo(100);
        now.addAndGet(Duration.ofSeconds(11).toNanos());
        assertThat(again(true, Executed.MAYBE, 1, true, 1)).isTrue();
    }

    @Test
    void budgetOfFewCallsIsThreeASecond() {
        policy.called();

        int allowed = 0;
        for (int i = 0; i < 100; i++) {
            allowed += again(true, Executed.MAYBE, 1, true, 1) ? 1 : 0;
        }

        assertThat(allowed).isEqualTo(30);
    }

    @Test
    void oneProviderDoesNotUseUpTheRetriesOfTheOthers() {
        for (int i = 0; i < 1_000; i++) {
            policy.called();
        }
        int allowed = 0;
        for (int i = 0; i < 100; i++) {
            allowed += again(true, Executed.MAYBE, 1, true, 1) ? 1 : 0;
        }
        AttemptBudget other = AttemptBudget.forRetries(now::get);
        RpcException failure = RpcException.refusal(StatusCode.UNAVAILABLE, "x", Executed.MAYBE);

        assertThat(allowed).as("three a second of the first provider").isEqualTo(30);
        assertThat(policy.again(method(true), failure, 1, true, 1, other)).isTrue();
    }

    private static RpcException pushedBack(String value) {
        return RpcException.refusal(
                new Status(StatusCode.RESOURCE_EXHAUSTED, "x"),
                Executed.NO,
                new Metadata().add(RetryPushBack.HEADER, value));
    }

    @Test
    void serverMayForbidTheNextAttempt() {
        assertThat(policy.again(method(true), pushedBack("-1"), 1, true, 1, provider))
                .isFalse();
        assertThat(policy.again(method(true), pushedBack("soon"), 1, true, 1, provider))
                .isFalse();
        assertThat(policy.again(method(true), pushedBack("20"), 1, true, 1, provider))
                .isTrue();
    }
}
