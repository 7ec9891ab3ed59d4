package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/** Tests the copies of idempotent calls that the client sends to a failing provider. */
class ProviderCopiesTest extends ScriptedProviders {

    private static final int CALLS_PER_SECOND = 10;

    /** The remaining time of each call and each copy that was sent to the failing provider, in the order of sending. */
    private final List<Duration> waits = new ArrayList<>();

    /**
     * Makes ten calls per second to an idempotent method. Provider ONE fails every call and copy that it gets, and
     * provider TWO answers.
     *
     * @return the number of failed calls
     */
    private int makeCalls(int seconds, Runnable atTheFailingProvider) {
        Service proxy = client.refer(reference(ONE, TWO)
                .timeout(Duration.ofSeconds(2))
                .method("call", MethodSettings.NONE.withIdempotent(true))
                .build());
        connection(ONE).taking = (connection, call) -> {
            waits.add(Duration.ofNanos(call.call().deadline().remainingNanos(call.startedNanos())));
            atTheFailingProvider.run();
            call.fail(RpcException.refusal(StatusCode.UNAVAILABLE, "on purpose", Executed.YES));
        };
        int failed = 0;
        for (int i = 0; i < seconds * CALLS_PER_SECOND; i++) {
            try {
                proxy.call();
            } catch (RpcException e) {
                failed++;
            }
            aheadNanos.addAndGet(TimeUnit.SECONDS.toNanos(1) / CALLS_PER_SECOND);
        }
        return failed;
    }

    @Test
    void idempotentCallIsCopiedToAProviderThatFailed() {
        int failed = makeCalls(20, () -> {});

        assertThat(failed).isEqualTo(1);
        assertThat(waits).as("calls at the failing provider").hasSizeGreaterThan(failed);
    }

    @Test
    void providerThatDoesNotReadItsRequestsGetsTrialsInsteadOfCopies() {
        int failed = makeCalls(60, () -> connection(ONE).queuedBytes = 100 << 10);

        assertThat(waits)
                .as("calls at the failing provider: the first one and trials, but no copies")
                .hasSize(failed)
                .hasSizeGreaterThan(1);
    }

    @Test
    void copyWaitsLongerForItsAnswerThanTheCall() {
        makeCalls(20, () -> {});

        assertThat(waits.get(0)).isLessThanOrEqualTo(Duration.ofSeconds(2));
        assertThat(waits.get(1)).isGreaterThan(Duration.ofSeconds(10));
    }
}
