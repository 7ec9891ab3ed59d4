package tern.rpc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Measures the time that one thread spends in each phase, and counts its operations. Only this thread writes; any
 * thread may read. If a phase ends during a read, the values read may not include this phase.
 */
final class PhaseClock {

    private static final Phase[] PHASES = Phase.values();
    private static final int PHASE_BITS = 4;
    private static final int PHASE_MASK = (1 << PHASE_BITS) - 1;
    private static final VarHandle CURRENT;

    /** The maximum number of counted operations of one kind in one call. */
    static final char MAX_COUNT = Character.MAX_VALUE;

    static {
        try {
            CURRENT = MethodHandles.lookup().findVarHandle(PhaseClock.class, "current", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        if (PHASES.length > 1 << PHASE_BITS) {
            throw new ExceptionInInitializerError(PHASES.length + " phases do not fit into " + PHASE_BITS + " bits");
        }
    }

    private final NanoClock clock;
    private final long begun;
    private final long[] nanos = new long[PHASES.length];
    private @Nullable String name; // the name of the last operation that was started with a name
    private @Nullable Phase namedPhase; // the phase of the last operation that was started with a name
    // The number of operations of each kind. Null until the first operation. Two bytes are enough for each kind, and
    // keep a call's memory small.
    private char @Nullable [] counts;

    // A copy of the times and counts at the end of the call. Null unless the thread may continue to work after the
    // call.
    private volatile @Nullable Final atEnd;

    /**
     * The current phase in the low four bits, and its start in the upper bits, in nanoseconds since {@code begun}. Both
     * values are in one field, so that a reader gets the start that belongs to the phase.
     */
    @SuppressWarnings("unused") // accessed only through the VarHandle CURRENT
    private long current;

    /**
     * @param phase the phase at the end of the call
     * @param name the name of the operation in this phase; null if it is unknown
     */
    private record Final(
            long[] nanos,
            char @Nullable [] counts,
            Phase phase,
            @Nullable String name) {}

    PhaseClock(NanoClock clock, long begun, Phase first) {
        this.clock = clock;
        this.begun = begun;
        this.current = first.ordinal();
    }

    NanoClock clock() {
        return clock;
    }

    /** @return the previous phase */
    Phase turnTo(Phase next) {
        long at = clock.nanoTime() - begun;
        long last = current;
        int ended = (int) last & PHASE_MASK;
        nanos[ended] += at - (last >>> PHASE_BITS);
        CURRENT.setRelease(this, at << PHASE_BITS | next.ordinal());
        return PHASES[ended];
    }

    /**
     * Changes the phase, and sets the name of its operation. The name may be null. A nested phase without a name keeps
     * the name of the outer phase.
     *
     * @return the previous phase
     */
    Phase turnTo(Phase next, @Nullable String name) {
        if (name != null || namedPhase == next) {
            this.name = name;
            namedPhase = next;
        }
        return turnTo(next);
    }

    /** Sets the name of the operation in the given phase. Does nothing if another phase has begun. */
    void rename(Phase kind, String known) {
        if (phase() == kind) {
            name = known;
            namedPhase = kind;
        }
    }

    /**
     * Returns the name of the operation in the given phase; null if another phase has begun, or if the name is not
     * known.
     */
    @Nullable
    String running(Phase kind) {
        return phase() == kind && namedPhase == kind ? name : null;
    }

    void add(Phase kind, long spentNanos) {
        nanos[kind.ordinal()] += spentNanos;
    }

    /** Counts one operation. The number of operations of one kind stops at {@link #MAX_COUNT}. */
    void count(Phase kind) {
        char[] known = counts;
        if (known == null) {
            known = new char[PHASES.length];
            counts = known;
        }
        if (known[kind.ordinal()] < MAX_COUNT) {
            known[kind.ordinal()]++;
        }
    }

    /**
     * Keeps the times and counts at the end of the call. Call this if the thread may continue to work after the end.
     * Without this copy, {@link #nanos} and {@link #counted} would include its later work. Any thread may call this.
     */
    void keep(long now) {
        long last = (long) CURRENT.getAcquire(this);
        long[] spent = nanos.clone();
        spent[(int) last & PHASE_MASK] += since(last, now);
        char[] known = counts;
        Phase phase = PHASES[(int) last & PHASE_MASK];
        atEnd = new Final(spent, known == null ? null : known.clone(), phase, running(phase));
    }

    /**
     * Returns the name of the operation of the given kind that the thread was running when another thread ended the
     * call; null if there is none, or if its name is not known.
     */
    @Nullable
    String runningAtEnd(Phase kind) {
        Final kept = atEnd;
        return kept != null && kept.phase == kind ? kept.name : null;
    }

    int counted(Phase kind) {
        Final kept = atEnd;
        char[] known = kept == null ? counts : kept.counts;
        return known == null ? 0 : known[kind.ordinal()];
    }

    /** Returns the time spent in the given phase until the last phase change, in nanoseconds. */
    long past(Phase kind) {
        return nanos[kind.ordinal()];
    }

    /** Returns the time spent in the given phase until the given time or the call's end, in nanoseconds. */
    long nanos(Phase kind, long now) {
        Final kept = atEnd;
        if (kept != null) {
            return kept.nanos[kind.ordinal()];
        }
        long last = (long) CURRENT.getAcquire(this);
        long spent = nanos[kind.ordinal()];
        return (last & PHASE_MASK) == kind.ordinal() ? spent + since(last, now) : spent;
    }

    Phase phase() {
        return PHASES[(int) ((long) CURRENT.getAcquire(this) & PHASE_MASK)];
    }

    /** Passes a consistent snapshot to the reader: the current phase and the time since this phase began. */
    <T> T look(long now, Look<T> reader) {
        long last = (long) CURRENT.getAcquire(this);
        return reader.at(PHASES[(int) last & PHASE_MASK], since(last, now));
    }

    /** Receives a phase and the time since it began. */
    @FunctionalInterface
    interface Look<T> {
        T at(Phase phase, long sinceNanos);
    }

    private long since(long last, long now) {
        return Math.max(0, now - begun - (last >>> PHASE_BITS));
    }

    /**
     * Moves all recorded times and counts to the totals of a call that another thread runs. The time in
     * {@link Phase#UNATTRIBUTED} is dropped.
     *
     * @param share the fraction of each time that is added to the totals
     */
    void moveTo(OtherThreads sums, double share) {
        for (Phase kind : PHASES) {
            int i = kind.ordinal();
            if (nanos[i] != 0 && kind != Phase.UNATTRIBUTED) {
                sums.add(kind, (long) (nanos[i] * share));
            }
            nanos[i] = 0;
            if (counts != null && counts[i] != 0) {
                sums.count(kind, counts[i]);
                counts[i] = 0;
            }
        }
    }

    /** Returns the time spent in all phases until the last phase change, in nanoseconds. */
    long allPast() {
        long all = 0;
        for (long spent : nanos) {
            all += spent;
        }
        return all;
    }
}
