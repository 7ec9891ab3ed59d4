package tern.rpc.diagnosis.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

class TaskWatchTest {

    private final TaskWatch tasks = new TaskWatch();

    private void lookAtVirtualThread(String name) {
        StackTraceElement[] stack = {new StackTraceElement("depot.Parcels", "send", null, 7)};
        tasks.addVirtual(new ThreadSnapshot(name, 9, Thread.State.RUNNABLE, stack, null, null, -1, -1));
    }

    @Test
    void namesOfVirtualThreadsAreForgottenWithTheirSamples() {
        lookAtVirtualThread("parcels-1");
        assertThat(tasks.isAlwaysSeen("parcels")).isFalse();

        tasks.clear();

        assertThat(tasks.isAlwaysSeen("parcels")).isTrue();
    }

    /** An application may give each virtual thread a separate name. */
    @Test
    void namesOfVirtualThreadsAreKeptOnlyTogetherWithSamples() {
        for (int i = 0; i < 100; i++) {
            lookAtVirtualThread("order " + i + " of today");
        }

        assertThat(tasks.executor("order 3 of today")).isNotNull();
        assertThat(tasks.isAlwaysSeen("order 3 of today")).isFalse();
        assertThat(tasks.executor("order 99 of today")).isNull();
        assertThat(tasks.isAlwaysSeen("order 99 of today")).isTrue();
    }
}
