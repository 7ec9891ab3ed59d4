package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * Detects a stream that makes no progress even though its peer and the socket would accept bytes. Only a bug in the
 * server can cause such a stall: a lost notification between the socket and the code that writes the stream. Confined
 * to the event loop.
 */
final class StallWatch {

    /**
     * The time without progress after which a stream counts as stalled. A garbage collection or a brief overload of the
     * machine takes less time.
     */
    static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private boolean watching;
    private boolean reported;
    private long sinceNanos;
    private long left;

    /**
     * Checks whether the stream has made progress. Called periodically.
     *
     * @param couldMove whether bytes are waiting to be sent and the flow-control windows and the socket accept them
     * @param leftSoFar the number of bytes that the stream has sent so far
     * @return true if the stream could have made progress for {@link #STALL_NANOS} but did not; returned only once
     */
    boolean isStalled(boolean couldMove, long leftSoFar, long now) {
        if (!couldMove || !watching || leftSoFar != left) {
            watching = couldMove;
            sinceNanos = now;
            left = leftSoFar;
            return false;
        }
        boolean stalled = !reported && now - sinceNanos >= STALL_NANOS;
        reported |= stalled;
        return stalled;
    }
}
