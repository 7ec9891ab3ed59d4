package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests code that repeats a command with pauses until it gets a lock. The lock becomes free after a few attempts. */
class SpinLocksTest {

    private static final String LOCK = "SET lock:*";

    private int looks;

    private void look(SampledCall samples) {
        boolean sleeps = looks++ % 2 == 0;
        StackTraceElement[] stack = {
            sleeps
                    ? new StackTraceElement("java.lang.Thread", "sleep", "Thread.java", 1)
                    : new StackTraceElement("io.lettuce.core.RedisFuture", "get", "RedisFuture.java", 1),
            new StackTraceElement("depot.RedisLock", "acquire", "RedisLock.java", sleeps ? 21 : 18)
        };
        ThreadSnapshot thread = new ThreadSnapshot("http-1", 1, Thread.State.TIMED_WAITING, stack, null, null, -1, -1);
        samples.add(SampledCalls.sample(sleeps ? Phase.OWN : Phase.REDIS, thread));
    }

    /**
     * Simulates calls that run a command three times and sleep in between. Returns the cause that the diagnosis names
     * first.
     */
    private Cause first(int usualCommands) {
        return first(LOCK, usualCommands);
    }

    private Cause first(String command, int usualCommands) {
        return new SampledCalls()
                .usually("Orders.place", Phase.REDIS, command, usualCommands, 1)
                .repeating("Orders.place", command, 3, 300, this::look)
                .causes()
                .get(0);
    }

    @Test
    void fewAttemptsArePollingIfCallsUsuallyNeedOne() {
        Cause first = first(1);

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE POLLS: RedisLock.acquire for SET lock:*");
        assertThat(first.change().text())
                .contains("another client holds this lock in Redis")
                .contains("3 times SET lock:* per call");
    }

    @Test
    void attemptsToFindALockFreeArePolling() {
        assertThat(first("EXISTS prices~lock", 1).change().text()).contains("another client holds this lock in Redis");
    }

    @Test
    void commandsThatCallsAlwaysRunAreNoAttempts() {
        assertThat(DiagnosisText.title(first(3))).isEqualTo("CODE SLEEPS: RedisLock.acquire");
    }
}
