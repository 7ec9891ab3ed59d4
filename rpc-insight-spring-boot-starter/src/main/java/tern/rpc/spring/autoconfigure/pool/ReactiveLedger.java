package tern.rpc.spring.autoconfigure.pool;

import reactor.util.context.Context;
import reactor.util.context.ContextView;
import tern.rpc.CallLedger;

/** Stores the ledger of a call in the context of its reactive chain. */
public final class ReactiveLedger {

    private static final Object KEY = ReactiveLedger.class;

    private ReactiveLedger() {}

    public static Context put(Context context, CallLedger ledger) {
        return context.put(KEY, ledger);
    }

    /** Returns the ledger in the context; if the context has none, the ledger of the current thread. */
    static CallLedger of(ContextView context) {
        CallLedger known = context.getOrDefault(KEY, null);
        return known == null ? CallLedger.current() : known;
    }
}
