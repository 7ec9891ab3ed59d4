package tern.rpc.netty.triple;

import java.util.concurrent.TimeUnit;

/**
 * Keeps a client from pinging more often than servers of gRPC bear: those that say nothing else count the pings that come
 * within five minutes and, at their defaults, end the connection at the fourth. Event loop only.
 */
final class PingPace {

    private static final int QUICK = 3;
    private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(310);

    private int sent;
    private long lastNanos;

    /** Headers or data came, after which a server counts anew. */
    void moved() {
        sent = 0;
    }

    /** Whether a ping may be sent now; then it is counted. */
    boolean take(long now) {
        if (sent >= QUICK && now - lastNanos < SLOW_NANOS) {
            return false;
        }
        sent++;
        lastNanos = now;
        return true;
    }
}
