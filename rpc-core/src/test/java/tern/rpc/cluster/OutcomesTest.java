package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.Deadline;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Outcome;

class OutcomesTest {

    private static final long TICK = TimeUnit.MILLISECONDS.toNanos(1);

    private static Outcome of(StatusCode code, long lateNanos) {
        return Outcomes.of(RpcException.refusal(code, "", Executed.MAYBE), Deadline.at(0), lateNanos);
    }

    @Test
    void timeoutIsAFailureOfTheProvider() {
        assertThat(of(StatusCode.DEADLINE_EXCEEDED, 20 * TICK)).isEqualTo(Outcome.FAILED);
        assertThat(of(StatusCode.DEADLINE_EXCEEDED, -1)).isEqualTo(Outcome.FAILED);
    }

    /** For example, the garbage collection of the client may take longer than the deadlines of all its calls. */
    @Test
    void timeoutThatThisProcessNoticedLateSaysNothingAboutTheProvider() {
        assertThat(of(StatusCode.DEADLINE_EXCEEDED, 201 * TICK)).isEqualTo(Outcome.CANCELLED);
        assertThat(of(StatusCode.UNAVAILABLE, 201 * TICK)).isEqualTo(Outcome.FAILED);
        assertThat(Outcomes.of(
                        RpcException.refusal(StatusCode.DEADLINE_EXCEEDED, "", Executed.MAYBE),
                        Deadline.none(),
                        Long.MAX_VALUE))
                .isEqualTo(Outcome.FAILED);
        assertThat(Outcomes.of(null, Deadline.at(0), 201 * TICK)).isEqualTo(Outcome.ANSWERED);
    }
}
