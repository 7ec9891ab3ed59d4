package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * The pauses between the probes of one provider. A probe is a copy of an idempotent call. A client normally sends the
 * next probe only after the answer to the previous probe, so that the probes of many clients do not overload a slow
 * provider. Thread-safe.
 */
final class ProbePauses {

    /**
     * The minimum time that a client waits for the answer to a probe, even if the timeout of the copied call is
     * shorter. An overloaded provider answers late, and sending another probe instead of waiting would increase the
     * overload.
     */
    static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(16);

    /**
     * The minimum pause while a probe is unanswered. After this time, another probe is allowed, because the provider
     * may have lost the first probe.
     */
    private static final long UNANSWERED_NANOS = TimeUnit.SECONDS.toNanos(4);

    /** The mean of the random pause after a slow answer to a probe. */
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

    /**
     * The pause after a slow answer, as a multiple of the answer's duration. The pause is at least {@link #SLOW_NANOS}.
     */
    private static final int SLOW_TIMES = 4;

    /** The maximum mean pause between two probes. */
    private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(4);

    /** The minimum pause between a failure and the next probe. */
    private static final long FAILED_NANOS = TimeUnit.MILLISECONDS.toNanos(2_500);

    /**
     * The pause after a good answer. The pause is short, because the next good answer may make more probes unnecessary.
     */
    private static final long GOOD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /**
     * The mean of the random pause after a silent provider has sent data again. All clients notice this at about the
     * same time, and their first calls would overload the provider without the pause.
     */
    static final long RESUMED_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final AtomicLongFieldUpdater<ProbePauses> NEXT =
            AtomicLongFieldUpdater.newUpdater(ProbePauses.class, "nextNanos");

    private final AtomicInteger unanswered = new AtomicInteger();
    private volatile long nextNanos;

    ProbePauses(long now) {
        this.nextNanos = now;
    }

    /** Returns whether the pause before the next probe has ended. */
    boolean isOver(long now) {
        return now - nextNanos >= 0;
    }

    /**
     * Reserves the next probe for the calling thread if the pause has ended. The end of the probe sets the time of the
     * next probe.
     *
     * @return whether the calling thread may send the probe
     */
    boolean take(long now) {
        long due = nextNanos;
        return now - due >= 0 && NEXT.compareAndSet(this, due, now + UNANSWERED_NANOS);
    }

    /** Records that a probe is about to be sent. */
    void sent() {
        unanswered.incrementAndGet();
    }

    /** Records that a probe has ended. The caller then records the result with one of the following methods. */
    void ended() {
        unanswered.decrementAndGet();
    }

    /** Returns whether a probe is still unanswered. */
    boolean isUnanswered() {
        return unanswered.get() > 0;
    }

    /** Records that a probe or another call was answered about as fast as usual, and shortens the pause. */
    void good(long now) {
        if (nextNanos - now > GOOD_NANOS) {
            nextNanos = now + GOOD_NANOS;
        }
    }

    /** Records that the answer to a probe or another call took longer than usual, and starts a pause. */
    void slow(long tookNanos, long now) {
        pause(Math.max(SLOW_NANOS, Math.min(MAX_NANOS, SLOW_TIMES * tookNanos)), now);
    }

    /** Records that a probe or another call failed after the given time, and starts a pause. */
    void failed(long tookNanos, long now) {
        pause(Math.max(FAILED_NANOS, Math.min(MAX_NANOS, SLOW_TIMES * tookNanos)), now);
    }

    /** Records that the answer to a probe arrived after the timeout of the original call, and starts a pause. */
    void late(long now) {
        pause(SLOW_NANOS, now);
    }

    /** Records that a silent provider has sent data again, and starts a pause. */
    void resumed(long now) {
        nextNanos = now + varied(RESUMED_NANOS, now);
    }

    /**
     * Starts the pause before the next probe, unless a probe is still unanswered. The pause lasts between 0.5 and 1.5
     * times the given time. The lengths differ, so that the clients do not all send their probes at the same time after
     * a recovery. The pauses depend on the clock instead of random numbers, so that simulations are reproducible.
     */
    private void pause(long nanos, long now) {
        if (!isUnanswered()) {
            nextNanos = now + varied(nanos, now);
        }
    }

    /** Returns a pseudo-random time between 0.5 and 1.5 times the given time. */
    static long varied(long nanos, long now) {
        double part = (Hashes.mix(now) >>> 11) * 0x1p-53; // a pseudo-random number from 0 to 1
        return (long) (nanos * (0.5 + part));
    }
}
