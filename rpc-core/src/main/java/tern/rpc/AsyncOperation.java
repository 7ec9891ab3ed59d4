package tern.rpc;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A non-blocking operation of a call, such as an HTTP exchange whose answer is a future. An operation that still runs
 * when the call ends shows what the call may have waited for. Thread-safe.
 */
public final class AsyncOperation {

    private static final AsyncOperation NONE = new AsyncOperation(CallLedger.none(), Phase.OWN, () -> null, 0);

    private final CallLedger call;
    private final Phase kind;
    private final Supplier<@Nullable String> name;
    private final long begun;

    AsyncOperation(CallLedger call, Phase kind, Supplier<@Nullable String> name, long begun) {
        this.call = call;
        this.kind = kind;
        this.name = name;
        this.begun = begun;
    }

    /** Returns an operation that belongs to no call. Nothing is recorded for it. */
    public static AsyncOperation none() {
        return NONE;
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
        if (call.isOpen() && !call.isEnded()) {
            call.ended(this, result == null ? name.get() : result);
        }
    }

    /**
     * Records that a thread has started the task of this operation. Has no effect after the call has ended. If no
     * thread starts the task before the call ends, the call counts as waiting for a thread until its end.
     */
    void started() {
        if (call.isOpen() && !call.isEnded()) {
            call.started(this);
        }
    }

    Phase kind() {
        return kind;
    }

    /** Returns the time since the start of this operation, in nanoseconds. */
    long nanos(long now) {
        return Math.max(0, now - begun);
    }

    /** Returns this operation with its duration so far; null if it has no name. */
    NamedTimes.@Nullable Entry until(long now) {
        String known = name.get();
        return known == null ? null : new NamedTimes.Entry(kind, known, 1, nanos(now));
    }
}
