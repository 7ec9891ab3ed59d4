package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolSnapshot;

/**
 * Counts how often connections are borrowed from one pool. Also measures how long borrowers wait for a connection, and
 * how long they use it. Thread-safe.
 */
final class Borrowings {

    private final LongAdder waiting = new LongAdder();
    private final LongAdder taken = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder waitedNanos = new LongAdder();
    private final LongAdder heldNanos = new LongAdder();
    private final Holders holders = new Holders();

    /**
     * Records that a borrower has started to wait for a connection. Returns the current time, which the caller passes
     * to
     * {@link #taken}.
     */
    long asked() {
        waiting.increment();
        return System.nanoTime();
    }

    /**
     * Records that a borrower has received a connection. Returns the current time, which the caller passes to {@link
     * #returned(long)}.
     */
    long taken(long askedAt) {
        long now = System.nanoTime();
        waiting.decrement();
        taken.increment();
        waitedNanos.add(now - askedAt);
        return now;
    }

    /**
     * Records that a borrower has received a connection, and remembers the borrower until
     * {@link #returned(Holders.Holder)} is called.
     */
    Holders.Holder takenBy(long askedAt) {
        return holders.taken(taken(askedAt));
    }

    void returned(Holders.Holder holder) {
        holders.returned(holder);
        returned(holder.sinceNanos());
    }

    Holders holders() {
        return holders;
    }

    /** Records that a borrower's wait has failed. */
    void refused(long askedAt) {
        waiting.decrement();
        refused.increment();
        waitedNanos.add(System.nanoTime() - askedAt);
    }

    /** Records the return of a connection to a pool that measures the time of use itself. */
    void returnedAfter(Duration time) {
        heldNanos.add(time.toNanos());
    }

    void returned(long takenAt) {
        heldNanos.add(System.nanoTime() - takenAt);
    }

    int waiting() {
        return (int) Math.max(0, waiting.sum());
    }

    PoolSnapshot.Builder into(PoolSnapshot.Builder snapshot) {
        return snapshot.counts(taken.sum(), refused.sum())
                .sums(Duration.ofNanos(waitedNanos.sum()), Duration.ofNanos(heldNanos.sum()));
    }
}
