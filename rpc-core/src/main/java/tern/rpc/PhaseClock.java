package tern.rpc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The times and counts of one thread by phase. One thread writes it. Any thread may read it, but may miss a phase that
 * ends while it reads.
 */
final class PhaseClock {

    private static final Phase[] PHASES = Phase.values();
    private static final int PHASE_BITS = 4;
    private static final int PHASE_MASK = (1 << PHASE_BITS) - 1;
    private static final VarHandle CURRENT;

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
    private int @Nullable [] counts; // null until there is an operation

    /**
     * The phase in the low bits, and above it the start of the phase in nanoseconds since the creation of this clock.
     * Both are in one word, so a reader gets a consistent pair.
     */
    @SuppressWarnings("unused") // accessed by CURRENT
    private long current;

    PhaseClock(NanoClock clock, long begun, Phase first) {
        this.clock = clock;
        this.begun = begun;
        this.current = first.ordinal();
    }

    NanoClock clock() {
        return clock;
    }

    /** @return the phase before */
    Phase turnTo(Phase next) {
        long at = clock.nanoTime() - begun;
        long last = current;
        int ended = (int) last & PHASE_MASK;
        nanos[ended] += at - (last >>> PHASE_BITS);
        CURRENT.setRelease(this, at << PHASE_BITS | next.ordinal());
        return PHASES[ended];
    }

    void add(Phase kind, long spentNanos) {
        nanos[kind.ordinal()] += spentNanos;
    }

    void count(Phase kind) {
        int[] known = counts;
        if (known == null) {
            known = new int[PHASES.length];
            counts = known;
        }
        known[kind.ordinal()]++;
    }

    int counted(Phase kind) {
        int[] known = counts;
        return known == null ? 0 : known[kind.ordinal()];
    }

    /** The time in this phase without the current stretch. */
    long past(Phase kind) {
        return nanos[kind.ordinal()];
    }

    /** The time in this phase including the current stretch. */
    long nanos(Phase kind, long now) {
        long last = (long) CURRENT.getAcquire(this);
        long spent = nanos[kind.ordinal()];
        return (last & PHASE_MASK) == kind.ordinal() ? spent + since(last, now) : spent;
    }

    Phase phase() {
        return PHASES[(int) ((long) CURRENT.getAcquire(this) & PHASE_MASK)];
    }

    /** A consistent snapshot of the current phase and the time in it. */
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

    /** Moves all finished times and counts to the sums of a call that another thread runs. */
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

    /** The total of all finished times. */
    long allPast() {
        long all = 0;
        for (long spent : nanos) {
            all += spent;
        }
        return all;
    }
}
