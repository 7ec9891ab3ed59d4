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

    private final UsualTime usual = new UsualTime();

    private Outcome of(StatusCode code, Deadline deadline, long tookNanos, long now) {
        return Outcomes.of(RpcException.refusal(code, "", Executed.MAYBE), deadline, tookNanos, usual, now);
    }

    private Outcome of(StatusCode code, long lateNanos) {
        return of(code, Deadline.at(0), 0, lateNanos);
    }

    @Test
    void timeoutIsAFailureOfTheProvider() {
        assertThat(of(StatusCode.DEADLINE_EXCEEDED, 20 * TICK)).isEqualTo(Outcome.FAILED);
        assertThat(of(StatusCode.DEADLINE_EXCEEDED, -1)).isEqualTo(Outcome.FAILED);
    }

    /**
     * If the client process pauses, for example for garbage collection, the pause can outlast the deadlines of all its
     * calls.
     */
    @Test
    void timeoutThatThisProcessNoticedLateSaysNothingAboutTheProvider() {
        assertThat(of(StatusCode.DEADLINE_EXCEEDED, 201 * TICK)).isEqualTo(Outcome.CANCELLED);
        assertThat(of(StatusCode.UNAVAILABLE, 201 * TICK)).isEqualTo(Outcome.FAILED);
        assertThat(of(StatusCode.DEADLINE_EXCEEDED, Deadline.none(), 0, Long.MAX_VALUE))
                .isEqualTo(Outcome.FAILED);
        assertThat(Outcomes.of(null, Deadline.at(0), 0, usual, 201 * TICK)).isEqualTo(Outcome.ANSWERED);
    }

    /** A server that is already late has little time left for its own calls, so their timeouts are short. */
    @Test
    void timeoutOfACallWithLittleTimeSaysNothingAboutTheProvider() {
        usual.add(10 * TICK);

        assertThat(of(StatusCode.DEADLINE_EXCEEDED, Deadline.at(0), 9 * TICK, TICK))
                .isEqualTo(Outcome.CANCELLED);
        assertThat(of(StatusCode.DEADLINE_EXCEEDED, Deadline.at(0), 10 * TICK, TICK))
                .isEqualTo(Outcome.FAILED);
        assertThat(of(StatusCode.UNAVAILABLE, Deadline.at(0), TICK, TICK)).isEqualTo(Outcome.FAILED);
    }

    @Test
    void timeoutThatTheProviderReportsBeforeTheDeadlineIsItsFailure() {
        usual.add(10 * TICK);

        assertThat(of(StatusCode.DEADLINE_EXCEEDED, Deadline.at(2 * TICK), TICK, TICK))
                .isEqualTo(Outcome.FAILED);
    }
}
