package tern.rpc.diagnosis.rule;

import java.util.List;
import java.util.Map;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.failure.FailedPeer;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.pool.PoolKind;

/**
 * Finds the name of the data source or Redis server that a call waits for. If the application has only one data source
 * or Redis server, the name is empty.
 */
final class AwaitedStores {

    private final Evidence evidence;
    private final Map<String, PoolVerdict> pools;

    AwaitedStores(Evidence evidence, Map<String, PoolVerdict> pools) {
        this.evidence = evidence;
        this.pools = pools;
    }

    private boolean isKnown(String name) {
        return evidence.answers().byStore().containsKey(name);
    }

    /**
     * Returns the name of the data source or Redis server (store) that a running call waits for. For an ended call,
     * returns the store that the call waited longest for. Returns an empty string if the name is unknown.
     */
    String awaitedBy(EndedCall call, Kind kind) {
        CallLedger ledger = call.ledger();
        Phase operation = kind == Kind.REDIS ? Phase.REDIS : Phase.SQL;
        Phase connection = kind == Kind.REDIS ? Phase.REDIS_CONNECTION : Phase.JDBC_CONNECTION;
        if (!ledger.isEnded()) {
            String pool = ledger.running(connection);
            if (pool != null && isKnown(pool)) {
                return pool;
            }
            String running = ledger.running(operation);
            return running == null ? "" : OperationNames.store(running);
        }
        Part operated = FailedPeer.longest(call, operation);
        Part waited = FailedPeer.longest(call, connection);
        if (waited != null && isKnown(waited.name()) && operated == null) {
            return waited.name();
        }
        return operated == null ? "" : OperationNames.store(operated.name());
    }

    /**
     * Returns whether the given operation or wait for a connection can belong to the data source or Redis server with
     * the given name. Returns false only if the operation or the pool is known to belong to another data source or
     * Redis server.
     */
    boolean mayBeOf(Part part, String name) {
        String store = part.kind() == Kind.POOL ? part.name() : OperationNames.store(part.name());
        return store.equals(name) || !isKnown(store);
    }

    /** Returns the reasons why calls wait for connections to the store with the given name. */
    List<PoolVerdict> poolsOf(Kind kind, String name) {
        PoolKind wanted = kind == Kind.REDIS ? PoolKind.REDIS : PoolKind.JDBC;
        return pools.values().stream()
                .filter(pool -> pool.pool().now().kind() == wanted)
                .filter(pool -> pool.name().equals(name) || !isKnown(name) || !isKnown(pool.name()))
                .toList();
    }

    /**
     * Returns the diagnosis's text for the data source or Redis server. The text contains its name and, if known, the
     * address of its server.
     */
    String shown(Kind kind, String name) {
        String store = kind == Kind.REDIS ? "Redis" : "database";
        List<PoolVerdict> known = name.isEmpty() ? poolsOf(kind, name) : List.of();
        String only = known.size() == 1 && kind == Kind.SQL ? known.get(0).name() : name;
        String server = evidence.answers().address(only);
        boolean isAddressEnough = server != null && name.isEmpty();
        return store
                + (only.isEmpty() || isAddressEnough ? "" : " of " + only)
                + (server == null ? "" : " at " + server);
    }
}
