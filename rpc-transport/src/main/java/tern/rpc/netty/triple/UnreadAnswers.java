package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * Counts the answers on one HTTP/2 connection that the client has not read. A client that keeps its flow-control window
 * at zero makes them accumulate (docs/limits.md). Confined to the event loop.
 */
final class UnreadAnswers {

    /** While more than this number of bytes is unread, new calls are refused. */
    static final long MAX_BYTES = 64 << 20;

    /** Up to this number of bytes may stay unread for any time, because streams may have slow readers. */
    static final long STALL_BYTES = 8 << 20;

    /**
     * If more than {@link #STALL_BYTES} are unread and the client neither accepts bytes nor opens its flow-control
     * window for this time, its connection is closed.
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

    /** Whether so many bytes are unread that the connection must be checked periodically. */
    boolean mayStall() {
        return bytes > STALL_BYTES;
    }

    boolean areStalled(long now) {
        return mayStall() && now - movedNanos >= STALL_NANOS;
    }
}
