package tern.rpc.cluster;

/**
 * The usual response time of one method at all providers: an exponential moving average over about 64 calls. A single
 * call is counted with at most three times the mean. Thread-safe, but updates can be lost.
 */
public final class UsualTime {

    private static final int CALLS = 64;
    private static final int MAX_TIMES = 3;

    private volatile long nanos;
    // The number of calls so far, but at most CALLS. Until CALLS is reached, all calls have equal weight.
    private volatile int known;

    /** Returns the usual response time in nanoseconds, or 0 before the first call. */
    long nanos() {
        return nanos;
    }

    /**
     * Adds the duration of one call.
     *
     * @return the usual response time before this call, or 0 if this is the first call
     */
    long add(long tookNanos) {
        long before = nanos;
        int calls = known;
        if (calls < CALLS) {
            calls++;
            known = calls;
        }
        nanos = before == 0 ? tookNanos : before + (Math.min(tookNanos, before * MAX_TIMES) - before) / calls;
        return before;
    }
}
