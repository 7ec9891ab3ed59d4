package tern.rpc.diagnosis;

import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.diagnosis.Part.Kind;
import tern.rpc.pool.Holders.Holder;

/**
 * The statements that calls are executing now. Ledgers contain the name of a statement only after its end. The holders
 * of connections show it while it runs.
 */
final class RunningStatements {

    private final Map<CallLedger, String> statements = new IdentityHashMap<>();

    RunningStatements(Collection<PoolVerdict> pools) {
        for (PoolVerdict pool : pools) {
            for (Holder holder : pool.pool().holders()) {
                String text = holder.statement();
                if (pool.isDatabase() && text != null && holder.isExecuting()) {
                    statements.put(holder.call(), text);
                }
            }
        }
    }

    /** Returns the statement that this call is executing; null if it is unknown. */
    @Nullable
    String of(CallLedger call) {
        return statements.get(call);
    }

    /** Gives the time of statements that are still running the names of these statements, if most of them are known. */
    void name(Excess excess, Leaves leaves) {
        Part unnamed = Part.of(Kind.SQL);
        Times named = new Times();
        double all = 0;
        for (Excess.Counted counted : excess.accounts) {
            double spent = counted.times().of(unnamed);
            String statement = of(counted.call().ledger());
            all += spent;
            if (statement != null) {
                named.add(new Part(Kind.SQL, statement), spent);
            }
        }
        if (2 * named.sum() >= all) {
            leaves.divide(unnamed, named);
        }
    }
}
