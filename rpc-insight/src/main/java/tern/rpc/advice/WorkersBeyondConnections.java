package tern.rpc.advice;

import java.time.Duration;
import java.util.stream.Stream;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Many threads for calls and few connections for them: the rest can only wait. */
final class WorkersBeyondConnections implements Rule {

    @Override
    public Stream<Finding> check(Situation situation) {
        int workers =
                situation.pools(PoolKind.WORKERS).mapToInt(PoolSnapshot::max).sum();
        return situation.pools(PoolKind.JDBC).flatMap(pool -> check(situation, pool, workers));
    }

    private static Stream<Finding> check(Situation situation, PoolSnapshot pool, int workers) {
        PoolSetting setting = Demand.setting(pool, PoolSetting.Use.MAX, "size of " + pool.name());
        Demand demand = Demand.of(situation, pool);
        int atOnce = situation.goal().callsAtOnce();
        int wanted = Math.min(workers, atOnce);
        if (setting.source() == PoolSetting.Source.TUNED || demand.isMeasured() || wanted <= pool.max()) {
            return Stream.empty(); // once it is measured, Little's law knows better
        }
        if (!situation.served().isEmpty() && !situation.isUsedByCalls(PoolKind.JDBC)) {
            return Stream.empty(); // these calls need no connection
        }
        return Stream.of(new Finding(
                "workers-beyond-connections",
                Severity.RISKS,
                "connections of the pool \"" + pool.name() + "\"",
                workers + " threads serve calls, " + pool.max() + " connections; at the target " + atOnce
                        + " calls run at once, " + (wanted - pool.max()) + " of which may wait for a connection",
                setting.line(wanted),
                "no call at the target waits for a connection, however long it keeps one",
                Duration.ZERO));
    }
}
