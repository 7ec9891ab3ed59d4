package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * Limits the pings of a client to the number that gRPC servers accept. Servers count pings in periods of five minutes
 * without any other frame, and by default close the connection at the fourth ping. Confined to the event loop.
 */
final class PingPace {

    private static final int QUICK = 3;
    private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(310);

    private int sent;
    private long lastNanos;

    /** Called when headers or data were transmitted. The server then restarts its count of pings. */
    void moved() {
        sent = 0;
    }

    /** Whether a ping may be sent now. If the result is true, the ping is counted. */
    boolean take(long now) {
        if (sent >= QUICK && now - lastNanos < SLOW_NANOS) {
            return false;
        }
        sent++;
        lastNanos = now;
        return true;
    }
}
