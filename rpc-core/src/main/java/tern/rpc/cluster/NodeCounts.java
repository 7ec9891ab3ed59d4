package tern.rpc.cluster;

import java.util.concurrent.atomic.LongAdder;

/** Counts what happens to all providers of a client, also to those that are gone. Thread-safe. */
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

    /** The number of times that a provider was ejected. */
    public long ejections() {
        return ejections.sum();
    }

    /** The number of silent providers that were asked for a sign of life. */
    public long pings() {
        return pings.sum();
    }

    /** The number of idempotent calls that were copied to a slow or failing provider. */
    public long copies() {
        return copies.sum();
    }
}
