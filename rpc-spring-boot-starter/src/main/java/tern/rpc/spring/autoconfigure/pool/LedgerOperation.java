package tern.rpc.spring.autoconfigure.pool;

import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;

/** Counts an operation in the ledger of the call that this thread serves, if it serves one. */
final class LedgerOperation {

    /** May fail with an exception of one kind. */
    @FunctionalInterface
    interface Work<T extends @Nullable Object, E extends Exception> {
        T run() throws E;
    }

    private LedgerOperation() {}

    static <T extends @Nullable Object, E extends Exception> T in(Phase phase, Work<T, E> work) throws E {
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(phase);
        try {
            return work.run();
        } finally {
            ledger.leave(outer);
        }
    }
}
