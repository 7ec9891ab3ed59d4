package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * Counts the unread answers on one HTTP/2 connection. If a client keeps its flow-control window at zero, its answers
 * accumulate (docs/limits.md). Confined to the event loop.
 */
final class UnreadAnswers {

    /** The number of unread bytes above which new calls are refused. */
    static final long MAX_BYTES = 64 << 20;

    /** The number of bytes that may stay unread indefinitely, because the reader of a stream might be slow. */
    static final long STALL_BYTES = 8 << 20;

    /**
     * The time after which the connection is closed if more than {@link #STALL_BYTES} are unread and the client neither
     * accepts bytes nor opens its flow-control window.
     */
    static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(60);

    private long bytes;
    private long movedNanos;

    void add(int added, long now) {
        if (bytes == 0) {
            movedNanos = now;
        }
        bytes += added;
    }

    void left(int taken, long now) {
        bytes -= taken;
        movedNanos = now;
    }

    /** Called when the client has sent a WINDOW_UPDATE frame. */
    void windowOpened(long now) {
        movedNanos = now;
    }

    long bytes() {
        return bytes;
    }

    boolean areTooMany() {
        return bytes > MAX_BYTES;
    }

    /** Returns whether the connection must be checked periodically, because many bytes are unread. */
    boolean mayStall() {
        return bytes > STALL_BYTES;
    }

    boolean areStalled(long now) {
        return mayStall() && now - movedNanos >= STALL_NANOS;
    }
}
