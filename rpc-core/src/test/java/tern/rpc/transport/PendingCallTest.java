package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.TimeLimit;

/** Tests that a call reported as not executed is never sent. */
@Timeout(120)
class PendingCallTest {

    private static final int RACES = 20_000;

    private static final MethodDescriptor METHOD =
            ServiceDescriptor.of(ContractService.class).overloads("echo").get(0);

    private static PendingCall call() {
        Deadline deadline = Deadline.of(0, new TimeLimit(Duration.ofSeconds(1), "rpc.client.timeout"));
        return new PendingCall(
                new Invocation(
                        new ServiceKey("x", "", ""), METHOD, new Object[0], new Metadata(), deadline, Runnable::run),
                false,
                0,
                null);
    }

    private static RpcException late(Executed executed) {
        return RpcException.refusal(StatusCode.DEADLINE_EXCEEDED, "late", executed);
    }

    private static Executed executed(PendingCall call) {
        List<Executed> executed = new ArrayList<>();
        assertThatThrownBy(call::await)
                .isInstanceOfSatisfying(RpcException.class, failure -> executed.add(failure.wasExecuted()));
        return executed.get(0);
    }

    @Test
    void copyKeepsItsArgumentsOnlyUntilItIsSent() {
        Invocation invocation = call().call().withValues("large");
        PendingCall copy = new PendingCall(invocation, false, 0, null);
        copy.forgetArguments();
        assertThat(copy.call().arguments()).containsExactly("large");

        copy.markSent();

        assertThat(copy.call().arguments()).isEmpty();
        assertThat(invocation.arguments()).containsExactly("large");
    }

    @Test
    void callThatHasFailedIsNotSent() {
        PendingCall call = call();

        assertThat(call.fail(PendingCallTest::late)).isTrue();

        assertThat(call.markSent()).isFalse();
        assertThat(call.wasSent()).isFalse();
        assertThat(executed(call)).isEqualTo(Executed.NO);
    }

    @Test
    void sentCallMayHaveBeenExecuted() {
        PendingCall call = call();

        assertThat(call.markSent()).isTrue();
        assertThat(call.wasSent()).isTrue();
        assertThat(call.isDone()).isFalse();
        assertThat(call.hasFailed()).isFalse();

        assertThat(call.fail(PendingCallTest::late)).isTrue();
        assertThat(call.fail(PendingCallTest::late)).isFalse();
        assertThat(call.isDone()).isTrue();
        assertThat(executed(call)).isEqualTo(Executed.MAYBE);
    }

    @Test
    void callThatIsSentWhileItsFailureIsCreatedMayHaveBeenExecuted() {
        PendingCall call = call();
        List<Executed> asked = new ArrayList<>();

        call.fail(executed -> {
            asked.add(executed);
            assertThat(call.markSent()).isTrue();
            return late(executed);
        });

        assertThat(asked).containsExactly(Executed.NO, Executed.MAYBE);
        assertThat(executed(call)).isEqualTo(Executed.MAYBE);
    }

    @Test
    void callThatEndsWhileItsFailureIsCreatedKeepsItsEnd() {
        PendingCall call = call();

        boolean failed = call.fail(executed -> {
            call.fail(late(Executed.YES));
            return late(executed);
        });

        assertThat(failed).isFalse();
        assertThat(executed(call)).isEqualTo(Executed.YES);
    }

    @Test
    void writtenCallIsNeverReportedAsNotExecuted() throws Exception {
        ExecutorService other = Executors.newSingleThreadExecutor();
        CyclicBarrier start = new CyclicBarrier(2);
        int written = 0;
        try {
            for (int i = 0; i < RACES; i++) {
                PendingCall call = call();
                Future<Boolean> writer = other.submit(() -> {
                    start.await();
                    return call.markSent();
                });
                start.await();
                call.fail(PendingCallTest::late);

                boolean isWritten = writer.get();
                written += isWritten ? 1 : 0;
                assertThat(executed(call)).isEqualTo(isWritten ? Executed.MAYBE : Executed.NO);
            }
        } finally {
            other.shutdownNow();
        }
        System.out.printf("written before the failure: %d of %d%n", written, RACES);
    }
}
