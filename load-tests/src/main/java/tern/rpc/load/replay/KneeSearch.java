package tern.rpc.load.replay;

/**
 * Searches for the highest rate that meets the target. It first multiplies or divides the rate by a fixed factor, then
 * bisects between the highest rate that met the target and the lowest that missed it. A near miss is repeated once,
 * since a busy machine can cause it. Not thread-safe.
 */
final class KneeSearch {

    private static final double STRIDE = 1.6;
    private static final double CLOSE_ENOUGH = 1.12;
    private static final double MIN_RATE = 10;

    /** The load is clearly too high at this factor above the highest good rate. */
    static final double BEYOND = 1.3;

    /** The result of a load with the rate of {@link #next()}. */
    enum Outcome {
        HELD,
        /** Slightly too slow, perhaps for another reason than the rate. */
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
     * @param first first rate to try
     * @param highest upper bound of the rates
     * @param steps maximum number of loads
     */
    KneeSearch(double first, double highest, int steps) {
        this.first = Math.min(first, highest);
        this.highest = highest;
        this.left = steps;
    }

    boolean isDone() {
        return left <= 0 || held >= highest || missed / held <= CLOSE_ENOUGH || missed <= MIN_RATE;
    }

    /** Returns the rate to try next, in whole calls a second. */
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

    /** Records the result of the load with that rate. */
    void tell(Outcome outcome) {
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

    /** Returns the highest rate that met the target; 0 if none did. */
    double knee() {
        return held;
    }

    /** Returns a rate that is clearly too high, unless another process kept the machine busy. */
    double beyond() {
        double third = Math.max(held, MIN_RATE) * BEYOND;
        return Math.rint(Double.isInfinite(missed) ? third : Math.max(third, missed));
    }
}
