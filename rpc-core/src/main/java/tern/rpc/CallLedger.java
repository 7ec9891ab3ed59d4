package tern.rpc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The time of one served call by phase, and its number of operations of each kind. Only the thread that runs the call
 * writes it. Any thread may read it, and may call the methods that say so. A read by another thread may miss the phase
 * that ends at that moment.
 *
 * <p>Work of other threads for the call is added: three operations of 40 ms side by side count 120 ms.
 */
public final class CallLedger {

    private static final Phase[] PHASES = Phase.values();
    private static final int PHASE_BITS = 4;
    private static final int PHASE_MASK = (1 << PHASE_BITS) - 1;

    /** Operations from this time on are recorded with their names. */
    private static final long NAMED_FROM_NANOS = 100_000;

    /** From this number of operations of one kind on, short ones are recorded with their names too. */
    private static final int NAMED_FROM_COUNT = 8;

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

    /** The ledger of threads that serve no call. It records nothing. */
    private static final CallLedger NONE = new CallLedger(() -> 0, 0, Phase.OWN, null, false);

    /** The ledger of a call that is no RPC call, such as a web request. */
    private static final ThreadLocal<@Nullable CallLedger> OTHER_CALL = new ThreadLocal<>();

    private final NanoClock clock;
    private final long begun;
    private final @Nullable CallLedger parent; // the ledger of the whole call; null if this is it
    private final boolean open;
    private final Thread thread = Thread.currentThread();

    private final long[] nanos = new long[PHASES.length]; // written by the call's thread
    private int @Nullable [] counts; // likewise; null until there was an operation

    /**
     * The phase in the low bits, and above it the start of the phase in nanoseconds since the beginning. One word, so
     * that a reader sees both of the same moment.
     */
    @SuppressWarnings("unused") // by PRESENT
    private long present; // written by the call's thread

    /** The sums of other threads: first the nanoseconds of each phase, then the counts. */
    private volatile @Nullable AtomicLongArray elsewhere; // made under this

    private volatile @Nullable NamedTimes named; // made under this; null until an operation was long enough
    private volatile boolean ended;

    private CallLedger(NanoClock clock, long begun, Phase first, @Nullable CallLedger parent, boolean open) {
        this.clock = clock;
        this.begun = begun;
        this.parent = parent;
        this.open = open;
        this.present = first.ordinal();
    }

    /** Creates a ledger that starts now in {@link Phase#OWN}. Only the calling thread may write it. */
    public CallLedger(NanoClock clock) {
        this(clock, clock.nanoTime(), Phase.OWN, null, true);
    }

    /**
     * Creates the ledger of a call that waited for a worker. The calling thread is about to decode it.
     *
     * @param started the time at which this thread took the call, on the clock
     * @param queuedNanos the time that the call had waited by then
     */
    public static CallLedger ofReceived(NanoClock clock, long started, long queuedNanos) {
        CallLedger ledger = new CallLedger(clock, started, Phase.DECODE, null, true);
        ledger.nanos[Phase.QUEUE.ordinal()] = queuedNanos;
        return ledger;
    }

    /** A ledger that records nothing. Its times stay zero. */
    public static CallLedger none() {
        return NONE;
    }

    /**
     * The ledger of the call, or of the part of a call, that the current thread works on; {@link #none()} if it works
     * on no call.
     */
    public static CallLedger current() {
        ServerContext serving = ServerContext.current();
        if (serving != null) {
            return serving.ledger();
        }
        return ofOtherCall();
    }

    /** The ledger set by {@link #replace}; {@link #none()} if there is none. */
    public static CallLedger ofOtherCall() {
        CallLedger other = OTHER_CALL.get();
        return other == null ? NONE : other;
    }

    /**
     * Sets the ledger of the call that the current thread works on and that is no RPC call, such as a web request.
     *
     * @param ledger null for none
     * @return the ledger before, which the caller sets again at the end of its work
     */
    public static @Nullable CallLedger replace(@Nullable CallLedger ledger) {
        CallLedger before = OTHER_CALL.get();
        if (ledger == null) {
            OTHER_CALL.remove();
        } else {
            OTHER_CALL.set(ledger);
        }
        return before;
    }

    /** Whether this ledger records anything; false for {@link #none()} alone. */
    public boolean isOpen() {
        return open;
    }

    /**
     * Starts an operation of this kind.
     *
     * @return the interrupted phase, to be passed to {@link #leave(Phase)} at the end of the operation
     */
    public Phase enter(Phase begun) {
        if (!open) {
            return begun;
        }
        count(begun.ordinal());
        return turnTo(begun);
    }

    /** Ends the operation. The call returns to its earlier phase. */
    public void leave(Phase outer) {
        if (open) {
            turnTo(outer);
        }
    }

    /**
     * Ends the operation and records its time under a name, so that a slow call can be explained by it. Short
     * operations are recorded without a name, unless the call makes many of this kind. The time of operations inside
     * this one does not count.
     *
     * @param name what was waited for, such as a statement without its values, a host, or a pool; without secrets and
     *     with few different values
     */
    public void leave(Phase outer, @Nullable String name) {
        if (!open) {
            return;
        }
        int kind = (int) present & PHASE_MASK;
        long before = nanos[kind];
        turnTo(outer);
        long spent = nanos[kind] - before;
        if (name != null && (spent >= NAMED_FROM_NANOS || counted(kind) >= NAMED_FROM_COUNT)) {
            whole().namedTimes().add(PHASES[kind], name, spent);
        }
    }

    private int counted(int kind) {
        int[] known = counts;
        return known == null ? 0 : known[kind];
    }

    /** The operations of this call that were long enough to have a name; empty if there was none. Any thread. */
    public List<NamedTimes.Entry> named() {
        NamedTimes times = whole().named;
        return times == null ? List.of() : times.entries();
    }

    private NamedTimes namedTimes() {
        NamedTimes times = named;
        if (times != null) {
            return times;
        }
        synchronized (this) {
            times = named;
            if (times == null) {
                times = new NamedTimes();
                named = times;
            }
            return times;
        }
    }

    /** The thread that works on the call, or on this part of it. */
    public Thread thread() {
        return thread;
    }

    /** The call was answered and counted. Any thread may call this. */
    public void end() {
        ended = true;
    }

    /**
     * Whether the call was answered and counted. What it borrowed and has not returned by now is not used by it any
     * more.
     */
    public boolean isEnded() {
        return whole().ended;
    }

    /**
     * Changes the phase without counting an operation.
     *
     * @return the phase before
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

    /** Adds a time that this thread measured, and one operation. */
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

    /** Starts an operation for which the call's thread does not wait. Any thread may call this. */
    public void beganElsewhere(Phase kind) {
        if (open) {
            whole().elsewhere().incrementAndGet(PHASES.length + kind.ordinal());
        }
    }

    /**
     * Ends an operation of {@link #beganElsewhere}. Any thread may call this.
     *
     * @param name as for {@link #leave(Phase, String)}
     */
    public void endedElsewhere(Phase kind, long spentNanos, @Nullable String name) {
        if (!open) {
            return;
        }
        whole().elsewhere().addAndGet(kind.ordinal(), spentNanos);
        if (name != null && spentNanos >= NAMED_FROM_NANOS) {
            whole().namedTimes().add(kind, name, spentNanos);
        }
    }

    /**
     * Creates a ledger for a part of the call. The calling thread works on this part while the call's own thread does
     * something else. {@link #join()} adds it to the ledger of the whole call. Any thread may call this.
     */
    public CallLedger child() {
        return open ? new CallLedger(clock, clock.nanoTime(), Phase.OWN, whole(), true) : NONE;
    }

    private CallLedger whole() {
        return parent == null ? this : parent;
    }

    /**
     * Adds the record of a part to the ledger of the whole call, at the end of the part or of the call. May be called
     * several times, by the thread that writes the part. Does nothing for a whole call.
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

    /** Adds the part that this thread works on, because the call ends on this thread. */
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
     * The time spent in this phase, including the present stretch and other threads. Operations inside a phase do not
     * count to it. {@link Phase#UNATTRIBUTED} is the time that the work of other threads does not explain. Any thread
     * may call this.
     *
     * @param now the current time on the clock
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

    /**
     * The number of operations of this kind that have started, including those of other threads. Any thread may call
     * this.
     */
    public int count(Phase kind) {
        AtomicLongArray sums = elsewhere;
        int[] own = counts;
        return (own == null ? 0 : own[kind.ordinal()])
                + (sums == null ? 0 : (int) sums.get(PHASES.length + kind.ordinal()));
    }

    /** The present phase. Any thread may call this. */
    public Phase phase() {
        return PHASES[(int) ((long) PRESENT.getAcquire(this) & PHASE_MASK)];
    }

    /**
     * The present phase and its start, both of the same moment. Any thread may call this.
     *
     * @param method the method's name, for the reader
     * @param runningNanos the time that the call has run
     * @param now the current time on the clock
     */
    public RunningCall look(String method, long runningNanos, long now) {
        long last = (long) PRESENT.getAcquire(this);
        return new RunningCall(
                method,
                thread.getId(),
                PHASES[(int) last & PHASE_MASK],
                Math.max(0, now - begun - (last >>> PHASE_BITS)),
                runningNanos,
                this);
    }
}
