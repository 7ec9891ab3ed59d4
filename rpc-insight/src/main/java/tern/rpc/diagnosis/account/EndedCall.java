package tern.rpc.diagnosis.account;

import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;

/**
 * A call that has ended, or that has been running for a long time.
 *
 * @param endedNanos the end of the call, on the clock of {@link System#nanoTime()}
 * @param tookNanos the time from receiving the call to its end
 * @param isRunning whether a thread is still working on the call. Its caller may already have received an answer, for
 *     example because the deadline has passed
 * @param caller the caller's address; null if it is unknown, or if the call met the latency target
 * @param kept the failure of the call, or its replacement; null if the call has not failed
 */
public record EndedCall(
        String method,
        CallLedger ledger,
        long endedNanos,
        long tookNanos,
        boolean isRunning,
        @Nullable String caller,
        @Nullable KeptFailure kept) {

    /** One in {@value} calls that meet the latency target is recorded, for comparison with late calls. */
    public static final int ONE_IN = 16;

    public EndedCall(
            String method,
            CallLedger ledger,
            long endedNanos,
            long tookNanos,
            @Nullable Throwable failure,
            boolean isRunning,
            @Nullable String caller) {
        this(
                method,
                ledger,
                endedNanos,
                tookNanos,
                isRunning,
                caller,
                failure == null ? null : KeptFailure.of(failure));
    }

    public EndedCall(String method, CallLedger ledger, long endedNanos, long tookNanos, @Nullable Throwable failure) {
        this(method, ledger, endedNanos, tookNanos, failure, false, null);
    }

    /** Returns the failure, or its replacement ({@link KeptFailure.Forgotten}); null if the call has not failed. */
    @Nullable
    public Throwable failure() {
        return kept == null ? null : kept.get();
    }

    public long startedNanos() {
        return endedNanos - tookNanos;
    }
}
