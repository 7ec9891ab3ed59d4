package tern.rpc.load.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Callers that each make one call after another for a given time, and wait for each answer. The time to start the
 * callers is not measured. All callers' threads stay alive until the statistics of all callers have been read.
 */
final class Load {

    /** The maximum latency that can be recorded. */
    static final long MAX_NANOS = TimeUnit.MINUTES.toNanos(1);

    /**
     * The number of significant digits in the histogram, for a precision of one percent. With so few digits, the
     * histogram of each caller is too small to disturb the measurement.
     */
    static final int DIGITS = 2;

    private static final int MAX_TEXT = 300;

    private final int callers;
    private final long nanos;
    private final ProcessMeter meter;
    private final AtomicLong errors = new AtomicLong();
    private final AtomicReference<@Nullable String> firstError = new AtomicReference<>();
    private final CountDownLatch ready;
    private final CountDownLatch go = new CountDownLatch(1);
    private final CountDownLatch done;
    private final CountDownLatch read = new CountDownLatch(1);

    Load(int callers, long millis, ProcessMeter meter) {
        this.callers = callers;
        this.nanos = TimeUnit.MILLISECONDS.toNanos(millis);
        this.meter = meter;
        this.ready = new CountDownLatch(callers);
        this.done = new CountDownLatch(callers);
    }

    /** The errors, duration, cost and latencies of one run. */
    record Ran(long errors, String firstError, long nanos, ProcessCost cost, Histogram latencies) {}

    /**
     * Starts the callers, and blocks until all of them have made their last calls.
     *
     * @param calls creates the calls of the caller with the given index
     */
    Ran run(IntFunction<SceneCall> calls) throws InterruptedException {
        List<Caller> started = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            Caller caller = new Caller(calls.apply(i));
            started.add(caller);
            caller.start();
        }
        ready.await();
        ProcessCost before = meter.before();
        long began = System.nanoTime();
        go.countDown();
        done.await();
        long took = System.nanoTime() - began;
        ProcessCost cost = meter.after().since(before);
        Histogram latencies = newHistogram();
        started.forEach(caller -> latencies.add(caller.latencies));
        read.countDown();
        return new Ran(errors.get(), Objects.requireNonNullElse(firstError.get(), ""), took, cost, latencies);
    }

    static Histogram newHistogram() {
        return new Histogram(TimeUnit.MICROSECONDS.toNanos(1), MAX_NANOS, DIGITS);
    }

    private void failed(String text) {
        errors.incrementAndGet();
        firstError.compareAndSet(null, text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + "…" : text);
    }

    private final class Caller extends Thread {

        private final SceneCall call;
        private final Histogram latencies = newHistogram();

        Caller(SceneCall call) {
            this.call = call;
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                ready.countDown();
                go.await();
                long end = System.nanoTime() + nanos;
                long started = System.nanoTime();
                while (started < end) {
                    callOnce();
                    long ended = System.nanoTime();
                    call.record(latencies, ended - started);
                    started = ended;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                done.countDown();
            }
            try {
                read.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void callOnce() {
            try {
                if (!call.isRight()) {
                    failed("an answer was wrong");
                }
            } catch (RuntimeException e) {
                failed(e.toString());
            }
        }
    }
}
