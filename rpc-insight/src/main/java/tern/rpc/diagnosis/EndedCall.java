package tern.rpc.diagnosis;

import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;

/**
 * A call that has ended.
 *
 * @param endedNanos the end of the call, on the clock of {@link System#nanoTime()}
 * @param tookNanos the time from receiving the call to its end
 */
record EndedCall(
        String method,
        CallLedger ledger,
        long endedNanos,
        long tookNanos,
        @Nullable Throwable failure) {

    long startedNanos() {
        return endedNanos - tookNanos;
    }
}
