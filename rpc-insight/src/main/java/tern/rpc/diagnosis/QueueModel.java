package tern.rpc.diagnosis;

/** Computes waits for one of several places by the Erlang C formula with the correction of Allen and Cunneen. */
final class QueueModel {

    private QueueModel() {}

    /**
     * The probability that an arrival has to wait.
     *
     * @param busy the offered load: arrivals per second × time of use
     * @param places the number of places
     */
    static double waitProbability(double busy, int places) {
        if (busy >= places) {
            return 1;
        }
        double blocked = 1; // Erlang B by recursion
        for (int k = 1; k <= places; k++) {
            blocked = busy * blocked / (k + busy * blocked);
        }
        return blocked / (1 - busy / places * (1 - blocked));
    }

    /**
     * The 99th percentile of waits, in the unit of {@code use}; infinite if there are too few places.
     *
     * @param use the mean time of use
     * @param variation the squared coefficients of variation of arrivals and uses, averaged; 1 for random ones
     */
    static double waitP99(double busy, int places, double use, double variation) {
        if (busy >= places) {
            return Double.POSITIVE_INFINITY;
        }
        double waiting = waitProbability(busy, places);
        return Math.max(0, use / (places - busy) * Math.log(100 * waiting)) * variation;
    }

    /** The mean wait; infinite if there are too few places. */
    static double meanWait(double busy, int places, double use) {
        return busy >= places ? Double.POSITIVE_INFINITY : waitProbability(busy, places) * use / (places - busy);
    }

    /**
     * The smallest number of places at which waits stay below a limit; -1 if none up to {@code max} suffices.
     *
     * @param limit the longest acceptable 99th percentile of waits
     */
    static int placesFor(double busy, double use, double limit, int max) {
        for (int places = Math.max(1, (int) Math.ceil(busy)); places <= max; places++) {
            if (waitP99(busy, places, use, 1) <= limit) {
                return places;
            }
        }
        return -1;
    }
}
