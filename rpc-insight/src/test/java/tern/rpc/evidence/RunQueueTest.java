package tern.rpc.evidence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunQueueTest {

    @TempDir
    private Path root;

    private final CountDownLatch end = new CountDownLatch(1);

    @AfterEach
    void endThreads() {
        end.countDown();
    }

    private Thread thread(String name) {
        Thread thread = new Thread(
                () -> {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

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
    void anotherSystemKnowsNoNativeId() {
        ThreadIds ids = new ThreadIds(root);

        assertThat(ids.register()).isEqualTo(ThreadIds.UNKNOWN);
        assertThat(ids.match(List.of(Thread.currentThread()))).isZero();
        assertThat(new RunQueue(root, ids).of(Thread.currentThread())).isEqualTo(RunTime.UNKNOWN);
    }

    @Test
    void threadIsMatchedByTheStartOfItsNameIfThatIsUnique() throws IOException {
        Thread worker = thread("rpc-worker-number-7");
        Thread twin = thread("twin");
        Thread otherTwin = thread("twin");
        task(11, "rpc-worker-numb", "1 2 3");
        task(12, "twin", "1 2 3");
        ThreadIds ids = new ThreadIds(root);

        assertThat(ids.match(List.of(worker, twin, otherTwin))).isEqualTo(1);

        assertThat(ids.of(worker)).isEqualTo(11);
        assertThat(ids.of(twin)).isEqualTo(ThreadIds.UNKNOWN);
    }

    @Test
    void matchedThreadIsNoCandidateForAnotherName() throws IOException {
        Thread first = thread("same");
        Thread second = thread("same");
        task(11, "same", "1 2 3");
        ThreadIds ids = new ThreadIds(root);
        ids.match(List.of(first));

        assertThat(ids.match(List.of(second))).isZero();
    }

    @Test
    void changeSinceTheLastCallIsReturned() throws IOException {
        Thread worker = thread("worker");
        task(11, "worker", "1000 500 10");
        ThreadIds ids = new ThreadIds(root);
        ids.match(List.of(worker));
        RunQueue queue = new RunQueue(root, ids);

        RunTime first = queue.delaySince(worker);
        task(11, "worker", "4000 2500 20");
        RunTime second = queue.delaySince(worker);

        assertThat(first.isKnown()).isFalse();
        assertThat(second).isEqualTo(new RunTime(3000, 2000, 10));
        assertThat(second.delayPerSlice()).isEqualTo(200);
    }

    @Test
    void groupHasItsMeanDelayPerSlice() throws IOException {
        Thread a = thread("a");
        Thread b = thread("b");
        Thread unknown = thread("unknown");
        task(11, "a", "0 0 0");
        task(12, "b", "0 0 0");
        ThreadIds ids = new ThreadIds(root);
        List<Thread> group = List.of(a, b, unknown);
        ids.match(group);
        RunQueue queue = new RunQueue(root, ids);
        queue.delaySince(group);

        task(11, "a", "10 300 1");
        task(12, "b", "20 100 3");

        assertThat(queue.delaySince(group)).isEqualTo(new RunTime(30, 400, 4));
        assertThat(new RunTime(30, 400, 4).delayPerSlice()).isEqualTo(100);
    }

    @Test
    void nativeIdThatAnotherThreadGotIsUnknownForOnce() throws IOException {
        Thread worker = thread("worker");
        task(11, "worker", "1000 500 10");
        ThreadIds ids = new ThreadIds(root);
        ids.match(List.of(worker));
        RunQueue queue = new RunQueue(root, ids);
        queue.delaySince(worker);

        task(11, "worker", "10 5 1");

        assertThat(queue.delaySince(worker)).isEqualTo(RunTime.UNKNOWN);
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
    void threadsOfTheJvmAreFoundByTheirNames() throws IOException {
        task(1, "GC Thread#0", "100 10 1");
        task(2, "G1 Conc#0", "200 20 2");
        task(3, "C2 CompilerThre", "400 40 4");
        task(4, "rpc-worker-1", "9 9 9");
        JvmThreads threads = new JvmThreads(root);

        threads.find();

        assertThat(threads.read())
                .containsOnly(
                        entry(JvmThreads.Work.COLLECTOR, new RunTime(300, 30, 3)),
                        entry(JvmThreads.Work.COMPILER, new RunTime(400, 40, 4)));
    }

    @Test
    void thisThreadIsReadOnLinux() {
        assumeTrue(Files.exists(Path.of("/proc/thread-self")));
        ThreadIds ids = new ThreadIds(Path.of("/"));
        JvmThreads threads = new JvmThreads(Path.of("/"));

        ids.register();
        threads.find();

        assertThat(new RunQueue(Path.of("/"), ids).of(Thread.currentThread()).runNanos())
                .isPositive();
        assertThat(threads.read()).containsKey(JvmThreads.Work.VM);
    }
}
