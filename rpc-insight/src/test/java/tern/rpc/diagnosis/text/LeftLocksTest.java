package tern.rpc.diagnosis.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests virtual threads that wait for locks whose owner is unknown. */
class LeftLocksTest {

    private static final String PARK = "java.lang.VirtualThread/park";
    private static final ThreadSnapshot PRINTS = look(Thread.State.RUNNABLE, "depot.Printer/print", "depot.Desk/sign");

    private static ThreadSnapshot look(Thread.State state, String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot("tomcat-handler-1", 9, state, stack, null, null, -1, -1);
    }

    private static ThreadSnapshot waiting(String lock) {
        return look(Thread.State.WAITING, PARK, lock, "depot.Keys/salt");
    }

    /**
     * Returns the first cause if each call shows {@code wait} in its first samples and {@code then} in its later
     * samples.
     */
    private static Cause first(@Nullable Throwable failure, ThreadSnapshot wait, ThreadSnapshot then) {
        return new SampledCalls()
                .failing(failure)
                .calls(
                        "Desk.sign",
                        Phase.OWN,
                        4_000,
                        samples -> samples.add(SampledCalls.sample(Phase.OWN, samples.list.size() < 4 ? wait : then)))
                .causes()
                .get(0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "java.util.concurrent.locks.ReentrantLock/tryLock",
                "java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock/lock",
                "java.util.concurrent.locks.StampedLock/readLock"
            })
    void lockThatNoCallGetsWasNotReleased(String lock) {
        Cause first = first(new TimeoutException("no key"), waiting(lock), waiting(lock));

        assertThat(first.kind()).isEqualTo("LOCK NOT RELEASED");
        assertThat(first.change().text())
                .startsWith("unlock it in a finally block")
                .contains("no call that waited for it got it");
    }

    @Test
    void lockThatCallsGetAfterAWhileIsHeldTooLong() {
        ThreadSnapshot wait = waiting("java.util.concurrent.locks.ReentrantLock/lock");

        assertThat(first(null, wait, PRINTS).kind()).isEqualTo("LOCK");
        assertThat(first(null, wait, wait).kind()).isEqualTo("LOCK");
    }

    @Test
    void monitorIsAlwaysReleased() {
        ThreadSnapshot wait = look(Thread.State.BLOCKED, "depot.Keys/salt");

        assertThat(first(new TimeoutException("no key"), wait, wait).kind()).isEqualTo("LOCK");
    }
}
