package tern.rpc.advice;

import java.util.stream.Stream;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** A pool that serves its waiters in order: under load each connection goes through a sleeping thread. */
final class FairLock implements Rule {

    @Override
    public Stream<Finding> check(Situation situation) {
        return situation
                .pools(PoolKind.JDBC, PoolKind.REDIS)
                .filter(PoolSnapshot::fair)
                .flatMap(pool -> check(situation, pool));
    }

    private static Stream<Finding> check(Situation situation, PoolSnapshot pool) {
        PoolSetting setting = Demand.setting(pool, PoolSetting.Use.FAIRNESS, "the pool's lock: unfair");
        if (pool.kind() == PoolKind.REDIS && setting.source() != PoolSetting.Source.USER) {
            return Stream.empty(); // the library's own choice, and nobody's mistake
        }
        Demand demand = Demand.of(situation, pool);
        boolean line = setting.property().contains(".");
        return Stream.of(new Finding(
                "fair-lock",
                demand.isFelt() ? situation.urgency() : Severity.RISKS,
                "fair lock of the pool \"" + pool.name() + "\"",
                "every connection is handed to the thread that waits longest, which has to be woken first"
                        + demand.evidence(),
                line ? setting.property() + "=true" : setting.property(),
                "about three times as many connections handed out a second; single waits can become longer",
                demand.waited()));
    }
}
