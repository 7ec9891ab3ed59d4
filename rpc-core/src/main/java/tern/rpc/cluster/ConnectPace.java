package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;

/** Limits new connections of a client: some at once, then a number per second. Thread-safe. */
final class ConnectPace {

    /** The default number of connections that may be opened at once. */
    static final int AT_ONCE = 20;

    /** The default number of further connections per second. */
    static final int PER_SECOND = 50;

    private final int atOnce;
    private final double perNano;
    private double tokens; // guarded by this
    private long countedNanos; // guarded by this

    ConnectPace(int atOnce, int perSecond, long now) {
        this.atOnce = atOnce;
        this.perNano = (double) perSecond / TimeUnit.SECONDS.toNanos(1);
        this.tokens = atOnce;
        this.countedNanos = now;
    }

    /** Whether one connection may be opened now. If so, it is counted. */
    synchronized boolean mayOpen(long now) {
        tokens = Math.min(atOnce, tokens + (now - countedNanos) * perNano);
        countedNanos = now;
        if (tokens < 1) {
            return false;
        }
        tokens--;
        return true;
    }
}
