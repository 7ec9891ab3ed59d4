package tern.rpc;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/** The work of other threads for one call: the sums by phase, and the parts that run now. Thread-safe. */
final class OtherThreads {

    /** Maximum number of listed parts. Further parts of the call are not listed. */
    private static final int MAX_PARTS = 64;

    private static final int PHASES = Phase.values().length;

    // nanoseconds by phase, followed by counts by phase
    private final AtomicLongArray sums = new AtomicLongArray(2 * PHASES);
    private final List<CallLedger> parts = new ArrayList<>(2); // guarded by this

    void add(Phase kind, long spentNanos) {
        sums.addAndGet(kind.ordinal(), spentNanos);
    }

    void count(Phase kind, int operations) {
        sums.addAndGet(PHASES + kind.ordinal(), operations);
    }

    long nanos(Phase kind) {
        return sums.get(kind.ordinal());
    }

    int count(Phase kind) {
        return (int) sums.get(PHASES + kind.ordinal());
    }

    /** The total time of all phases. */
    long allNanos() {
        long all = 0;
        for (int i = 0; i < PHASES; i++) {
            all += sums.get(i);
        }
        return all;
    }

    synchronized void begins(CallLedger part) {
        if (parts.size() < MAX_PARTS) {
            parts.add(part);
        }
    }

    synchronized void leaves(CallLedger part) {
        parts.remove(part);
    }

    synchronized List<CallLedger> parts() {
        return List.copyOf(parts);
    }
}
