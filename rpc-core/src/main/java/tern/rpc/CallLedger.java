package tern.rpc;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The time of one served call by phase, and its number of operations of each kind. Only the thread that runs the call
 * writes it. Any thread may read it, and may call the methods that say so. Another thread may miss a phase that ends
 * while it reads.
 *
 * <p>Work of other threads for the call is added: three parallel operations of 40 ms count 120 ms.
 */
public final class CallLedger {

    /** Operations of at least this time are recorded with their names. */
    private static final long NAMED_FROM_NANOS = 100_000;

    /** If a call makes at least this number of operations of one kind, short ones are recorded with their names too. */
    private static final int NAMED_FROM_COUNT = 8;

    /** The ledger of threads that serve no call. It records nothing. */
    private static final CallLedger NONE = new CallLedger(() -> 0, 0, Phase.OWN, null, false);

    /** The ledger of a call that is not an RPC call, such as a web request. */
    private static final ThreadLocal<@Nullable CallLedger> OTHER_CALL = new ThreadLocal<>();

    private final PhaseClock phases; // written only by the call's thread
    private final @Nullable CallLedger parent; // the ledger of the whole call; null if this is it
    private final boolean open;
    private final Thread thread = Thread.currentThread();

    // guarded by this when it is created; null until another thread works for the call
    private volatile @Nullable OtherThreads others;
    // guarded by this when it is created; null until an operation was long enough to be named
    private volatile @Nullable NamedTimes named;
    private long idleBefore; // for a part of a call: the idle time of the whole call when this part was last joined
    private volatile boolean ended;

    private CallLedger(NanoClock clock, long begun, Phase first, @Nullable CallLedger parent, boolean open) {
        this.phases = new PhaseClock(clock, begun, first);
        this.parent = parent;
        this.open = open;
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
        ledger.phases.add(Phase.QUEUE, queuedNanos);
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
     * Sets the ledger of the call that the current thread works on, for a call that is not an RPC call, such as a web
     * request.
     *
     * @param ledger null for none
     * @return the previous ledger, which the caller restores at the end of its work
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
        phases.count(begun);
        return phases.turnTo(begun);
    }

    /** Ends the operation. The call returns to its earlier phase. */
    public void leave(Phase outer) {
        if (open) {
            phases.turnTo(outer);
        }
    }

    /**
     * Ends the operation and records its time under a name, which can explain a slow call. Short operations are
     * recorded without a name, unless the call makes many of this kind. The time of nested operations does not count.
     *
     * @param name the resource that the call waited for, such as a statement without its values, a host or a pool; it
     *     must contain no secrets and have few different values
     */
    public void leave(Phase outer, @Nullable String name) {
        leave(outer, name, 1);
    }

    /**
     * Ends a stretch that {@link #turnTo} began, and adds its time to the operation with this name, such as the time of
     * reading a result. No operation is counted.
     */
    public void returnTo(Phase outer, @Nullable String name) {
        leave(outer, name, 0);
    }

    private void leave(Phase outer, @Nullable String name, int operations) {
        if (!open) {
            return;
        }
        Phase kind = phases.phase();
        long before = phases.past(kind);
        phases.turnTo(outer);
        long spent = phases.past(kind) - before;
        if (name != null && (spent >= NAMED_FROM_NANOS || phases.counted(kind) >= NAMED_FROM_COUNT)) {
            record(kind, name, spent, operations);
        }
    }

    private void named(Phase kind, String name, long spentNanos) {
        if (spentNanos >= NAMED_FROM_NANOS) {
            record(kind, name, spentNanos, 1);
        }
    }

    /**
     * Records a named operation. Does nothing after the call was answered, because later work is not part of its time.
     */
    private void record(Phase kind, String name, long spentNanos, int operations) {
        CallLedger call = whole();
        if (!call.ended) {
            call.namedTimes().add(kind, name, spentNanos, operations);
        }
    }

    /**
     * The operations of this call that were long enough to have a name; empty if there are none. Any thread may call
     * this.
     */
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

    /** Marks the call as answered and counted. Any thread may call this. */
    public void end() {
        ended = true;
    }

    /** Whether the call was answered and counted. Resources that it borrowed and has not returned by then are lost. */
    public boolean isEnded() {
        return whole().ended;
    }

    /**
     * Changes the phase without counting an operation, for example to read the result of an operation.
     *
     * @return the phase before
     */
    public Phase turnTo(Phase next) {
        return open ? phases.turnTo(next) : next;
    }

    /** Adds a time that this thread measured, and one operation with its name. */
    public void add(Phase kind, long spentNanos, String name) {
        if (open) {
            add(kind, spentNanos);
            named(kind, name, spentNanos);
        }
    }

    /** Adds a time that this thread measured, and one operation. */
    public void add(Phase kind, long spentNanos) {
        if (open) {
            phases.add(kind, spentNanos);
            phases.count(kind);
        }
    }

    /** Starts an operation for which the call's thread does not wait. Any thread may call this. */
    public void beganElsewhere(Phase kind) {
        if (open) {
            whole().others().count(kind, 1);
        }
    }

    /**
     * Ends an operation of {@link #beganElsewhere}. Any thread may call this.
     *
     * @param name as for {@link #leave(Phase, String)}
     */
    public void endedElsewhere(Phase kind, long spentNanos, @Nullable String name) {
        if (!open || whole().ended) {
            return;
        }
        whole().others().add(kind, spentNanos);
        if (name != null) {
            named(kind, name, spentNanos);
        }
    }

    /**
     * Creates a ledger for a part of the call. The calling thread works on this part while the call's own thread does
     * something else. {@link #join()} adds it to the ledger of the whole call. Any thread may call this.
     */
    public CallLedger child() {
        return child(idleNanos());
    }

    /** @param idleBefore the idle time of the whole call when it started to depend on the part */
    CallLedger child(long idleBefore) {
        if (!open) {
            return NONE;
        }
        CallLedger call = whole();
        CallLedger part = new CallLedger(phases.clock(), now(), Phase.OWN, call, true);
        part.idleBefore = idleBefore;
        call.others().begins(part);
        return part;
    }

    /** The parts of this call that other threads work on now, 64 at most. Any thread may call this. */
    public List<CallLedger> parts() {
        OtherThreads known = whole().others;
        return known == null ? List.of() : known.parts();
    }

    /**
     * The total time in which the thread of the call ran no operation. In this time the thread may have waited for
     * others.
     */
    long idleNanos() {
        if (!open) {
            return 0;
        }
        PhaseClock call = whole().phases;
        long now = now();
        return call.nanos(Phase.OWN, now) + call.nanos(Phase.UNATTRIBUTED, now);
    }

    /** The current time on the clock of the call. */
    long now() {
        return phases.clock().nanoTime();
    }

    /** Whether both ledgers record the same call, or parts of it. */
    boolean isOfSameCall(CallLedger other) {
        return open && whole() == other.whole();
    }

    private CallLedger whole() {
        return parent == null ? this : parent;
    }

    /**
     * Adds the record of a part to the ledger of the whole call, at the end of the part or of the call. May be called
     * several times, by the thread that writes the part. Does nothing for a whole call.
     *
     * <p>A call does not wait for its parts while its own thread runs operations. Hence a part counts only for the time
     * in which the call's thread was idle, and not at all after the call was answered.
     */
    public void join() {
        if (parent == null) {
            return;
        }
        phases.turnTo(phases.phase());
        long idle = idleNanos();
        long all = phases.allPast();
        double share = all == 0 ? 1 : Math.min(1, (double) (idle - idleBefore) / all);
        idleBefore = idle;
        phases.moveTo(parent.others(), parent.ended ? 0 : Math.max(0, share));
    }

    /** Adds a part to the whole call. Its thread does no further work for the call. */
    public void joinAndLeave() {
        if (parent != null) {
            join();
            parent.others().leaves(this);
        }
    }

    /** Adds the part that this thread works on. Called when the call ends on this thread. */
    public void joinPresentPart() {
        CallLedger ofThread = current();
        if (ofThread.parent == this) {
            ofThread.join();
        }
    }

    private OtherThreads others() {
        OtherThreads known = others;
        if (known != null) {
            return known;
        }
        synchronized (this) {
            known = others;
            if (known == null) {
                known = new OtherThreads();
                others = known;
            }
            return known;
        }
    }

    /**
     * The time spent in this phase, including the current stretch and other threads. Operations inside a phase do not
     * count for it. The work of other threads explains {@link Phase#UNATTRIBUTED} and {@link Phase#OWN}, in which the
     * call's thread may wait for them, and is subtracted from these. Any thread may call this.
     *
     * @param now the current time on the clock
     */
    public long nanos(Phase kind, long now) {
        long own = ofThread(kind, now);
        OtherThreads known = others;
        if (known == null) {
            return own;
        }
        return switch (kind) {
            case UNATTRIBUTED -> Math.max(0, own - known.allNanos());
            case OWN -> {
                long left = Math.max(0, known.allNanos() - ofThread(Phase.UNATTRIBUTED, now));
                yield Math.max(0, own - left) + known.nanos(kind);
            }
            default -> own + known.nanos(kind);
        };
    }

    /** The time that the thread of this ledger spent in the phase. */
    private long ofThread(Phase kind, long now) {
        return open ? phases.nanos(kind, now) : 0;
    }

    /**
     * The number of operations of this kind that have started, including those of other threads. Any thread may call
     * this.
     */
    public int count(Phase kind) {
        OtherThreads known = others;
        return phases.counted(kind) + (known == null ? 0 : known.count(kind));
    }

    /** The current phase. Any thread may call this. */
    public Phase phase() {
        return phases.phase();
    }

    /**
     * A consistent snapshot of the current phase and its start. Any thread may call this.
     *
     * @param method the method's name, for the reader
     * @param runningNanos the time that the call has run
     * @param now the current time on the clock
     */
    public RunningCall look(String method, long runningNanos, long now) {
        return phases.look(
                now, (phase, since) -> new RunningCall(method, thread.getId(), phase, since, runningNanos, this));
    }
}
