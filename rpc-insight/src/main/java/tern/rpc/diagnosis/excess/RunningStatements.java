package tern.rpc.diagnosis.excess;

import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.pool.ConnectionUse;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.pool.Holders.Holder;

/**
 * The unfinished statements of running calls. Ledgers contain the name of a statement only after its end. While the
 * statement runs, its text is known from the holder of the connection.
 */
public final class RunningStatements {

    private static final int MIN_CALLS = 3;

    private final Map<CallLedger, String> statements = new IdentityHashMap<>();
    private final Map<CallLedger, String> seen = new IdentityHashMap<>(); // known from earlier inspections

    public RunningStatements(Collection<PoolVerdict> pools) {
        for (PoolVerdict pool : pools) {
            ConnectionUse use = pool.pool().use();
            if (use != null) {
                seen.putAll(use.statements());
            }
            for (Holder holder : pool.pool().holders()) {
                String text = holder.statement();
                if (pool.isDatabase() && text != null && holder.isExecuting()) {
                    statements.put(holder.call(), text);
                }
            }
        }
    }

    /** Returns the statement that the given call is executing; null if it is unknown. */
    @Nullable
    public String of(CallLedger call) {
        return statements.get(call);
    }

    /**
     * Returns the statement that the given call is executing, or was executing when the call ended; null if it is
     * unknown.
     */
    private @Nullable String lastOf(CallLedger call) {
        String now = statements.get(call);
        return now == null ? seen.get(call) : now;
    }

    /**
     * Returns whether at least half of the given number of connections belong to calls that have been executing a
     * statement for at least the given time.
     */
    public boolean occupy(int connections, ExcessTime excess, double leastNanos) {
        Part unnamed = Part.of(Kind.SQL);
        long hanging = excess.accounts.stream()
                .filter(counted ->
                        of(counted.call().ledger()) != null && counted.times().of(unnamed) >= leastNanos)
                .count();
        return hanging >= MIN_CALLS && 2 * hanging >= connections;
    }

    /**
     * Returns how long calls have been executing the given statement, on average; 0 if fewer than three calls are
     * executing it. A statement waiting for a lock does not end, so its completed executions do not show the wait.
     */
    public double meanNanos(ExcessTime excess, String statement) {
        Part unnamed = Part.of(Kind.SQL);
        List<Double> running = excess.accounts.stream()
                .filter(counted -> counted.times().of(unnamed) > 0)
                .filter(counted -> statement.equals(lastOf(counted.call().ledger())))
                .map(counted -> counted.times().of(unnamed))
                .toList();
        return running.size() < MIN_CALLS
                ? 0
                : running.stream().mapToDouble(Double::doubleValue).average().orElse(0);
    }

    /**
     * Attributes the time of running statements to the names of these statements. Does nothing if the names are known
     * for less than half of this time.
     */
    public void name(ExcessTime excess, TimesByCause byCause) {
        Part unnamed = Part.of(Kind.SQL);
        Times named = new Times();
        double all = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            double spent = counted.times().of(unnamed);
            String statement = lastOf(counted.call().ledger());
            all += spent;
            if (statement != null) {
                named.add(new Part(Kind.SQL, statement), spent);
            }
        }
        if (2 * named.sum() >= all) {
            byCause.divide(unnamed, named);
        }
    }
}
