package tern.rpc.limit;

/**
 * The maximum number of concurrent calls, which a {@link Limiter} enforces. An implementation computes the number from
 * the limiter's measurements. An implementation uses neither a clock nor a thread. Used by one thread at a time.
 */
public interface Limit {

    /** Returns the limit before the first measurement, 1 or more. */
    int first();

    /**
     * Computes the next limit at the end of a measurement window.
     *
     * @return the new limit; 1 or more
     */
    int next(Window seen);

    /**
     * Returns the number of calls that keeps the server busy, or the limit if this number is unknown. A tenant that
     * floods the server (sends most of the calls) gets at most that many permits while other tenants send calls.
     */
    int enough();

    /**
     * Returns a description of the limit for the error messages of refused calls, such as {@code adaptive, 4 to 600}.
     */
    String describe();

    /** Returns the place where the limit was set, for error messages; empty for the server's properties. */
    default String setBy() {
        return "";
    }

    /**
     * A measurement window: the values that the limiter measured while the limit was constant.
     *
     * @param ended the number of calls that were admitted and ended in this window, or 0 if calls were refused for a
     *     long time while no call ended
     * @param meanNanos the mean time from the admission to the end of these calls, including the wait for a worker
     * @param perSecond the rate at which calls ended, including calls that were admitted before the window
     * @param inside the highest number of concurrent calls, which does not exceed the limit
     * @param queue whether more calls arrived than could be served, throughout the window
     * @param flooded whether one tenant sent most calls and was limited, although the other tenants did not use all
     *     remaining permits
     */
    record Window(int ended, double meanNanos, double perSecond, int inside, boolean queue, boolean flooded) {}
}
