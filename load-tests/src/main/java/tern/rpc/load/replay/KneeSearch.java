package tern.rpc.load.replay;

/**
 * Searches for the knee of the latency curve: the highest rate at which calls meet the latency target. The search first
 * multiplies or divides the rate by a fixed factor. The search then bisects between the highest rate that met the
 * target and the lowest rate that missed the target. A load that narrowly misses the target is repeated once, because
 * other work on a busy machine can make calls late. Not thread-safe.
 */
final class KneeSearch {

    private static final double STRIDE = 1.6;
    private static final double CLOSE_ENOUGH = 1.12;
    private static final double MIN_RATE = 10;

    /** The factor between the highest rate that met the target and a rate that is clearly too high. */
    static final double BEYOND = 1.3;

    /** The possible results of a load run at the rate of {@link #next()}. */
    enum Outcome {
        HELD,
        /** The latencies slightly exceeded the target, but the rate might not be the reason. */
        NEAR_MISS,
        MISSED
    }

    private final double first;
    private final double highest;
    private int left;
    private double held;
    private double missed = Double.POSITIVE_INFINITY;
    private boolean again;
    private double asked;

    /**
     * @param first the first rate to try
     * @param highest the highest rate to try
     * @param steps the maximum number of loads
     */
    KneeSearch(double first, double highest, int steps) {
        this.first = Math.min(first, highest);
        this.highest = highest;
        this.left = steps;
    }

    boolean isDone() {
        return left <= 0 || held >= highest || missed / held <= CLOSE_ENOUGH || missed <= MIN_RATE;
    }

    /** Returns the rate to try next, in whole calls per second. */
    double next() {
        if (!again) {
            asked = Math.max(MIN_RATE, Math.rint(unrounded()));
        }
        return asked;
    }

    private double unrounded() {
        if (held == 0) {
            return Double.isInfinite(missed) ? first : missed / STRIDE;
        }
        return Double.isInfinite(missed) ? Math.min(highest, held * STRIDE) : Math.sqrt(held * missed);
    }

    /** Records the result of the load run at the rate of {@link #next()}. */
    void record(Outcome outcome) {
        left--;
        if (outcome == Outcome.HELD) {
            held = asked;
            again = false;
        } else if (outcome == Outcome.NEAR_MISS && !again) {
            again = true;
        } else {
            missed = asked;
            again = false;
        }
    }

    /** Returns the highest rate at which the target was met; 0 if it was never met. */
    double knee() {
        return held;
    }

    /**
     * Returns a rate at which calls should clearly miss the target. If other processes slowed the machine down during
     * the search, calls might meet the target even at this rate.
     */
    double beyond() {
        double third = Math.max(held, MIN_RATE) * BEYOND;
        return Math.rint(Double.isInfinite(missed) ? third : Math.max(third, missed));
    }
}
