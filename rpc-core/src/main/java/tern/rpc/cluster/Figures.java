package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;

/** Figures of all providers of a cluster, measured ten times a second while there are calls. Thread-safe. */
final class Figures {

    /** The time after its start at which a provider gets its full weight. */
    static final long SLOW_START_NANOS = TimeUnit.SECONDS.toNanos(30);

    private volatile double medianCost = 1;
    private volatile boolean tooManyEjected;
    private volatile boolean anyWarm;
    private volatile double localShare = 1;

    /** The median response time of the usable providers, as a multiple of the usual one. */
    double medianCost() {
        return medianCost;
    }

    /** Whether more than half of the providers are ejected, so that ejections are ignored. */
    boolean tooManyEjected() {
        return tooManyEjected;
    }

    /** Whether any provider has been running for longer than the slow start. */
    boolean anyWarm() {
        return anyWarm;
    }

    /** The share of the calls that stays in the zone of the client. */
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
