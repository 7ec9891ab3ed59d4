package tern.rpc.spring.autoconfigure.pool;

import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.OutsideOperations;

/**
 * Records a statement in the ledger of the current thread's call. If the thread serves no call, the statement is not
 * recorded.
 */
final class LedgerOperation {

    /** Work that can throw a declared type of exception. */
    @FunctionalInterface
    interface Work<T extends @Nullable Object, E extends Exception> {
        T run() throws E;
    }

    private LedgerOperation() {}

    /** @param text the text of the statement, see {@link CallLedger#leave(Phase, String)} */
    static <T extends @Nullable Object, E extends Exception> T statement(@Nullable String text, Work<T, E> work)
            throws E {
        CallLedger ledger = CallLedger.current();
        long begun = ledger.isOpen() ? 0 : System.nanoTime();
        Phase outer = ledger.enter(Phase.SQL, text);
        String name = text;
        try {
            return work.run();
        } catch (Exception e) {
            name = FailedName.ofStatement(text, e);
            throw e;
        } finally {
            ledger.leave(outer, name);
            if (!ledger.isOpen()) {
                OutsideOperations.ran(Phase.SQL, name, System.nanoTime() - begun);
            }
        }
    }
}
