package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * The connections of one provider of Reactor Netty to one host, as the exchanges of WebClients use them. Thread-safe.
 */
final class ReactorPool {

    private final String name;
    private final int max;
    private final Borrowings borrowings = new Borrowings();
    private final LongAdder active = new LongAdder();

    /**
     * The sum of the times when the connections in use were taken. From this sum, {@link #snapshot} computes how long
     * they have been in use.
     */
    private final LongAdder takenAt = new LongAdder();

    ReactorPool(String name, int max) {
        this.name = name;
        this.max = max;
    }

    String name() {
        return name;
    }

    long asked() {
        return borrowings.asked();
    }

    long taken(long askedAt) {
        long now = borrowings.taken(askedAt);
        takenAt.add(now);
        active.increment();
        return now;
    }

    void returned(long since) {
        borrowings.returned(since);
        takenAt.add(-since);
        active.decrement();
    }

    void refused(long askedAt) {
        borrowings.refused(askedAt);
    }

    /**
     * The time of use in the snapshot includes connections that are still in use. Otherwise, connections to a peer that
     * does not answer would seem to be taken but never used.
     */
    PoolSnapshot snapshot() {
        PoolSnapshot ended =
                borrowings.into(PoolSnapshot.builder(name, PoolKind.HTTP, max)).build();
        int inUse = (int) Math.max(0, active.sum());
        long running = inUse == 0 ? 0 : Math.max(0, inUse * System.nanoTime() - takenAt.sum());
        return PoolSnapshot.builder(name, PoolKind.HTTP, max)
                .now(Math.min(inUse, max), -1, borrowings.waiting())
                .counts(ended.taken(), ended.refused())
                .sums(ended.waited(), ended.held().plus(Duration.ofNanos(running)))
                .build();
    }
}
