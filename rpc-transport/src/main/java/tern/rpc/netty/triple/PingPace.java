package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * Limits a client's pings to the number that gRPC servers accept. Servers count the pings in each five-minute period
 * without other frames. By default, they close the connection at the fourth ping. Confined to the event loop.
 */
final class PingPace {

    private static final int QUICK = 3;
    private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(310);

    private int sent;
    private long lastNanos;

    /** Restarts the count of pings, as the server does. Called when headers or data have been transmitted. */
    void moved() {
        sent = 0;
    }

    /** Returns whether a ping may be sent now. If so, counts the ping. */
    boolean take(long now) {
        if (sent >= QUICK && now - lastNanos < SLOW_NANOS) {
            return false;
        }
        sent++;
        lastNanos = now;
        return true;
    }
}
