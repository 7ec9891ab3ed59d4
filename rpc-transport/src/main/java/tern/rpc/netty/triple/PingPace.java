package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * Limits the pings of a client to those that gRPC servers accept. Servers count the pings within five minutes without
 * other frames, and by default close the connection at the fourth. Confined to the event loop.
 */
final class PingPace {

    private static final int QUICK = 3;
    private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(310);

    private int sent;
    private long lastNanos;

    /** Headers or data arrived, so the server resets its count. */
    void moved() {
        sent = 0;
    }

    /** Whether a ping may be sent now. If true, it is counted. */
    boolean take(long now) {
        if (sent >= QUICK && now - lastNanos < SLOW_NANOS) {
            return false;
        }
        sent++;
        lastNanos = now;
        return true;
    }
}
