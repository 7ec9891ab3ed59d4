package tern.rpc.cluster;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the ejections, pings and probes of all of a client's providers, including providers that no longer exist.
 * Thread-safe.
 */
public final class NodeCounts {

    private final LongAdder ejections = new LongAdder();
    private final LongAdder pings = new LongAdder();
    private final LongAdder copies = new LongAdder();

    void ejected() {
        ejections.increment();
    }

    void pinged() {
        pings.increment();
    }

    void copied() {
        copies.increment();
    }

    /** Returns the number of ejections of all providers. */
    public long ejections() {
        return ejections.sum();
    }

    /** Returns the number of pings sent to silent providers. */
    public long pings() {
        return pings.sum();
    }

    /** Returns the number of probes: idempotent calls that were copied to a slow or failing provider. */
    public long copies() {
        return copies.sum();
    }
}
