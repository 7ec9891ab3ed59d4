package tern.rpc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Where the time of one served call went, and how many operations of each kind it made. Written by one thread, the one
 * that runs the call; any thread may read it and may call what says so. A reader on another thread can be off by the one
 * stretch that ends at that moment.
 *
 * <p>What other threads do for the call adds up with what its own thread does: three operations of 40 ms side by side
 * are 120 ms.
 */
public final class CallLedger {

    private static final Phase[] PHASES = Phase.values();
    private static final int PHASE_BITS = 4;
    private static final int PHASE_MASK = (1 << PHASE_BITS) - 1;
    private static final VarHandle PRESENT;

    static {
        try {
            PRESENT = MethodHandles.lookup().findVarHandle(CallLedger.class, "present", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        if (PHASES.length > 1 << PHASE_BITS) {
            throw new ExceptionInInitializerError(PHASES.length + " phases do not fit into " + PHASE_BITS + " bits");
        }
    }

    /** For threads that serve no call: keeps nothing. */
    private static final CallLedger NONE = new CallLedger(() -> 0, 0, Phase.OWN, null, false);

    private final NanoClock clock;
    private final long begun;
    private final @Nullable CallLedger parent; // of the whole call; null if this is it
    private final boolean open;
    private final long threadId;

    private final long[] nanos = new long[PHASES.length]; // written by the call's thread
    private int @Nullable [] counts; // likewise; null until there was an operation

    /** The phase, and above it since how many nanoseconds after the beginning: one word, so that both fit together. */
    @SuppressWarnings("unused") // by PRESENT
    private long present; // written by the call's thread

    /** Sums of other threads: first the nanoseconds of each phase, then the counts. */
    private volatile @Nullable AtomicLongArray elsewhere; // made under this

    private CallLedger(NanoClock clock, long begun, Phase first, @Nullable CallLedger parent, boolean open) {
        this.clock = clock;
        this.begun = begun;
        this.parent = parent;
        this.open = open;
        this.threadId = Thread.currentThread().getId();
        this.present = first.ordinal();
    }

    /** Begins now, in {@link Phase#OWN}, to be written by this thread. */
    public CallLedger(NanoClock clock) {
        this(clock, clock.nanoTime(), Phase.OWN, null, true);
    }

    /**
     * Of a call that waited for a worker and is now being read by this thread.
     *
     * @param started when this thread took the call, on the clock
     * @param queuedNanos how long it had waited by then
     */
    public static CallLedger ofReceived(NanoClock clock, long started, long queuedNanos) {
        CallLedger ledger = new CallLedger(clock, started, Phase.DECODE, null, true);
        ledger.nanos[Phase.QUEUE.ordinal()] = queuedNanos;
        return ledger;
    }

    /** One that keeps nothing: its times stay zero. */
    public static CallLedger none() {
        return NONE;
    }

    /** That of the call, or the part of a call, that this thread works on; {@link #none()} when it serves none. */
    public static CallLedger current() {
        ServerContext serving = ServerContext.current();
        return serving == null ? NONE : serving.ledger();
    }

    /** Whether anything is kept; false for {@link #none()} alone. */
    public boolean isOpen() {
        return open;
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
        count(begun.ordinal());
        return turnTo(begun);
    }

    /** The operation has ended, and the call goes on with what it did before. */
    public void leave(Phase outer) {
        if (open) {
            turnTo(outer);
        }
    }

    /**
     * The call goes over to another phase, which counts as no operation.
     *
     * @return the one before
     */
    public Phase turnTo(Phase next) {
        if (!open) {
            return next;
        }
        long at = clock.nanoTime() - begun;
        long last = present;
        int ended = (int) last & PHASE_MASK;
        nanos[ended] += at - (last >>> PHASE_BITS);
        PRESENT.setRelease(this, at << PHASE_BITS | next.ordinal());
        return PHASES[ended];
    }

    /** Adds what this thread measured by itself, and one operation. */
    public void add(Phase kind, long spentNanos) {
        if (open) {
            nanos[kind.ordinal()] += spentNanos;
            count(kind.ordinal());
        }
    }

    private void count(int kind) {
        int[] known = counts;
        if (known == null) {
            known = new int[PHASES.length];
            counts = known;
        }
        known[kind]++;
    }

    /** An operation begins that this call's thread does not stand still for. Any thread. */
    public void beganElsewhere(Phase kind) {
        if (open) {
            whole().elsewhere().incrementAndGet(PHASES.length + kind.ordinal());
        }
    }

    /** Such an operation has ended. Any thread. */
    public void endedElsewhere(Phase kind, long spentNanos) {
        if (open) {
            whole().elsewhere().addAndGet(kind.ordinal(), spentNanos);
        }
    }

    /**
     * A ledger for a part of the call that the calling thread is about to work on while the call's own thread does
     * something else; {@link #join()} adds it to that of the whole call. Any thread.
     */
    public CallLedger child() {
        return open ? new CallLedger(clock, clock.nanoTime(), Phase.OWN, whole(), true) : NONE;
    }

    private CallLedger whole() {
        return parent == null ? this : parent;
    }

    /**
     * Adds what a part of a call has so far to the ledger of the whole: when the part ends, or the call does in the middle
     * of it. Any number of times, by the thread that writes the part; does nothing for a whole call.
     */
    public void join() {
        if (parent == null) {
            return;
        }
        turnTo(phase());
        AtomicLongArray sums = parent.elsewhere();
        int[] counted = counts;
        for (int i = 0; i < PHASES.length; i++) {
            if (nanos[i] != 0 && i != Phase.UNATTRIBUTED.ordinal()) {
                sums.addAndGet(i, nanos[i]);
            }
            if (counted != null && counted[i] != 0) {
                sums.addAndGet(PHASES.length + i, counted[i]);
                counted[i] = 0;
            }
            nanos[i] = 0;
        }
    }

    /** The call ends on this thread, perhaps in the middle of a part that it works on: adds that part. */
    public void joinPresentPart() {
        CallLedger present = current();
        if (present.parent == this) {
            present.join();
        }
    }

    private AtomicLongArray elsewhere() {
        AtomicLongArray sums = elsewhere;
        if (sums != null) {
            return sums;
        }
        synchronized (this) {
            sums = elsewhere;
            if (sums == null) {
                sums = new AtomicLongArray(2 * PHASES.length);
                elsewhere = sums;
            }
            return sums;
        }
    }

    /**
     * Time spent in this phase, the present stretch and other threads included; a stretch is interrupted by the
     * operations inside it. {@link Phase#UNATTRIBUTED} is what the work of other threads does not explain. Any thread.
     *
     * @param now on the clock
     */
    public long nanos(Phase kind, long now) {
        long last = (long) PRESENT.getAcquire(this);
        long own = nanos[kind.ordinal()];
        if (open && (last & PHASE_MASK) == kind.ordinal()) {
            own += Math.max(0, now - begun - (last >>> PHASE_BITS));
        }
        AtomicLongArray sums = elsewhere;
        if (sums == null) {
            return own;
        }
        return kind == Phase.UNATTRIBUTED ? Math.max(0, own - explained(sums)) : own + sums.get(kind.ordinal());
    }

    private static long explained(AtomicLongArray sums) {
        long all = 0;
        for (int i = 0; i < PHASES.length; i++) {
            all += sums.get(i);
        }
        return all;
    }

    /** Operations of this kind that began, on other threads too. Any thread. */
    public int count(Phase kind) {
        AtomicLongArray sums = elsewhere;
        int[] own = counts;
        return (own == null ? 0 : own[kind.ordinal()])
                + (sums == null ? 0 : (int) sums.get(PHASES.length + kind.ordinal()));
    }

    /** What the call does now. Any thread. */
    public Phase phase() {
        return PHASES[(int) ((long) PRESENT.getAcquire(this) & PHASE_MASK)];
    }

    /**
     * What the call does now and since when, as they belong together. Any thread.
     *
     * @param method for whoever reads it
     * @param runningNanos how long the call has been running
     * @param now on the clock
     */
    public RunningCall look(String method, long runningNanos, long now) {
        long last = (long) PRESENT.getAcquire(this);
        return new RunningCall(
                method,
                threadId,
                PHASES[(int) last & PHASE_MASK],
                Math.max(0, now - begun - (last >>> PHASE_BITS)),
                runningNanos);
    }
}
