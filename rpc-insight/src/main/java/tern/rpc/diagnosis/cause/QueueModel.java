package tern.rpc.diagnosis.cause;

/**
 * Computes the waits for one of several identical resources, using the Erlang C formula with the Allen-Cunneen
 * correction.
 */
public final class QueueModel {

    private QueueModel() {}

    /**
     * Returns the probability that an arriving request has to wait.
     *
     * @param busy the offered load: arrivals per second × mean time of use in seconds
     * @param places the number of resources
     */
    public static double waitProbability(double busy, int places) {
        if (busy >= places) {
            return 1;
        }
        double blocked = 1; // The loop evaluates the Erlang B formula using its recurrence.
        for (int k = 1; k <= places; k++) {
            blocked = busy * blocked / (k + busy * blocked);
        }
        return blocked / (1 - busy / places * (1 - blocked));
    }

    /**
     * Returns the 99th percentile of waits, in the unit of {@code use}. Returns infinity if there are too few
     * resources.
     *
     * @param use the mean time that a resource is used
     * @param variation the mean of the squared coefficients of variation of the intervals between arrivals and of the
     *     times of use; 1 if both are exponentially distributed
     */
    static double waitP99(double busy, int places, double use, double variation) {
        if (busy >= places) {
            return Double.POSITIVE_INFINITY;
        }
        double waiting = waitProbability(busy, places);
        return Math.max(0, use / (places - busy) * Math.log(100 * waiting)) * variation;
    }

    /**
     * Returns the smallest number of resources that keeps waits below a limit. Returns -1 if even {@code max} resources
     * are too few.
     *
     * @param limit the maximum 99th percentile of waits
     */
    public static int placesFor(double busy, double use, double limit, int max) {
        for (int places = Math.max(1, (int) Math.ceil(busy)); places <= max; places++) {
            if (waitP99(busy, places, use, 1) <= limit) {
                return places;
            }
        }
        return -1;
    }
}
