package tern.rpc.diagnosis.excess;

import java.util.List;
import java.util.Map;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.Statements;
import tern.rpc.pool.Holders.Holder;

/** Finds statements run by threads that serve no call. The statements may put load on a database that calls use. */
public final class BackgroundStatements {

    /**
     * A thread that serves no call is suspected of putting load on the database if it has used its connection for this
     * long.
     */
    private static final long LONG_USE_NANOS = 1_000_000_000L;

    private BackgroundStatements() {}

    /**
     * Returns text that names the statement of a background thread. Such a thread serves no call, for example because
     * it runs a scheduled job. The thread must have used its connection for a long time. If there are several such
     * threads, the one that has used its connection longest is chosen. Returns an empty string if there is none.
     *
     * @param store the data source; empty if there is only one
     */
    public static String longest(Map<String, PoolVerdict> pools, String store) {
        long now = System.nanoTime();
        Holder longest = null;
        for (PoolVerdict pool : pools.values()) {
            for (Holder holder : pool.isDatabase() ? pool.pool().holders() : List.<Holder>of()) {
                String statement = holder.statement();
                boolean isOutside = !holder.call().isOpen() && !holder.isAbandoned() && holder.isExecuting();
                boolean isHere = statement != null
                        && (store.isEmpty() || OperationNames.store(statement).equals(store));
                boolean isLong = now - holder.sinceNanos() >= LONG_USE_NANOS;
                boolean isLonger = longest == null || holder.sinceNanos() - longest.sinceNanos() < 0;
                longest = isOutside && isHere && isLong && isLonger ? holder : longest;
            }
        }
        return longest == null
                ? ""
                : "; a thread that serves no call has used a connection for "
                        + (now - longest.sinceNanos()) / 1_000_000_000L + " s; check its statement first: "
                        + longest.statement() + Statements.now(longest);
    }
}
