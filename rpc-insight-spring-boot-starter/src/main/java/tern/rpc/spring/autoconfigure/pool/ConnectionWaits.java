package tern.rpc.spring.autoconfigure.pool;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import tern.rpc.AsyncOperation;
import tern.rpc.Phase;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Measures how long exchanges of WebClients wait for a connection, and how many connections are in use. The client hides
 * its limits, so the largest number of connections that were in use at once stands for the size of the pool. Thread-safe.
 */
final class ConnectionWaits {

    /** The pool's name, under which ledgers record waits for a connection. */
    private static final String NAME = "webclient";

    private final PoolSources sources;
    private final Borrowings borrowings = new Borrowings();
    private final AtomicInteger active = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicBoolean measured = new AtomicBoolean();
    private volatile String name = NAME;

    // Whether some exchanges use a client that does not report when it has a connection. It is then unknown which
    // exchanges wait for one.
    private volatile boolean unknown;

    ConnectionWaits(PoolSources sources) {
        this.sources = sources;
    }

    /** Begins to measure. Called when the first client is created that reports its connections. */
    void measure() {
        if (measured.compareAndSet(false, true)) {
            name = sources.nameFor(NAME);
            sources.add(name, this::snapshot);
        }
    }

    /** Records the start of an exchange. */
    Exchange begins(AsyncOperation operation) {
        return new Exchange(operation);
    }

    private PoolSnapshot snapshot() {
        int waiting = unknown ? 0 : borrowings.waiting();
        int used = active.get();
        int max = Math.max(Math.max(1, used), waiting > 0 ? most.get() : most.get() + 1);
        return borrowings
                .into(PoolSnapshot.builder(name, PoolKind.HTTP, max))
                .now(used, 0, waiting)
                .build();
    }

    /** One exchange. Thread-safe. */
    final class Exchange {
        private final AsyncOperation operation;
        private final long askedAt = borrowings.asked();
        private final AtomicBoolean waits = new AtomicBoolean(true);
        private final AtomicBoolean held = new AtomicBoolean();
        private volatile long takenAt;

        private Exchange(AsyncOperation operation) {
            this.operation = operation;
        }

        /**
         * Records that the exchange has a connection. Returns false if it had one before, as after a redirect.
         */
        boolean connected() {
            if (!waits.compareAndSet(true, false)) {
                return false;
            }
            takenAt = borrowings.taken(askedAt);
            held.set(true);
            most.accumulateAndGet(active.incrementAndGet(), Math::max);
            operation.waited(Phase.HTTP_CONNECTION, name);
            return true;
        }

        /** Records that the connection is no longer in use. */
        void released() {
            if (held.compareAndSet(true, false)) {
                active.decrementAndGet();
                borrowings.returned(takenAt);
            }
        }

        /** Records the end of the exchange. */
        void ends(boolean answered) {
            if (waits.compareAndSet(true, false)) {
                if (answered) {
                    unknown = true;
                    borrowings.left();
                } else {
                    borrowings.refused(askedAt);
                }
            }
        }
    }
}
