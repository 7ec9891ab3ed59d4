package tern.rpc.load.cluster;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * A simulated node with a fixed number of workers. The service time of a call is exponentially distributed. A station
 * has no threads. Instead, it schedules the answer for the time when a worker would finish. A call is served even if
 * its caller has stopped waiting. Thread-safe.
 */
final class Station {

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

    private final Queue<CompletableFuture<Integer>> waiting = new ArrayDeque<>(); // guarded by this
    private int idle; // the number of workers without a call; guarded by this
    private final LongAdder arrived = new LongAdder();
    private volatile State state = State.HEALTHY;

    Station(int number, int workers, ScheduledExecutorService timer) {
        this.number = number;
        this.timer = timer;
        this.random = new Random(number);
        this.idle = workers;
    }

    void state(State changed) {
        state = changed;
    }

    /**
     * Returns the number of calls that have arrived so far. Calls that might be copies of other calls are not counted.
     */
    long arrived() {
        return arrived.sum();
    }

    /**
     * Serves a call.
     *
     * @param failure creates the framework's exception for an unavailable node
     */
    CompletableFuture<Integer> work(Supplier<RuntimeException> failure) {
        arrived.increment();
        return read(failure);
    }

    /**
     * Serves a call of an idempotent method. The call might be a copy that a client sends as a probe, so it is not
     * counted.
     */
    CompletableFuture<Integer> read(Supplier<RuntimeException> failure) {
        if (state == State.FAILING) {
            return CompletableFuture.failedFuture(failure.get());
        }
        CompletableFuture<Integer> answer = new CompletableFuture<>();
        synchronized (this) {
            if (idle == 0) {
                waiting.add(answer);
            } else {
                idle--;
                serve(answer);
            }
        }
        return answer;
    }

    /**
     * Starts to serve a call. The node's current state determines the service time, so a recovered node catches up with
     * its waiting calls.
     */
    private synchronized void serve(CompletableFuture<Integer> answer) {
        double mean = state == State.SLOW ? SLOWER * MEAN_NANOS : MEAN_NANOS;
        long nanos = (long) (-Math.log(1 - random.nextDouble()) * mean);
        timer.schedule(
                () -> {
                    answer.complete(number);
                    next();
                },
                nanos,
                TimeUnit.NANOSECONDS);
    }

    private synchronized void next() {
        CompletableFuture<Integer> first = waiting.poll();
        if (first == null) {
            idle++;
        } else {
            serve(first);
        }
    }
}
