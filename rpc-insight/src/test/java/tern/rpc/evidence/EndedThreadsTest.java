package tern.rpc.evidence;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.evidence.VirtualStacks.Stack;

class EndedThreadsTest {

    private final AtomicLong time = new AtomicLong(1);
    private final AtomicInteger lists = new AtomicInteger();

    private EndedThreads threads(boolean hasVirtualThreads, @Nullable List<Stack> virtual) {
        return new EndedThreads(
                hasVirtualThreads,
                () -> {
                    lists.incrementAndGet();
                    return virtual;
                },
                time::get);
    }

    private static Stack virtual(long id) {
        return new Stack(id, "", Thread.State.WAITING, new StackTraceElement[0]);
    }

    @Test
    void threadThatIsNotListedAsAVirtualThreadHasEnded() {
        EndedThreads threads = threads(true, List.of(virtual(7)));

        assertThat(threads.contains(8)).isTrue();
        time.addAndGet(TimeUnit.SECONDS.toNanos(3));
        assertThat(threads.contains(7)).isFalse();
    }

    @Test
    void virtualThreadsAreListedAtMostEveryTwoSeconds() {
        EndedThreads threads = threads(true, List.of(virtual(7)));

        threads.contains(7);
        assertThat(threads.contains(8)).as("unknown yet").isFalse();
        assertThat(lists).hasValue(1);
        time.addAndGet(TimeUnit.SECONDS.toNanos(3));
        assertThat(threads.contains(8)).isTrue();
        assertThat(threads.contains(8)).isTrue();
        assertThat(lists).hasValue(2);
    }

    @Test
    void nothingIsKnownIfTheVirtualThreadsCannotBeListed() {
        assertThat(threads(true, null).contains(7)).isFalse();
    }

    @Test
    void jvmWithoutVirtualThreadsNeedsNoList() {
        assertThat(threads(false, null).contains(7)).isTrue();
        assertThat(lists).hasValue(0);
    }
}
