package tern.rpc.load;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Starts calls at the times that {@link Load} defines, even if earlier calls have not ended. The latency of a call is
 * measured from its intended start. A slow answer therefore also raises the latency of calls that are waiting for a
 * thread, as it would for real users. Ignoring these waits is known as "coordinated omission".
 *
 * <p>Each user thread repeats these steps: it takes the next call, waits until the call's start time, and makes the
 * call. A driver can be used for only one run.
 */
public final class OpenLoopDriver {

    /** The time to wait after the start of the last call. Calls that have not ended by then are counted as errors. */
    static final Duration GRACE = Duration.ofSeconds(10);

    private static final Duration REPORT_EVERY = Duration.ofSeconds(1);

    private final Scenario scenario;
    private final Load load;
    private final LoadClock clock;
    private final Tally tally;
    private final AtomicLong nextCall = new AtomicLong();
    private volatile boolean stopped;

    public OpenLoopDriver(Scenario scenario, Load load) {
        this(scenario, load, LoadClock.SYSTEM);
    }

    OpenLoopDriver(Scenario scenario, Load load, LoadClock clock) {
        this.scenario = scenario;
        this.load = load;
        this.clock = clock;
        this.tally = new Tally(scenario, load);
    }

    /** Receives the counts of each second. Called once per second. */
    @FunctionalInterface
    public interface Progress {
        void report(Tally.Second second);
    }

    /**
     * Blocks until the last call has ended, or until {@link #stop} is called.
     *
     * @param progress receives the counts, on the thread that calls this method
     */
    public Tally run(Progress progress) throws InterruptedException {
        long start = clock.nanoTime();
        CountDownLatch running = new CountDownLatch(load.users());
        for (int i = 0; i < load.users(); i++) {
            Thread user = new Thread(() -> callUntilDone(start, running), "load-user-" + i);
            user.setDaemon(true);
            user.start();
        }
        long lastCalls = start + load.startNanos(load.calls()) + GRACE.toNanos();
        long nextReport = start + REPORT_EVERY.toNanos();
        boolean ended = false;
        while (!ended && clock.nanoTime() < lastCalls) {
            ended = running.await(nextReport - clock.nanoTime(), TimeUnit.NANOSECONDS);
            if (clock.nanoTime() >= nextReport) {
                progress.report(tally.second(Duration.ofNanos(nextReport - start)));
                nextReport += REPORT_EVERY.toNanos();
            }
        }
        stopped = true;
        return tally;
    }

    /** Stops the run: no new call is started. */
    public void stop() {
        stopped = true;
    }

    private void callUntilDone(long start, CountDownLatch running) {
        try {
            callUntilDone(start);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            running.countDown();
        }
    }

    /** Makes calls as one user until the run ends. Tests call this method on their own thread. */
    Tally callUntilDone(long start) throws InterruptedException {
        long number = nextCall.getAndIncrement();
        while (number < load.calls() && !stopped) {
            long intended = start + load.startNanos(number);
            clock.waitUntil(intended);
            if (!stopped) {
                call(number, intended);
            }
            number = nextCall.getAndIncrement();
        }
        return tally;
    }

    private void call(long number, long intended) {
        int step = scenario.pick(number);
        Throwable failure = run(scenario.steps().get(step), number);
        tally.record(number, step, clock.nanoTime() - intended, failure);
    }

    /**
     * Makes the call and returns its exception, or null if it succeeds. Catches every exception, because a failed call
     * must not end the run.
     */
    private static @Nullable Throwable run(Scenario.Step step, long number) {
        try {
            step.call().run(number);
            return null;
        } catch (Throwable e) {
            return e;
        }
    }
}
