package tern.rpc;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The work of other threads for one call: the total times and counts by phase, and the parts of the call that these
 * threads are currently running. Thread-safe.
 */
final class OtherThreads {

    /** The maximum number of parts in the list of the call's running parts. */
    private static final int MAX_PARTS = 64;

    /** The maximum number of operations in the list of the call's running asynchronous operations. */
    private static final int MAX_OPERATIONS = 64;

    private static final int PHASES = Phase.values().length;

    // The first half of the array contains the time of each phase in nanoseconds. The second half contains the number
    // of operations of each phase.
    private final AtomicLongArray sums = new AtomicLongArray(2 * PHASES);
    private final List<CallLedger> parts = new ArrayList<>(2); // guarded by this
    private final List<AsyncOperation> running = new ArrayList<>(2); // guarded by this

    void add(Phase kind, long spentNanos) {
        sums.addAndGet(kind.ordinal(), spentNanos);
    }

    void count(Phase kind, int operations) {
        sums.addAndGet(PHASES + kind.ordinal(), operations);
    }

    long nanos(Phase kind) {
        return sums.get(kind.ordinal());
    }

    /**
     * Returns the time that the call's thread and the other threads spent in the given phase, in nanoseconds. See
     * {@link CallLedger#nanos}.
     *
     * @param own the phases of the call's thread
     */
    long nanosWith(PhaseClock own, Phase kind, long now) {
        long ofThread = own.nanos(kind, now);
        return switch (kind) {
            case UNATTRIBUTED -> Math.max(0, ofThread - allNanos());
            case OWN -> {
                long left = Math.max(0, allNanos() - own.nanos(Phase.UNATTRIBUTED, now));
                yield Math.max(0, ofThread - left) + nanos(kind);
            }
            default -> ofThread + nanos(kind);
        };
    }

    int count(Phase kind) {
        return (int) sums.get(PHASES + kind.ordinal());
    }

    /** Returns the total time of all phases in nanoseconds. */
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

    void begins(AsyncOperation operation) {
        count(operation.kind(), 1);
        synchronized (this) {
            if (running.size() < MAX_OPERATIONS) {
                running.add(operation);
            }
        }
    }

    /**
     * Records the end of an asynchronous operation.
     *
     * @param actual the kind of the operation, which may differ from the kind recorded at its start
     */
    void ends(AsyncOperation operation, Phase actual, long spentNanos) {
        if (actual != operation.kind()) {
            count(operation.kind(), -1);
            count(actual, 1);
        }
        add(actual, spentNanos);
        synchronized (this) {
            running.remove(operation);
        }
    }

    /**
     * Adds a task waiting for a thread to the list of running operations. The wait itself is counted when the task
     * starts.
     */
    synchronized void queued(AsyncOperation task) {
        if (running.size() < MAX_OPERATIONS) {
            running.add(task);
        }
    }

    synchronized void started(AsyncOperation task) {
        running.remove(task);
    }

    /** Returns the running operations that have a name, with their durations so far. */
    List<NamedTimes.Entry> unfinished(long now) {
        List<AsyncOperation> all;
        synchronized (this) {
            all = List.copyOf(running);
        }
        return all.stream()
                .map(operation -> operation.until(now))
                .filter(Objects::nonNull)
                .toList();
    }
}
