package tern.rpc.spring.autoconfigure.pool;

import reactor.util.context.Context;
import reactor.util.context.ContextView;
import tern.rpc.CallLedger;

/** Stores a call's ledger in the context of the call's reactive chain. */
public final class ReactiveLedger {

    private static final Object KEY = ReactiveLedger.class;

    private ReactiveLedger() {}

    public static Context put(Context context, CallLedger ledger) {
        return context.put(KEY, ledger);
    }

    /** Returns the ledger in the context, or the current thread's ledger if the context has none. */
    static CallLedger of(ContextView context) {
        CallLedger known = context.getOrDefault(KEY, null);
        return known == null ? CallLedger.current() : known;
    }
}
