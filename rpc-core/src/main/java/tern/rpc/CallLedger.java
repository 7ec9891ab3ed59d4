package tern.rpc;

/**
 * Where the time of one served call went, and how many operations of each kind it made. Written by one thread at a time:
 * the one that serves the call; other threads may read {@link #phase()} and {@link #since()}, which tell what it does now.
 */
public final class CallLedger {

    private static final int PHASES = Phase.values().length;

    /** For threads that serve no call: keeps nothing. */
    private static final CallLedger NONE = new CallLedger(() -> 0, false);

    private final long[] nanos = new long[PHASES];
    private final int[] counts = new int[PHASES];
    private final NanoClock clock;
    private final boolean open;

    private volatile Phase phase = Phase.OWN; // written by the serving thread alone
    private volatile long since;

    /** Begins in {@link Phase#OWN}. */
    public CallLedger(NanoClock clock) {
        this(clock, true);
    }

    private CallLedger(NanoClock clock, boolean open) {
        this.clock = clock;
        this.open = open;
        this.since = clock.nanoTime();
    }

    /** One that keeps nothing: its times stay zero. */
    public static CallLedger none() {
        return NONE;
    }

    /**
     * An operation of this kind begins.
     *
     * @return what it interrupts, to be given to {@link #leave(Phase)} when the operation has ended
     */
    public Phase enter(Phase begun) {
        if (!open) {
            return begun;
        }
        Phase outer = turnTo(begun);
        counts[begun.ordinal()]++;
        return outer;
    }

    /** The operation has ended, and the call goes on with what it did before. */
    public void leave(Phase outer) {
        if (open) {
            turnTo(outer);
        }
    }

    private Phase turnTo(Phase next) {
        long now = clock.nanoTime();
        Phase last = phase;
        nanos[last.ordinal()] += now - since;
        since = now;
        phase = next;
        return last;
    }

    /** Adds what was measured elsewhere, and one operation. */
    public void add(Phase kind, long spentNanos) {
        if (open) {
            nanos[kind.ordinal()] += spentNanos;
            counts[kind.ordinal()]++;
        }
    }

    /** Time spent in ended stretches of this phase; a stretch is interrupted by the operations inside it. */
    public long nanos(Phase kind) {
        return nanos[kind.ordinal()];
    }

    /** Operations of this kind that began. */
    public int count(Phase kind) {
        return counts[kind.ordinal()];
    }

    /** What the call does now. Any thread. */
    public Phase phase() {
        return phase;
    }

    /** Since when, on the monotonic clock. Any thread. */
    public long since() {
        return since;
    }
}
