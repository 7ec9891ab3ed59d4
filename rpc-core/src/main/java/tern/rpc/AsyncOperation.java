package tern.rpc;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A non-blocking operation of a call, such as an HTTP exchange whose answer is a future. If an operation is still
 * running when the call ends, the call may have been waiting for it. Thread-safe.
 */
public final class AsyncOperation {

    private static final AsyncOperation NONE = new AsyncOperation(CallLedger.none(), Phase.OWN, () -> null, 0);

    private final CallLedger call;
    private final Phase kind;
    private final Supplier<@Nullable String> name;
    private final long begun;

    private AsyncOperation(CallLedger call, Phase kind, Supplier<@Nullable String> name, long begun) {
        this.call = call;
        this.kind = kind;
        this.name = name;
        this.begun = begun;
    }

    /** Returns an operation that belongs to no call. Nothing is recorded for it. */
    public static AsyncOperation none() {
        return NONE;
    }

    /** Records the start of an operation. See {@link CallLedger#begin}. */
    static AsyncOperation begin(CallLedger ledger, Phase kind, Supplier<@Nullable String> name) {
        if (!ledger.isOpen()) {
            return NONE;
        }
        CallLedger call = ledger.whole();
        AsyncOperation operation = new AsyncOperation(call, kind, name, call.now());
        call.others().begins(operation);
        return operation;
    }

    /**
     * Records that a task of the ledger's call is waiting for an executor thread. {@link CallLedger#unfinished} lists
     * the task until {@link #started} is called. The ledger contains no other record of a task that never starts.
     *
     * @param executor the executor name, for diagnoses
     * @param now the current time on the call's clock
     */
    static AsyncOperation queued(CallLedger ledger, String executor, long now) {
        if (!ledger.isOpen()) {
            return NONE;
        }
        CallLedger call = ledger.whole();
        AsyncOperation task = new AsyncOperation(call, Phase.EXECUTOR, () -> executor, now);
        call.others().queued(task);
        return task;
    }

    /**
     * Records the end of this operation under the name that was passed to {@link CallLedger#begin}. Has no effect after
     * the call has ended. Call this once.
     */
    public void end() {
        end(null);
    }

    /**
     * Records the end of this operation. Has no effect after the call has ended. Call this once.
     *
     * @param result a name that includes the result, see {@link CallLedger#leave(Phase, String)}; null to use the name
     *     that was passed to {@link CallLedger#begin}
     */
    public void end(@Nullable String result) {
        if (!call.isOpen() || call.isEnded()) {
            return;
        }
        record(kind, result == null ? name.get() : result);
    }

    /**
     * Ends this operation, and records it as an operation of another kind. For example, if the peer refuses a
     * connection, the wait for a pooled connection is recorded as an HTTP exchange, because the peer caused the delay
     * and not the connection pool. Has no effect after the call has ended. Call this once, instead of {@link #end()}.
     *
     * @param actual the kind of the operation
     * @param result a name that includes the result, see {@link CallLedger#leave(Phase, String)}
     */
    public void endAs(Phase actual, String result) {
        if (!call.isOpen() || call.isEnded()) {
            return;
        }
        record(actual, result);
    }

    private void record(Phase actual, @Nullable String result) {
        long spent = nanos(call.now());
        call.others().ends(this, actual, spent);
        if (result != null) {
            call.named(actual, result, spent);
        }
    }

    /**
     * Records that a thread has started the task that this operation represents. Has no effect after the call has
     * ended. If no thread starts the task before the call ends, the call counts as waiting for a thread until its end.
     */
    void started() {
        if (call.isOpen() && !call.isEnded()) {
            call.others().started(this);
        }
    }

    Phase kind() {
        return kind;
    }

    /** Returns the time since the start of this operation, in nanoseconds. */
    long nanos(long now) {
        return Math.max(0, now - begun);
    }

    /** Returns this operation with its duration so far; null if this operation has no name. */
    NamedTimes.@Nullable Entry until(long now) {
        String known = name.get();
        return known == null ? null : new NamedTimes.Entry(kind, known, 1, nanos(now));
    }
}
