package tern.rpc.evidence;

/**
 * The Linux scheduler's counters for a thread, or their sum for several threads.
 *
 * @param runNanos the time on a processor; -1 if unknown
 * @param delayNanos how long the thread was ready to run but had no processor; on the tested kernels, this includes the
 *     time for which a quota throttled the thread
 * @param turns the number of times that the thread got a processor
 */
public record RunTime(long runNanos, long delayNanos, long turns) {

    public static final RunTime UNKNOWN = new RunTime(-1, -1, -1);

    public boolean isKnown() {
        return runNanos >= 0;
    }

    /**
     * Returns the change since an earlier reading.
     *
     * @return {@link #UNKNOWN} if either reading is unknown, or if the native id has been reused by another thread in
     *     between
     */
    public RunTime since(RunTime earlier) {
        boolean goesOn =
                isKnown() && earlier.isKnown() && runNanos >= earlier.runNanos && delayNanos >= earlier.delayNanos;
        return goesOn
                ? new RunTime(runNanos - earlier.runNanos, delayNanos - earlier.delayNanos, turns - earlier.turns)
                : UNKNOWN;
    }

    /**
     * Returns the sum of the counters of two threads or groups of threads. If one of the counters is unknown, returns
     * the other counter.
     */
    public RunTime plus(RunTime other) {
        if (!isKnown()) {
            return other;
        }
        return other.isKnown()
                ? new RunTime(runNanos + other.runNanos, delayNanos + other.delayNanos, turns + other.turns)
                : this;
    }
}
