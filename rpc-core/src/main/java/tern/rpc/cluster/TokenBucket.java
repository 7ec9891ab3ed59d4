package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;

/**
 * Limits the rate of events such as new connections and log lines (token bucket). Allows a burst of a given number of
 * events, and then a given number of events per second. Thread-safe.
 */
final class TokenBucket {

    private final int atOnce;
    private final double perNano;
    private double tokens; // guarded by this
    private long countedNanos; // guarded by this

    TokenBucket(int atOnce, double perSecond, long now) {
        this.atOnce = atOnce;
        this.perNano = perSecond / TimeUnit.SECONDS.toNanos(1);
        this.tokens = atOnce;
        this.countedNanos = now;
    }

    /**
     * Counts one event if the rate permits it at the given time.
     *
     * @return false if the rate does not permit the event
     */
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
