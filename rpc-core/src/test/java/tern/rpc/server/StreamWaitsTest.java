package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.concurrent.WorkerPool;

class StreamWaitsTest {

    private static final long WAIT = Duration.ofSeconds(1).toNanos();

    private final WorkerPool workers = new WorkerPool(1, 10, Duration.ofSeconds(10), Thread::new);
    private final WorkerPool others = new WorkerPool(1, 10, Duration.ofSeconds(10), Thread::new);
    private final StreamWaits.Patience patience =
            new StreamWaits(Duration.ofSeconds(1), List.of(workers, others)).new Patience();

    @AfterEach
    void close() {
        workers.close();
        others.close();
    }

    private static long in(WorkerPool pool, LongSupplier look) throws Exception {
        CompletableFuture<Long> seen = new CompletableFuture<>();
        pool.execute(() -> seen.complete(look.getAsLong()));
        return seen.get(20, TimeUnit.SECONDS);
    }

    @Test
    void threadsOfTheApplicationWaitAsLongAsTheyLike() {
        assertThat(patience.leftNanos(0, 0)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void waitsOfAllWorkersOnOneStreamAddUp() throws Exception {
        assertThat(in(workers, () -> patience.leftNanos(0, 0))).isEqualTo(WAIT);
        patience.waited(WAIT / 4);
        assertThat(in(others, () -> patience.leftNanos(0, 0))).isEqualTo(WAIT - WAIT / 4);
        patience.waited(WAIT);
        assertThat(in(workers, () -> patience.leftNanos(0, 0))).isZero();
    }

    @Test
    void callerThatTakesLittleEarnsNoLongerWait() throws Exception {
        patience.waited(WAIT);

        assertThat(in(workers, () -> patience.leftNanos(StreamWaits.RENEWAL_BYTES - 1, 0)))
                .isZero();
        assertThat(in(workers, () -> patience.leftNanos(StreamWaits.RENEWAL_BYTES, 0)))
                .isEqualTo(WAIT);

        patience.waited(WAIT);
        assertThat(in(workers, () -> patience.leftNanos(2 * StreamWaits.RENEWAL_BYTES - 1, 0)))
                .isZero();
    }

    @Test
    void steadyReaderIsWaitedForBetweenTheStepsInWhichItReports() throws Exception {
        long step = 16 * StreamWaits.RENEWAL_BYTES;
        AtomicLong taken = new AtomicLong(2 * step);

        for (int i = 0; i < 100; i++) {
            assertThat(in(workers, () -> patience.leftNanos(taken.get(), step))).isGreaterThanOrEqualTo(16 * WAIT);
            patience.waited(16 * WAIT);
            taken.addAndGet(step);
        }
    }

    @Test
    void steadyReaderWithTheUsualWindowOfHttp2IsWaitedFor() throws Exception {
        long step = 65_535 / 2;
        AtomicLong taken = new AtomicLong(2 * step);

        for (int i = 0; i < 100; i++) {
            assertThat(in(workers, () -> patience.leftNanos(taken.get(), step))).isGreaterThanOrEqualTo(WAIT);
            patience.waited(WAIT);
            taken.addAndGet(step);
        }
    }

    @Test
    void readerThatStopsIsWaitedForUntilItsNextStep() throws Exception {
        long step = 16 * StreamWaits.RENEWAL_BYTES;

        assertThat(in(workers, () -> patience.leftNanos(1 << 30, step))).isEqualTo(17 * WAIT);
        patience.waited(17 * WAIT);
        assertThat(in(workers, () -> patience.leftNanos(1 << 30, step))).isZero();
    }

    @Test
    void threadThatHasLeftItsPoolIsNoWorker() throws Exception {
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        WorkerPool shortLived = new WorkerPool(1, 1, Duration.ZERO, Thread::new);
        shortLived.execute(() -> ran.complete(Thread.currentThread()));
        Thread thread = ran.get(20, TimeUnit.SECONDS);
        thread.join(20_000);

        assertThat(shortLived.isWorker(thread)).isFalse();
    }
}
