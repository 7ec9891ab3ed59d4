package tern.rpc.metrics;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;

/** Receives a notification at the end of each served unary call that has a ledger. */
@FunctionalInterface
public interface CallObserver {

    /**
     * Called on the thread that ended the call; must neither block nor throw.
     *
     * @param method the method name, for example {@code OrderService.place}
     * @param tookNanos the time since the call was received
     * @param now the current time on the ledger's clock
     * @param failure the failure; null for a result, for an exception that the method declares, and for an answer that
     *     reports a mistake by the caller
     */
    void ended(String method, CallLedger ledger, long tookNanos, long now, @Nullable Throwable failure);

    /**
     * Called instead of {@link #ended(String, CallLedger, long, long, Throwable)} if the caller may be known.
     *
     * @param caller returns the caller's address; null if it is unknown. Must be used only before this method returns
     */
    default void ended(
            String method,
            CallLedger ledger,
            long tookNanos,
            long now,
            @Nullable Throwable failure,
            Supplier<@Nullable String> caller) {
        ended(method, ledger, tookNanos, now, failure);
    }
}
