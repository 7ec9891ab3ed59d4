package tern.rpc.limit;

/**
 * How many calls may be inside at once: the number that a {@link Limiter} enforces. An algorithm is arithmetic on what the
 * limiter saw; it knows no clock and no thread. Asked by one thread at a time.
 */
public interface Limit {

    /** Until something was seen; 1 or more. */
    int first();

    /**
     * A stretch of time is over.
     *
     * @return the limit from here on; 1 or more
     */
    int next(Window seen);

    /**
     * How many calls inside keep the server busy, as far as is known; the limit where it is not. A tenant that floods gets
     * no more while others want in.
     */
    int enough();

    /** For people, in refusals: {@code adaptive, 4 to 600}. */
    String describe();

    /**
     * What a limiter saw in a stretch of time.
     *
     * @param ended calls that both came and left in it; 0 when calls were refused for long and none left
     * @param meanNanos of the time that these were inside, waiting for a worker included
     * @param perSecond all calls that left, whenever they came
     * @param inside most calls that were inside at once, never above the limit
     * @param queue whether more calls wanted in than could be served, from its beginning to its end
     * @param flooded whether one tenant sent most of them and was held back, and the others left places free
     */
    record Window(int ended, double meanNanos, double perSecond, int inside, boolean queue, boolean flooded) {}
}
