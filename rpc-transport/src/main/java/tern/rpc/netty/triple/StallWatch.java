package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * Notices a stream that could be sent and does not move, which only a defect can cause: a signal was lost somewhere between
 * its writer and the socket. Event loop only.
 */
final class StallWatch {

    /** Long enough for a garbage collection or a starved machine. */
    static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private boolean watching;
    private boolean told;
    private long sinceNanos;
    private long left;

    /**
     * Looks at the stream, now and then.
     *
     * @param couldMove whether something is there to be sent, and windows and socket would take it
     * @param leftSoFar bytes of the stream that have left
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
