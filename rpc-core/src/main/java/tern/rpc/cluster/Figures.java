package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;

/**
 * Values that are measured across all providers of a cluster, ten times per second while there are calls. Thread-safe.
 */
final class Figures {

    /** The time after which a provider that has become usable gets its full weight. */
    static final long SLOW_START_NANOS = TimeUnit.SECONDS.toNanos(30);

    private volatile double medianCost = 1;
    private volatile boolean tooManyEjected;
    private volatile boolean anyWarm;
    private volatile double localShare = 1;

    /** Returns the median response time of the usable providers, as a multiple of the usual response time. */
    double medianCost() {
        return medianCost;
    }

    /** Returns whether more than half of the providers are ejected. Ejections are then ignored. */
    boolean tooManyEjected() {
        return tooManyEjected;
    }

    /** Returns whether any provider has been usable for longer than the slow start, which takes 30 s. */
    boolean anyWarm() {
        return anyWarm;
    }

    /** Returns the share of calls that stay in the client's zone. */
    double localShare() {
        return localShare;
    }

    void set(double median, boolean ejectedTooMany, boolean warm, double local) {
        medianCost = median;
        tooManyEjected = ejectedTooMany;
        anyWarm = warm;
        localShare = local;
    }
}
