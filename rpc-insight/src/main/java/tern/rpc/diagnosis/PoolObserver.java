package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tern.rpc.CallLedger;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.pool.PoolSizes;
import tern.rpc.diagnosis.rule.HeldConnections;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Reads the states of pools and the holders of their connections. Only the diagnosis thread uses it. */
final class PoolObserver {

    private final Surroundings surroundings;
    private final Baseline usual;
    private final HeldConnections held = new HeldConnections();
    private final PoolSizes sizes = new PoolSizes();

    PoolObserver(Surroundings surroundings, Baseline usual) {
        this.surroundings = surroundings;
        this.usual = usual;
    }

    /** Inspects the holders of all connections. */
    void look() {
        held.look(surroundings.pools(), System.nanoTime());
    }

    void clear() {
        held.clear();
    }

    /** Returns the current states of all pools, by name. */
    Map<String, PoolSnapshot> snapshots(long now) {
        Map<String, PoolSnapshot> pools = new HashMap<>();
        for (PoolSource source : surroundings.pools()) {
            PoolSnapshot snapshot = source.snapshot();
            if (pools.putIfAbsent(snapshot.name(), snapshot) == null) {
                sizes.look(snapshot, now);
            }
            String thread = snapshot.thread();
            if (thread != null) {
                ExecutorNames.learn(snapshot.name(), TaskWatch.nameOf(thread));
            }
            Holders holders = source.holders();
            if (holders != null && holders.all().stream().anyMatch(Holders.Holder::isAbandoned)) {
                holders.suspect();
            }
        }
        return pools;
    }

    /**
     * Returns the use of all pools during the observed period.
     *
     * @param start the states of the pools at the start of this period
     */
    List<ObservedPool> since(CounterSnapshot start, List<RunningCall> running) {
        Set<CallLedger> working = Collections.newSetFromMap(new IdentityHashMap<>());
        running.forEach(call -> working.add(call.ledger()));
        List<ObservedPool> pools = new ArrayList<>();
        for (PoolSource source : surroundings.pools()) {
            PoolSnapshot now = source.snapshot();
            PoolSnapshot then = start.pools().get(now.name());
            Holders holders = source.holders();
            pools.add(ObservedPool.of(now, then, holders, working, usual.figure("hold " + now.name()), held.of(holders))
                    .with(sizes));
        }
        return pools;
    }
}
