package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * The unread answers of one HTTP/2 connection. A client with a zero window can make them accumulate (docs/limits.md).
 * Confined to the event loop.
 */
final class UnreadAnswers {

    /** New calls are refused above this number of bytes. */
    static final long MAX_BYTES = 64 << 20;

    /** Up to this number of bytes may stay unread for any time, for slow readers of streams. */
    static final long STALL_BYTES = 8 << 20;

    /** A client that takes no bytes for this time is assumed not to need the answers. */
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

    /** Called when the client has sent a window update. */
    void windowOpened(long now) {
        movedNanos = now;
    }

    long bytes() {
        return bytes;
    }

    boolean areTooMany() {
        return bytes > MAX_BYTES;
    }

    /** Whether the number of waiting bytes makes a check necessary. */
    boolean mayStall() {
        return bytes > STALL_BYTES;
    }

    boolean areStalled(long now) {
        return mayStall() && now - movedNanos >= STALL_NANOS;
    }
}
