package tern.rpc.load.replay;

/**
 * Looks for the highest rate that holds: first up or down by steps, then between the highest that held and the lowest
 * that missed. A near miss is tried once more, since a busy machine makes one now and then. Not thread-safe.
 */
final class KneeSearch {

    private static final double STRIDE = 1.6;
    private static final double CLOSE_ENOUGH = 1.12;
    private static final double LOWEST = 10;

    /** So much above what held calls are slow, and it shows why. */
    static final double BEYOND = 1.3;

    /** What a load with the rate of {@link #next()} showed. */
    enum Outcome {
        HELD,
        /** Little too slow: perhaps not because of the rate. */
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
     * @param first rate to try
     * @param highest rate that is of interest
     * @param steps loads at the most
     */
    KneeSearch(double first, double highest, int steps) {
        this.first = Math.min(first, highest);
        this.highest = highest;
        this.left = steps;
    }

    boolean isDone() {
        return left <= 0 || held >= highest || missed / held <= CLOSE_ENOUGH || missed <= LOWEST;
    }

    /** The rate to try now, in whole calls a second. */
    double next() {
        if (!again) {
            asked = Math.max(LOWEST, Math.rint(unrounded()));
        }
        return asked;
    }

    private double unrounded() {
        if (held == 0) {
            return Double.isInfinite(missed) ? first : missed / STRIDE;
        }
        return Double.isInfinite(missed) ? Math.min(highest, held * STRIDE) : Math.sqrt(held * missed);
    }

    /** What the load with that rate showed. */
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

    /** The highest rate that held; 0 when none did. */
    double knee() {
        return held;
    }

    /** A rate that is surely too high, unless something else kept the machine busy. */
    double beyond() {
        double third = Math.max(held, LOWEST) * BEYOND;
        return Math.rint(Double.isInfinite(missed) ? third : Math.max(third, missed));
    }
}
