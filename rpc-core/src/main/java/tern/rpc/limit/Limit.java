package tern.rpc.limit;

/**
 * The maximum number of concurrent calls. A {@link Limiter} enforces it. An implementation computes it from the
 * limiter's measurements. It uses no clock and no thread of its own. Used by one thread at a time.
 */
public interface Limit {

    /** The limit before the first measurement; 1 or more. */
    int first();

    /**
     * Computes the next limit at the end of a window.
     *
     * @return the new limit; 1 or more
     */
    int next(Window seen);

    /**
     * The number of calls that keeps the server busy; the limit if this is unknown. A flooding tenant gets no more
     * places than this while others send calls.
     */
    int enough();

    /** A description for refusals, such as {@code adaptive, 4 to 600}. */
    String describe();

    /**
     * The measurements of a limiter in one window.
     *
     * @param ended calls that entered and left in this window; 0 if calls were refused for long and none left
     * @param meanNanos the mean time that these calls were inside, including the wait for a worker
     * @param perSecond the rate of all calls that left, whenever they entered
     * @param inside the highest number of calls inside at once, never above the limit
     * @param queue whether more calls arrived than could be served during the whole window
     * @param flooded whether one tenant sent most calls and was limited, and the others left places free
     */
    record Window(int ended, double meanNanos, double perSecond, int inside, boolean queue, boolean flooded) {}
}
