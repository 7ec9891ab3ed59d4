package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * Detects a stream that could be sent but makes no progress. Only a defect can cause this: a signal was lost between
 * the stream's writer and the socket. Confined to the event loop.
 */
final class StallWatch {

    /** The time is long enough for a garbage collection or an overloaded machine. */
    static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private boolean watching;
    private boolean told;
    private long sinceNanos;
    private long left;

    /**
     * Checks the stream. Called periodically.
     *
     * @param couldMove whether bytes wait to be sent, and the windows and the socket have room
     * @param leftSoFar the number of bytes of the stream sent so far
     * @return true once, when the stream could have made progress for {@link #STALL_NANOS} but did not
     */
    boolean isStalled(boolean couldMove, long leftSoFar, long now) {
        if (!couldMove || !watching || leftSoFar != left) {
            watching = couldMove;
            sinceNanos = now;
            left = leftSoFar;
            return false;
        }
        boolean stalled = !told && now - sinceNanos >= STALL_NANOS;
        told |= stalled;
        return stalled;
    }
}
