package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;

/**
 * The response times of one provider, as multiples of the usual response times of its methods. Failures and refusals
 * count as slow answers. All values decay to 1 while there are no calls. Thread-safe, but updates can be lost.
 */
final class ResponseCost {

    /** The time constant of the exponential decay of response times (docs/cluster.md). */
    private static final double DECAY_NANOS = TimeUnit.SECONDS.toNanos(5);

    /**
     * A time that is added to both the measured and the usual response time before they are compared. Short delays of
     * fast methods therefore have little effect.
     */
    private static final double NOISE_NANOS = TimeUnit.MICROSECONDS.toNanos(250);

    /** The upper bound on the response time of a single call, as a multiple of the usual time. */
    private static final double MAX_SLOW = 20;

    /**
     * The cost of the first failed call, as a multiple of the usual time. Each additional consecutive failure doubles
     * the cost. Because the cost decays, a client with few calls tries a failing node again after about 20 s if no
     * probe is possible.
     */
    private static final double FAILED = 100;

    private static final double MAX_FAILED = 800;
    private static final int MAX_DOUBLINGS = 5;

    /**
     * The cost of a call that was refused because of overload, as a multiple of the usual time. Repeated refusals do
     * not increase this cost.
     */
    private static final double REFUSED = 5;

    /** The maximum response time of an answer that counts as good, as a multiple of the usual time. */
    private static final double GOOD = 2;

    /**
     * The upper bound of the values in the mean response time, as a multiple of the usual time. Longer response times
     * are counted as this value, so that the mean of a healthy node stays below {@link #GOOD_MEAN} after one slow
     * answer.
     */
    private static final double MAX_IN_MEAN = 8;

    /** The maximum mean response time of a healthy node, as a multiple of the usual time. */
    private static final double GOOD_MEAN = 2.5;

    /**
     * If the last response time exceeds {@value} times the usual time, it affects load balancing even if the mean is
     * good.
     */
    private static final double VERY_SLOW = 4;

    /** The weight of one response time in the mean response time. */
    private static final double IN_MEAN = 0.0625;

    /** A slow or failing node has recovered after {@value} consecutive good answers. */
    private static final int GOOD_IN_A_ROW = 2;

    /**
     * A good answer counts twice if it took less than 1/{@value} of the duration of the last slow answer. A slow
     * provider rarely answers that quickly by chance.
     */
    private static final int MUCH_FASTER = 40;

    /**
     * The duration of the last slow answer is recorded. A shorter slow answer can reduce the recorded duration, but
     * only to this fraction of its previous value. A recovered provider may still be busy with the probes (copies of
     * idempotent calls) of many clients.
     */
    private static final double REMEMBERED = 0.25;

    /**
     * The period after a recovery in which a failure or a slow mean response time counts as a relapse. Each relapse
     * doubles the number of good answers that the next recovery needs. Without this rule, a provider that fails only
     * for some calls would get its calls back too early.
     */
    private static final long RELAPSE_NANOS = TimeUnit.SECONDS.toNanos(20);

    private static final int MAX_RELAPSES = 4;

    // The last response time, as a multiple of the usual response time. The value decays to 1. The field contains the
    // value at the last update.
    private volatile double cost = 1;
    private volatile long costNanos;
    // The mean of the recent response times, as a multiple of the usual response time. The value decays to 1. The
    // field contains the value at the last update. Each answer has the weight IN_MEAN in the mean. A failure or refusal
    // immediately raises the mean to at least FAILED or REFUSED.
    private volatile double mean = 1;
    // The provider's smoothed response time in nanoseconds; 0 before the first answer.
    private volatile long usualNanos;
    private volatile int goodInARow;
    // The duration of the last slow answer, but at least REMEMBERED times the previous value; 0 if none.
    private volatile long slowNanos;
    private volatile boolean failing; // True from a failure until the next slow answer or the provider's recovery.
    // True from the end of a long silence until the next answer or failure.
    private volatile boolean resumed;
    private volatile int relapses;
    // True if the provider has been neither slow nor failing since it last recovered.
    private volatile boolean recovered;
    private volatile long recoveredNanos; // The time of the last recovery.

    ResponseCost(long now) {
        this.costNanos = now;
    }

    /**
     * Records the response time of an answer.
     *
     * @param usual the usual response time of the method; 0 if unknown
     * @param ejected whether the provider is ejected
     * @return whether the provider has recovered from slow answers, failures or an ejection
     */
    boolean answered(long tookNanos, long usual, boolean ejected, long now) {
        usualNanos = usualNanos == 0 ? tookNanos : usualNanos + (tookNanos - usualNanos) / 8;
        double multiple = multiple(tookNanos, usual);
        boolean wasBad = ejected || areSlow(now);
        int needed = wasBad ? GOOD_IN_A_ROW << relapses : GOOD_IN_A_ROW;
        boolean muchFaster = wasBad && tookNanos * MUCH_FASTER < slowNanos;
        boolean isGood = multiple <= (muchFaster || failing ? VERY_SLOW : GOOD);
        int good = isGood ? Math.min(needed, goodInARow + (muchFaster ? 2 : 1)) : 0;
        goodInARow = good;
        if (!isGood) {
            failing = false;
            slowNanos = Math.max(tookNanos, (long) (slowNanos * REMEMBERED));
        }
        boolean recovers = (good == needed || resumed) && (cost > GOOD || ejected);
        resumed = false;
        if (recovers) {
            cost = multiple;
            // If the last answer was slow, it now counts as GOOD, because the provider has recovered.
            mean = Math.min(multiple, GOOD);
            costNanos = now;
            failing = false;
            slowNanos = 0;
            if (wasBad) {
                recovered = true;
                recoveredNanos = now;
            }
        }
        countAnswer(Math.min(MAX_SLOW, multiple), now);
        if (!wasBad && areSlow(now)) {
            relapse(now);
        }
        return recovers;
    }

    /** Records that the provider has become slow or failing. */
    private void relapse(long now) {
        if (recovered) {
            recovered = false;
            relapses = now - recoveredNanos < RELAPSE_NANOS ? Math.min(MAX_RELAPSES, relapses + 1) : 0;
        }
    }

    private static double multiple(long tookNanos, long usual) {
        return usual <= 0 ? 1 : (tookNanos + NOISE_NANOS) / (usual + NOISE_NANOS);
    }

    /**
     * Records that a call was abandoned after the given time. Does nothing if the time is short, because a short time
     * does not show how fast the provider is.
     */
    void outlasted(long tookNanos, long usual, long now) {
        double sample = Math.min(MAX_SLOW, multiple(tookNanos, usual));
        if (sample > GOOD && sample > cost(now)) {
            goodInARow = 0;
            countAnswer(sample, now);
        }
    }

    /** Records that an answer took so long that it counts as a failure. The caller must also call {@link #failed}. */
    void late(long tookNanos) {
        slowNanos = tookNanos;
    }

    /**
     * Records that the provider has sent data again after a long silence. If the provider's failures began with the
     * silence, the next answer counts as a recovery, even if the answer is slow because many clients have waited for
     * the provider.
     */
    void resumed() {
        resumed = failing && relapses == 0;
    }

    /** @param inARow the number of consecutive failures, including the current failure */
    void failed(int inARow, long now) {
        goodInARow = 0;
        failing = true;
        resumed = false;
        relapse(now);
        countFailure(Math.min(MAX_FAILED, FAILED * (1L << Math.min(inARow - 1, MAX_DOUBLINGS))), now);
    }

    void refused(long now) {
        countFailure(REFUSED, now);
    }

    /** Resets all values except the smoothed response time, because the provider has been reconnected. */
    void clear(long now) {
        cost = 1;
        mean = 1;
        costNanos = now;
        recovered = false;
        relapses = 0;
        failing = false;
        resumed = false;
        slowNanos = 0;
    }

    private void countAnswer(double sample, long now) {
        double before = 1 + (mean - 1) * kept(now);
        mean = before + (Math.min(sample, MAX_IN_MEAN) - before) * IN_MEAN;
        count(sample, now);
    }

    private void countFailure(double sample, long now) {
        mean = Math.max(sample, 1 + (mean - 1) * kept(now));
        count(sample, now);
    }

    private void count(double sample, long now) {
        double kept = kept(now);
        double before = 1 + (cost - 1) * kept;
        cost = sample > before ? sample : before + (sample - before) * Math.max(1 - kept, 0.01);
        costNanos = now;
    }

    /**
     * Returns the decay since the last change, as a factor for the part of the cost above 1. The formula approximates
     * e^(-t/τ) without calling the math library.
     */
    private double kept(long now) {
        double age = Math.max(0, now - costNanos) / DECAY_NANOS;
        return 1 / (1 + age * (1 + age * (0.5 + age * 0.1667)));
    }

    /** Returns the last response time as a multiple of the usual response time. A failure counts as a slow answer. */
    double cost(long now) {
        return 1 + (cost - 1) * kept(now);
    }

    /**
     * Returns {@link #cost} for a comparison of providers: 1 if the provider is healthy and its last answer was not
     * very slow.
     */
    double judgedCost(long now) {
        double last = cost(now);
        return last > VERY_SLOW || areSlow(now) ? last : 1;
    }

    /** Returns whether the answers are slow on average, or whether the last calls failed. */
    boolean areSlow(long now) {
        return mean > GOOD_MEAN && 1 + (mean - 1) * kept(now) > GOOD_MEAN;
    }

    /** Returns whether the provider's last answer was good. */
    boolean wasGood() {
        return goodInARow > 0;
    }

    /** Returns the provider's smoothed response time in nanoseconds; 0 before the first answer. */
    long usualNanos() {
        return usualNanos;
    }

    /** Returns the cost of a call that has waited for the given time; 0 if no response time is known. */
    double costOf(long waitedNanos) {
        long usual = usualNanos;
        return usual == 0 ? 0 : Math.min(MAX_SLOW, (waitedNanos + NOISE_NANOS) / (usual + NOISE_NANOS));
    }
}
