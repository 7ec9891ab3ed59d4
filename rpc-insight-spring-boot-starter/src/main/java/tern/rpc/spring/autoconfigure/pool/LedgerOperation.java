package tern.rpc.spring.autoconfigure.pool;

import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;

/**
 * Records an operation in the ledger of the call that the current thread serves. If the thread serves no call, the
 * operation is not recorded.
 */
final class LedgerOperation {

    /** Work that may throw a declared type of exception. */
    @FunctionalInterface
    interface Work<T extends @Nullable Object, E extends Exception> {
        T run() throws E;
    }

    private LedgerOperation() {}

    /** @param name the name of the operation, see {@link CallLedger#leave(Phase, String)} */
    static <T extends @Nullable Object, E extends Exception> T in(Phase phase, @Nullable String name, Work<T, E> work)
            throws E {
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(phase);
        try {
            return work.run();
        } finally {
            ledger.leave(outer, name);
        }
    }
}
