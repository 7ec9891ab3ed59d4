package tern.rpc;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Records the time that a served call spends in each phase, and counts the call's operations of each kind. Any thread
 * may read the ledger. Only the thread that runs the call may write to it, unless the comment of a method allows any
 * thread. If a phase ends while the ledger is being read, the values read may not include this phase.
 *
 * <p>The ledger includes the work of other threads for the call. For example, three parallel operations of 40 ms add
 * 120 ms.
 */
public final class CallLedger {

    /**
     * The minimum duration of an operation that is recorded with its name. All failed operations and all rollbacks are
     * also recorded with their names.
     */
    private static final long NAMED_FROM_NANOS = 100_000;

    /**
     * If a call makes at least {@value} operations of one kind, short operations of this kind are also recorded with
     * their names. See {@link #NAMED_FROM_NANOS}.
     */
    private static final int NAMED_FROM_COUNT = 8;

    /** The ledger of a thread that serves no call. This ledger records nothing. */
    private static final CallLedger NONE = new CallLedger(() -> 0, 0, Phase.OWN, null, false);

    /**
     * The ledger of the current thread while it is working on something other than an RPC call, such as a web request.
     */
    private static final ThreadLocal<@Nullable CallLedger> OTHER_CALL = new ThreadLocal<>();

    private final PhaseClock phases; // The phase is changed only by the thread that created this ledger.
    // The part of a call that this ledger records; null if this ledger records a whole call.
    private final @Nullable CallPart part;
    private final boolean open;
    private final Thread thread = Thread.currentThread();

    // Created under the lock on this ledger; null until another thread works for the call.
    private volatile @Nullable OtherThreads others;
    // Created under the lock on this ledger; null until the first operation is recorded with its name.
    private volatile @Nullable NamedTimes named;
    private volatile @Nullable LaterResult later;
    private volatile boolean ended;
    private long endedNanos; // the time when the call ended, on the call's clock; written before "ended" is set

    private CallLedger(NanoClock clock, long begun, Phase first, @Nullable CallPart part, boolean open) {
        this.phases = new PhaseClock(clock, begun, first);
        this.part = part;
        this.open = open;
    }

    /**
     * Creates a ledger that starts at the current time in phase {@link Phase#OWN}. Only the calling thread may
     * write to it.
     */
    public CallLedger(NanoClock clock) {
        this(clock, clock.nanoTime(), Phase.OWN, null, true);
    }

    /**
     * Creates the ledger of a call that waited for a worker. The ledger starts in phase {@link Phase#DECODE}, because
     * the calling thread decodes the call next.
     *
     * @param started the time when the calling thread took the call from the queue, on the given clock
     * @param queuedNanos the time that the call spent in the queue, in nanoseconds
     */
    public static CallLedger ofReceived(NanoClock clock, long started, long queuedNanos) {
        CallLedger ledger = new CallLedger(clock, started, Phase.DECODE, null, true);
        ledger.phases.add(Phase.QUEUE, queuedNanos);
        return ledger;
    }

    /** Returns the ledger that records nothing. All of its times are zero. */
    public static CallLedger none() {
        return NONE;
    }

    /**
     * Returns the ledger of the call that the current thread serves. If the thread runs a part of another thread's
     * call, returns the ledger of this part. Returns {@link #none()} if the thread is not working on a call.
     */
    public static CallLedger current() {
        ServerContext serving = ServerContext.current();
        return serving == null ? ofOtherCall() : serving.ledger();
    }

    /** Returns the ledger that {@link #replace} set for the current thread; {@link #none()} if no ledger is set. */
    public static CallLedger ofOtherCall() {
        CallLedger other = OTHER_CALL.get();
        return other == null ? NONE : other;
    }

    /**
     * Sets the ledger that the current thread uses while it is working on something other than an RPC call, such as a
     * web request.
     *
     * @param ledger the ledger; null to remove the current ledger
     * @return the previous ledger or null; the caller must restore it when the work ends
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

    /** Returns whether this ledger records anything; false only for {@link #none()}. */
    public boolean isOpen() {
        return open;
    }

    /**
     * Starts an operation of the given kind.
     *
     * @return the phase that the operation interrupts; pass it to {@link #leave(Phase)} when the operation ends
     */
    public Phase enter(Phase begun) {
        return enter(begun, null);
    }

    /**
     * Starts an operation whose name is already known. While the operation runs, {@link #running} returns this name.
     *
     * @param name as in {@link #leave(Phase, String)}; null if the name is not known yet
     * @return the phase that the operation interrupts
     */
    public Phase enter(Phase begun, @Nullable String name) {
        if (!open) {
            return begun;
        }
        phases.count(begun);
        return phases.turnTo(begun, name);
    }

    /**
     * Returns the name of the operation of the given kind that the call's thread is running. Returns null if the thread
     * runs no operation of this kind, or if the name is not known yet. Any thread may call this.
     */
    public @Nullable String running(Phase kind) {
        return phases.running(kind);
    }

    /**
     * Returns the name of the operation of the given kind that the call's thread was running when another thread ended
     * the call, for example at its deadline. Returns null if the thread ran no operation of this kind, or if its name
     * was not known. Any thread may call this.
     */
    public @Nullable String runningAtEnd(Phase kind) {
        return phases.runningAtEnd(kind);
    }

    /**
     * Renames the operation of the given kind that the call's thread is running, for example to a name that includes
     * the operation's result. {@link #running} then returns this name. Does nothing if the thread runs no operation of
     * this kind.
     *
     * @param name as in {@link #leave(Phase, String)}
     */
    public void rename(Phase kind, String name) {
        if (open) {
            phases.rename(kind, name);
        }
    }

    /**
     * Ends the current operation.
     *
     * @param outer the phase to return to, as returned by {@link #enter}
     */
    public void leave(Phase outer) {
        if (open) {
            phases.turnTo(outer);
        }
    }

    /**
     * Ends the current operation and records its duration under a name, to explain slow calls. An operation shorter
     * than 0.1 ms is recorded without its name, unless the operation failed or the call has made at least eight
     * operations of this kind. The duration excludes nested operations.
     *
     * @param name the resource that the call waited for, such as a host, a pool, or a statement without its values.
     *     Names must contain no secrets, and the number of different names must be small
     */
    public void leave(Phase outer, @Nullable String name) {
        leave(outer, name, 1);
    }

    /**
     * Ends the phase begun by {@link #turnTo}, and adds its duration to the operation with the given name. For example,
     * the time for reading a query's result is added to the query. The operation count does not increase.
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
        if (name != null
                && (spent >= NAMED_FROM_NANOS
                        || phases.counted(kind) >= NAMED_FROM_COUNT
                        || NamedTimes.explains(name))) {
            record(kind, name, spent, operations);
        }
    }

    /** Records a measured operation with its name, unless it was short and succeeded. Any thread may call this. */
    void named(Phase kind, String name, long spentNanos) {
        if (spentNanos >= NAMED_FROM_NANOS || NamedTimes.explains(name)) {
            record(kind, name, spentNanos, 1);
        }
    }

    /**
     * Records a named operation. Does nothing after the call has been answered, because later work does not belong to
     * the call's response time.
     */
    private void record(Phase kind, String name, long spentNanos, int operations) {
        CallLedger call = whole();
        if (!call.ended) {
            call.namedTimes().add(kind, name, spentNanos, operations);
        }
    }

    /** Returns this call's named operations; may be empty. Any thread may call this. */
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

    /**
     * Returns the thread that created this ledger. This thread runs the call, or the part of the call that the ledger
     * records.
     */
    public Thread thread() {
        return thread;
    }

    /**
     * Records that the call has ended: its answer has been sent and its meters have been updated. If another thread
     * ends the call, for example at its deadline, an operation that the call's thread is running is recorded with its
     * time until the end. Any thread may call this.
     */
    public void end() {
        long now = now();
        boolean mayWorkOn = phases.phase() != Phase.UNATTRIBUTED || others != null;
        if (mayWorkOn && Thread.currentThread() != thread) {
            keepUntil(now);
        }
        endedNanos = now;
        ended = true;
    }

    /** Keeps the times until the end of the call, and records the operation that the call's thread is running. */
    private void keepUntil(long now) {
        phases.keep(now);
        Phase kind = phases.phase();
        String name = phases.running(kind);
        if (name != null) {
            named(kind, name, phases.look(now, (phase, nanos) -> phase == kind ? nanos : 0));
        }
    }

    /**
     * Returns whether the call has ended. If the call has not returned a borrowed resource before its end, the resource
     * has leaked.
     */
    public boolean isEnded() {
        return whole().ended;
    }

    /** Records that the call's method has returned before its result was complete. */
    public void continuesWith(LaterResult result) {
        later = result;
    }

    /** Returns the result of a method that returned before its result was complete; null for any other method. */
    public @Nullable LaterResult laterResult() {
        return whole().later;
    }

    /** Returns the time when the call ended, on the ledger's clock; 0 if the call is still running. */
    public long endedNanos() {
        return whole().endedNanos;
    }

    /**
     * Changes the phase without counting an operation, for example to read an operation's result.
     *
     * @return the previous phase
     */
    public Phase turnTo(Phase next) {
        return open ? phases.turnTo(next) : next;
    }

    /**
     * Changes the phase without counting an operation. Until the phase ends, {@link #running} returns the given name.
     *
     * @return the previous phase
     */
    public Phase turnTo(Phase next, @Nullable String name) {
        return open ? phases.turnTo(next, name) : next;
    }

    /** Records one operation with its name and with the duration that the calling thread has measured. */
    public void add(Phase kind, long spentNanos, String name) {
        if (open) {
            add(kind, spentNanos);
            named(kind, name, spentNanos);
        }
    }

    /** Records one operation with the duration that the calling thread has measured. */
    public void add(Phase kind, long spentNanos) {
        if (open) {
            phases.add(kind, spentNanos);
            phases.count(kind);
        }
    }

    /**
     * Records the start of an operation that does not block the call's thread. Any thread may call this.
     *
     * @param name returns the operation's name, as in {@link #leave(Phase, String)}, or null if the operation has no
     *     name; called when the operation ends, or when a diagnosis reads the ledger
     * @return the operation; the caller must end it
     */
    public AsyncOperation begin(Phase kind, Supplier<@Nullable String> name) {
        return AsyncOperation.begin(this, kind, name);
    }

    /**
     * Returns the asynchronous operations that were still running when the call ended, and the tasks that were still
     * waiting for a thread. While the call is running, returns the operations that are currently running and the tasks
     * that are currently waiting. The list has at most 64 entries. {@link #nanos} does not include the times of these
     * operations and tasks, because the call did not necessarily wait for them. Any thread may call this method.
     */
    public List<NamedTimes.Entry> unfinished() {
        CallLedger call = whole();
        OtherThreads known = call.others;
        return known == null ? List.of() : known.unfinished(call.ended ? call.endedNanos : call.now());
    }

    /**
     * Creates a ledger for a part of the call that the calling thread runs while the call's own thread does something
     * else. {@link #join()} adds the part to the ledger of the whole call. Any thread may call this.
     */
    public CallLedger child() {
        return child(idleNanos());
    }

    /** @param idleBefore the idle time of the whole call when the part was submitted or created, in nanoseconds */
    CallLedger child(long idleBefore) {
        if (!open) {
            return NONE;
        }
        CallLedger call = whole();
        CallLedger child = new CallLedger(phases.clock(), now(), Phase.OWN, new CallPart(call, idleBefore), true);
        call.others().begins(child);
        return child;
    }

    /**
     * Returns one ledger for each part of the call that another thread is currently running. The list has at most 64
     * entries. Any thread may call this.
     */
    public List<CallLedger> parts() {
        OtherThreads known = whole().others;
        return known == null ? List.of() : known.parts();
    }

    /**
     * Returns the total time during which the call's thread ran no operation, in nanoseconds. The thread may have been
     * waiting for other threads.
     */
    long idleNanos() {
        if (!open) {
            return 0;
        }
        PhaseClock call = whole().phases;
        long now = now();
        return call.nanos(Phase.OWN, now) + call.nanos(Phase.UNATTRIBUTED, now);
    }

    /** Returns the current time on the call's clock. */
    long now() {
        return phases.clock().nanoTime();
    }

    /** Returns whether both ledgers record the same call or parts of the same call. */
    boolean isOfSameCall(CallLedger other) {
        return open && whole() == other.whole();
    }

    /** Returns the ledger of the whole call. Returns this ledger if it records a whole call. */
    CallLedger whole() {
        return part == null ? this : part.call();
    }

    /**
     * Adds the times and counts of this part to the ledger of the whole call. The added time is limited to the idle
     * time of the call's thread. Nothing is added after the call has been answered. The thread that runs the part calls
     * this method when the part or the call ends. The thread may call this method repeatedly. Does nothing if this
     * ledger records a whole call.
     */
    public void join() {
        if (part != null) {
            phases.turnTo(phases.phase());
            double share = part.share(phases.allPast());
            phases.moveTo(part.call().others(), share);
        }
    }

    /**
     * Adds this part's times and counts to the ledger of the whole call for the last time, and removes the part from
     * {@link #parts()}.
     */
    public void joinAndLeave() {
        if (part != null) {
            join();
            part.call().others().leaves(this);
        }
    }

    /**
     * If the current thread is working on a part of this call, adds the part's times and counts to this ledger. Called
     * when the call ends on the current thread.
     */
    public void joinPresentPart() {
        CallLedger ofThread = current();
        if (ofThread != this && ofThread.whole() == this) {
            ofThread.join();
        }
    }

    OtherThreads others() {
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
     * Returns the time spent in the given phase by all of the call's threads until {@code now} or until the call's end,
     * in nanoseconds. The time of a phase excludes operations nested in it. In {@link Phase#UNATTRIBUTED} and {@link
     * Phase#OWN}, the call's thread may be waiting for other threads. Therefore, the time of the other threads is
     * subtracted from these two phases, first from {@code UNATTRIBUTED} and then from {@code OWN}. Any thread may call
     * this.
     *
     * @param now the current time on the ledger's clock
     */
    public long nanos(Phase kind, long now) {
        if (!open) {
            return 0;
        }
        OtherThreads known = others;
        return known == null ? phases.nanos(kind, now) : known.nanosWith(phases, kind, now);
    }

    /**
     * Returns the number of operations of the given kind that any of the call's threads started before the call's end.
     * Any thread may call this.
     */
    public int count(Phase kind) {
        OtherThreads known = others;
        return phases.counted(kind) + (known == null ? 0 : known.count(kind));
    }

    /** Returns the current phase of the thread that owns this ledger. Any thread may call this. */
    public Phase phase() {
        return phases.phase();
    }

    /**
     * Returns a consistent snapshot of the current phase and its start. Any thread may call this.
     *
     * @param method the called method's name
     * @param runningNanos the time since the call was received, in nanoseconds
     * @param now the current time on the ledger's clock
     */
    public RunningCall look(String method, long runningNanos, long now) {
        return phases.look(
                now, (phase, since) -> new RunningCall(method, thread.getId(), phase, since, runningNanos, this));
    }
}
