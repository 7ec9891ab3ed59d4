package tern.rpc.diagnosis;

/** Waits for one of several places, by the formula of Erlang C with the correction of Allen and Cunneen. */
final class QueueModel {

    private QueueModel() {}

    /**
     * The probability that an arrival has to wait.
     *
     * @param busy arrivals per second × time of use, the mean number of busy places without waits
     * @param places the number of places
     */
    static double waitProbability(double busy, int places) {
        if (busy >= places) {
            return 1;
        }
        double blocked = 1; // Erlang B, by its recursion
        for (int k = 1; k <= places; k++) {
            blocked = busy * blocked / (k + busy * blocked);
        }
        return blocked / (1 - busy / places * (1 - blocked));
    }

    /**
     * The wait that one arrival in a hundred exceeds, in the unit of {@code use}; infinite if the places do not
     * suffice.
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

    /** The mean wait; infinite if the places do not suffice. */
    static double meanWait(double busy, int places, double use) {
        return busy >= places ? Double.POSITIVE_INFINITY : waitProbability(busy, places) * use / (places - busy);
    }

    /**
     * The smallest number of places at which waits stay below a limit; -1 if none up to {@code max} suffices.
     *
     * @param limit the longest acceptable wait of 99 in 100 arrivals
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
