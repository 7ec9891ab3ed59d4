package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * Detects a stream that could be sent but does not move. Only a defect can cause this: a signal was lost between its
 * writer and the socket. Confined to the event loop.
 */
final class StallWatch {

    /** Long enough for a garbage collection or a starved machine. */
    static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private boolean watching;
    private boolean told;
    private long sinceNanos;
    private long left;

    /**
     * Checks the stream from time to time.
     *
     * @param couldMove whether something waits to be sent, and the windows and the socket have room
     * @param leftSoFar the bytes of the stream sent so far
     * @return true the first time that the stream could have moved for {@link #STALL_NANOS} and did not
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
