package tern.rpc.diagnosis;

import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;

/**
 * A call that has ended.
 *
 * @param endedNanos the time of its end, on the clock of {@link System#nanoTime()}
 * @param tookNanos the duration since it was received
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
