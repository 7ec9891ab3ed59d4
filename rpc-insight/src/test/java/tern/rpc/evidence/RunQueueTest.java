package tern.rpc.evidence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunQueueTest {

    @TempDir
    private Path root;

    private void task(int id, String name, String schedstat) throws IOException {
        Path folder = Files.createDirectories(root.resolve("proc/self/task/" + id));
        Files.writeString(folder.resolve("comm"), name + "\n");
        Files.writeString(folder.resolve("schedstat"), schedstat + "\n");
    }

    @Test
    void threadReadsItsNativeIdOnce() throws IOException {
        Files.createDirectories(root.resolve("proc"));
        Path link = root.resolve("proc/thread-self");
        Files.createSymbolicLink(link, Path.of("100/task/123"));
        ThreadIds ids = new ThreadIds(root);

        assertThat(ids.register()).isEqualTo(123);
        Files.delete(link);
        assertThat(ids.register()).isEqualTo(123);
        assertThat(ids.of(Thread.currentThread())).isEqualTo(123);
    }

    @Test
    void nativeIdIsUnknownOnOtherSystems() {
        ThreadIds ids = new ThreadIds(root);

        assertThat(ids.register()).isEqualTo(ThreadIds.UNKNOWN);
        assertThat(new RunQueue(root, ids).of(Thread.currentThread())).isEqualTo(RunTime.UNKNOWN);
    }

    @Test
    void timesOfARegisteredThreadAreRead() throws IOException {
        Files.createDirectories(root.resolve("proc"));
        Files.createSymbolicLink(root.resolve("proc/thread-self"), Path.of("100/task/11"));
        task(11, "worker", "4000 2500 20");
        ThreadIds ids = new ThreadIds(root);
        ids.register();

        assertThat(new RunQueue(root, ids).of(Thread.currentThread())).isEqualTo(new RunTime(4000, 2500, 20));
    }

    @Test
    void changeSinceAnEarlierReadingIsTheDifference() {
        assertThat(new RunTime(4000, 2500, 20).since(new RunTime(1000, 500, 5))).isEqualTo(new RunTime(3000, 2000, 15));
        assertThat(new RunTime(4000, 2500, 20).since(RunTime.UNKNOWN)).isEqualTo(RunTime.UNKNOWN);
    }

    @Test
    void changeIsUnknownIfAnotherThreadGotTheNativeId() {
        assertThat(new RunTime(10, 5, 1).since(new RunTime(1000, 500, 9))).isEqualTo(RunTime.UNKNOWN);
    }

    @Test
    void timesOfServingThreadsCountFromTheirFirstReading() throws IOException {
        Files.createDirectories(root.resolve("proc"));
        Files.createSymbolicLink(root.resolve("proc/thread-self"), Path.of("100/task/11"));
        ThreadIds ids = new ThreadIds(root);
        ServingThreads serving = new ServingThreads(root, ids);
        task(11, "worker", "4000 2500 20");
        assertThat(serving.read()).isEqualTo(new RunTime(0, 0, 0));

        ids.register();
        serving.read();
        task(11, "worker", "4300 2900 25");

        assertThat(serving.read()).isEqualTo(new RunTime(300, 400, 5));
    }

    /** A thread whose toString() returns the string of a virtual thread. */
    private static final class Virtual extends Thread {
        private final String text;

        Virtual(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    @Test
    void carrierThreadOfAVirtualThreadIsKnownWhileItRuns() {
        assertThat(VirtualThreads.carrierOf(new Virtual("VirtualThread[#30,a@b]/runnable@ForkJoinPool-1-worker-2")))
                .isEqualTo("ForkJoinPool-1-worker-2");
        assertThat(VirtualThreads.carrierOf(new Virtual("VirtualThread[#30,a@b]/waiting")))
                .isNull();
    }

    @Test
    void threadsAreFoundByTheirNames() throws IOException {
        task(41, "ForkJoinPool-1-", "100 10 1");
        task(42, "ForkJoinPool-2-", "200 20 2");
        task(43, "ForkJoinPool-1-", "300 30 3");

        assertThat(NativeThreads.find(root.resolve("proc/self/task"), "ForkJoinPool-1-"::equals))
                .containsExactlyInAnyOrder(41, 43);
        assertThat(NativeThreads.find(root.resolve("proc"), name -> true)).isEmpty();
    }

    @Test
    void garbageIsUnknown() throws IOException {
        task(11, "worker", "x");
        task(12, "worker", "");

        RunQueue queue = new RunQueue(root, new ThreadIds(root));

        assertThat(queue.read(11)).isEqualTo(RunTime.UNKNOWN);
        assertThat(queue.read(12)).isEqualTo(RunTime.UNKNOWN);
        assertThat(queue.read(13)).isEqualTo(RunTime.UNKNOWN);
    }

    @Test
    void threadsOfTheCollectorAreFoundByTheirNames() throws IOException {
        task(1, "GC Thread#0", "100 10 1");
        task(2, "G1 Conc#0", "200 20 2");
        task(3, "C2 CompilerThre", "400 40 4");
        task(4, "rpc-worker-1", "9 9 9");
        CollectorThreads threads = new CollectorThreads(root);
        assertThat(threads.read()).isEqualTo(RunTime.UNKNOWN);

        threads.find();

        assertThat(threads.read()).isEqualTo(new RunTime(300, 30, 3));
    }

    @Test
    void thisThreadIsReadOnLinux() {
        assumeTrue(Files.exists(Path.of("/proc/thread-self")));
        ThreadIds ids = new ThreadIds(Path.of("/"));

        ids.register();

        assertThat(new RunQueue(Path.of("/"), ids).of(Thread.currentThread()).runNanos())
                .isPositive();
    }
}
