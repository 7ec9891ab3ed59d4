package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * The unread answers of one connection of HTTP/2. A client with a zero window can make them grow (docs/limits.md).
 * Confined to the event loop.
 */
final class UnreadAnswers {

    /** Above this, new calls are refused. */
    static final long MAX_BYTES = 64 << 20;

    /** Slow readers of streams may leave this much unread for any time. */
    static final long STALL_BYTES = 8 << 20;

    /** A client that takes nothing for this time does not need the answers. */
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

    /** The client has sent a window update. */
    void windowOpened(long now) {
        movedNanos = now;
    }

    long bytes() {
        return bytes;
    }

    boolean areTooMany() {
        return bytes > MAX_BYTES;
    }

    /** Whether enough bytes wait that a check is needed. */
    boolean mayStall() {
        return bytes > STALL_BYTES;
    }

    boolean areStalled(long now) {
        return mayStall() && now - movedNanos >= STALL_NANOS;
    }
}
