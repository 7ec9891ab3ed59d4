package tern.rpc.load.cluster;

import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * A simulated node with some workers. The service time of a call is exponentially distributed. A station has no
 * threads. Instead, it schedules the answer for the time at which a worker would finish. Thread-safe.
 */
final class Station {

    /** The states of a node. */
    enum State {
        HEALTHY,
        /** Calls to the node take ten times as long. */
        SLOW,
        /** Calls to the node fail immediately. */
        FAILING
    }

    static final long MEAN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final int SLOWER = 10;

    private final int number;
    private final ScheduledExecutorService timer;
    private final Random random; // guarded by this

    // The time at which each worker becomes free; guarded by this.
    private final PriorityQueue<Long> freeAt = new PriorityQueue<>();
    private final LongAdder arrived = new LongAdder();
    private volatile State state = State.HEALTHY;

    Station(int number, int workers, ScheduledExecutorService timer) {
        this.number = number;
        this.timer = timer;
        this.random = new Random(number);
        for (int i = 0; i < workers; i++) {
            freeAt.add(System.nanoTime());
        }
    }

    void state(State changed) {
        state = changed;
    }

    /** Returns the number of calls that have arrived so far. */
    long arrived() {
        return arrived.sum();
    }

    /**
     * Serves a call.
     *
     * @param failure creates the framework's exception for an unavailable node
     */
    CompletableFuture<Integer> work(java.util.function.Supplier<RuntimeException> failure) {
        arrived.increment();
        if (state == State.FAILING) {
            return CompletableFuture.failedFuture(failure.get());
        }
        CompletableFuture<Integer> answer = new CompletableFuture<>();
        timer.schedule(() -> answer.complete(number), untilServed(), TimeUnit.NANOSECONDS);
        return answer;
    }

    private synchronized long untilServed() {
        long now = System.nanoTime();
        double mean = state == State.SLOW ? SLOWER * MEAN_NANOS : MEAN_NANOS;
        Long free = freeAt.poll();
        long starts = free == null ? now : Math.max(now, free);
        long ends = starts + (long) (-Math.log(1 - random.nextDouble()) * mean);
        freeAt.add(ends);
        return ends - now;
    }
}
