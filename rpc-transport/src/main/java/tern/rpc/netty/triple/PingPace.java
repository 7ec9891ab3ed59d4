package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * Limits the pings of a client to the number that gRPC servers accept. Servers count the pings of five minutes in which
 * no other frame arrives. By default they close the connection at the fourth ping. Confined to the event loop.
 */
final class PingPace {

    private static final int QUICK = 3;
    private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(310);

    private int sent;
    private long lastNanos;

    /** Called when headers or data arrived, so the server resets its count. */
    void moved() {
        sent = 0;
    }

    /** Whether a ping may be sent now. If so, it is counted. */
    boolean take(long now) {
        if (sent >= QUICK && now - lastNanos < SLOW_NANOS) {
            return false;
        }
        sent++;
        lastNanos = now;
        return true;
    }
}
