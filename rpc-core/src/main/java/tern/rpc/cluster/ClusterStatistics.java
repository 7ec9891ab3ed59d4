package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;

/**
 * Two values computed from all providers of a cluster: the median response time, and whether any provider has finished
 * its slow start. During its slow start, a newly connected provider gets fewer calls. The values are computed ten times
 * per second while there are calls. Thread-safe.
 */
final class ClusterStatistics {

    /** The duration of the slow start, after which a provider gets its full weight. */
    static final long SLOW_START_NANOS = TimeUnit.SECONDS.toNanos(30);

    private volatile double medianCost = 1;
    private volatile boolean anyWarm;

    /** Returns the median response time of the usable providers, as a multiple of the usual response time. */
    double medianCost() {
        return medianCost;
    }

    /** Returns whether any provider has been usable for longer than the slow start, which takes 30 s. */
    boolean anyWarm() {
        return anyWarm;
    }

    void set(double median, boolean warm) {
        medianCost = median;
        anyWarm = warm;
    }
}
