package tern.rpc.diagnosis.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.diagnosis.account.Part;
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

    /** @param library the innermost frame outside the JDK */
    private void lookAtExchange(String library, int times) {
        StackTraceElement[] stack = {
            new StackTraceElement("jdk.internal.misc.Unsafe", "park", null, -2),
            new StackTraceElement(library, "get", null, 7),
            new StackTraceElement("org.apache.hc.client5.http.impl.classic.CloseableHttpClient", "execute", null, 7),
            new StackTraceElement("depot.Labels", "print", "Labels.java", 29)
        };
        for (int i = 0; i < times; i++) {
            tasks.add(new ThreadSnapshot("labels-1", 9, Thread.State.WAITING, stack, null, null, -1, -1));
        }
    }

    @Test
    void threadsThatMostlyWaitForAConnectionDoNotUseOne() {
        lookAtExchange("org.apache.hc.client5.http.impl.io.Socket", 3);
        assertThat(tasks.mostOftenIn(Part.Kind.HTTP)).isEqualTo("labels");

        lookAtExchange("org.apache.hc.core5.pool.StrictConnPool$1", 8);

        assertThat(tasks.mostOftenIn(Part.Kind.HTTP)).isNull();
    }
}
