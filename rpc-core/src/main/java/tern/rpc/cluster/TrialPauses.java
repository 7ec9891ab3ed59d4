package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;

/**
 * The pauses between the trials of one provider. A trial is an application call that is sent to a slow or failing
 * provider, if there is no idempotent call that could be copied as a probe. If the provider has not recovered, the
 * caller of the trial gets a late answer or a failure. Therefore, the pauses are longer than the pauses between probes.
 * Thread-safe, but a race can start an additional trial.
 */
final class TrialPauses {

    /** The minimum number of calls between two trial calls to a slow provider. */
    static final int CALLS_FOR_SLOW = 150;

    /**
     * After {@value} calls, a trial call to a failing provider is due even if the pause has not ended. Clients with
     * many calls thus notice a recovery early, and only a few of their calls fail.
     */
    static final int CALLS_FOR_FAILING = 4_000;

    /** The minimum pause between two trial calls to a failing provider. */
    private static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

    /**
     * The mean of the random pause after a slow answer, and after a failure of a call that was certainly not executed.
     */
    private static final long USUAL_NANOS = TimeUnit.MILLISECONDS.toNanos(2_500);

    /**
     * The mean pause after a slow answer, as a multiple of the answer's duration. The mean pause is at least {@link
     * #USUAL_NANOS}.
     */
    private static final int SLOW_TIMES = 30;

    /** The mean of the random pause between a failure and the next trial call. */
    private static final long FAILED_NANOS = TimeUnit.SECONDS.toNanos(20);

    /** The maximum mean pause between two trial calls. */
    private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(30);

    /**
     * The pause after a good answer. This pause is short, because the next good answer may make more trial calls
     * unnecessary.
     */
    private static final long GOOD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private volatile long nextNanos;
    private volatile long takenNanos;
    private volatile boolean likelyGood; // true if the provider has probably recovered

    TrialPauses(long now) {
        this.nextNanos = now;
        this.takenNanos = now;
    }

    /**
     * Returns whether a trial call is due.
     *
     * @param failing whether the provider's last calls failed; false if the calls were only slow
     * @param calls the number of the client's calls since its last trial call
     */
    boolean isDue(boolean failing, long calls, long now) {
        if (now - nextNanos >= 0) {
            return failing || likelyGood || calls >= CALLS_FOR_SLOW;
        }
        return failing && calls >= CALLS_FOR_FAILING && now - takenNanos >= MIN_NANOS;
    }

    /** Records that the next call is sent as a trial call to a slow or failing provider. */
    void taken(long now) {
        takenNanos = now;
        nextNanos = now + FAILED_NANOS;
    }

    /** Records that a trial call or another call was answered about as fast as usual, and shortens the pause. */
    void good(long now) {
        if (nextNanos - now > GOOD_NANOS) {
            likelyGood = true;
            nextNanos = now + GOOD_NANOS;
        }
    }

    /** Records that the answer to a trial call or another call took longer than usual, and starts a pause. */
    void slow(long tookNanos, long now) {
        likelyGood = false;
        pause(Math.max(USUAL_NANOS, Math.min(MAX_NANOS, SLOW_TIMES * tookNanos)), now);
    }

    /**
     * Records that a trial call or another call failed, and starts a pause.
     *
     * @param executed whether the provider may have executed the call. A call that was not executed is sent to another
     *     provider, so the caller loses little time
     */
    void failed(boolean executed, long now) {
        likelyGood = false;
        pause(executed ? FAILED_NANOS : USUAL_NANOS, now);
    }

    /** Records that a silent provider has sent data again, and starts a pause before the next trial call. */
    void resumed(long now) {
        likelyGood = true;
        pause(ProbePauses.RESUMED_NANOS, now);
    }

    /** Starts a pause of 0.5 to 1.5 times the given time, as in {@link ProbePauses}. */
    private void pause(long nanos, long now) {
        nextNanos = now + ProbePauses.varied(nanos, now);
    }
}
