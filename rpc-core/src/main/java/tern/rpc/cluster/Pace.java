package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;

/** Limits events such as new connections and lines of the log: some at once, then a number per second. Thread-safe. */
final class Pace {

    private final int atOnce;
    private final double perNano;
    private double tokens; // guarded by this
    private long countedNanos; // guarded by this

    Pace(int atOnce, double perSecond, long now) {
        this.atOnce = atOnce;
        this.perNano = perSecond / TimeUnit.SECONDS.toNanos(1);
        this.tokens = atOnce;
        this.countedNanos = now;
    }

    /** Whether one more event may happen now. If true, it is counted. */
    synchronized boolean take(long now) {
        tokens = Math.min(atOnce, tokens + (now - countedNanos) * perNano);
        countedNanos = now;
        if (tokens < 1) {
            return false;
        }
        tokens--;
        return true;
    }
}
