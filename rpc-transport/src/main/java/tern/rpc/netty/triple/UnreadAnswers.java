package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * How much of the answers on one connection of HTTP/2 its client has not taken, which a window of zero can make as much as
 * it likes (docs/limits.md). Event loop only.
 */
final class UnreadAnswers {

    /** With more than this, new calls are refused. */
    static final long MAX_BYTES = 64 << 20;

    /** Less than this is what slow readers of streams are allowed to leave, for as long as they want. */
    static final long STALL_BYTES = 8 << 20;

    /** A client that lets nothing move for so long has no use for the answers. */
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

    /** The client opened a window. */
    void windowOpened(long now) {
        movedNanos = now;
    }

    long bytes() {
        return bytes;
    }

    boolean areTooMany() {
        return bytes > MAX_BYTES;
    }

    /** Whether so much waits that somebody has to look again. */
    boolean mayStall() {
        return bytes > STALL_BYTES;
    }

    boolean areStalled(long now) {
        return mayStall() && now - movedNanos >= STALL_NANOS;
    }
}
