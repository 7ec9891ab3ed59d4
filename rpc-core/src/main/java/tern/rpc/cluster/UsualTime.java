package tern.rpc.cluster;

/**
 * The usual response time of one method at all providers, as an exponential mean of about 64 calls. A single slow call
 * counts at most like three usual ones. Thread-safe; a lost update is tolerated.
 */
public final class UsualTime {

    private static final int CALLS = 64;
    private static final int MAX_TIMES = 3;

    private volatile long nanos;

    /** The usual time; 0 if there was no call. */
    long nanos() {
        return nanos;
    }

    /**
     * Adds the duration of a call.
     *
     * @return the usual time before this call; 0 if there was none
     */
    long add(long tookNanos) {
        long before = nanos;
        nanos = before == 0 ? tookNanos : before + (Math.min(tookNanos, before * MAX_TIMES) - before) / CALLS;
        return before;
    }
}
