package tern.rpc.advice;

import java.time.Duration;
import java.util.stream.Stream;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Little's law: target rate × uses per call × time of a use has to fit into the pool. */
final class PoolBelowDemand implements Rule {

    @Override
    public Stream<Finding> check(Situation situation) {
        return situation.pools().stream().flatMap(pool -> check(situation, pool));
    }

    private static Stream<Finding> check(Situation situation, PoolSnapshot pool) {
        if (pool.kind() == PoolKind.LOGGING || pool.callerRuns() > 0) {
            return Stream.empty(); // a ring is drained by one thread; caller-runs has its own rule
        }
        Demand demand = Demand.of(situation, pool);
        boolean tooSmall = isTooSmall(situation, pool, demand);
        boolean perHost = pool.effectiveMax() < pool.max() && demand.needed() <= pool.max();
        if (perHost || !(tooSmall || (demand.isFelt() && demand.isFull()))) {
            return Stream.empty();
        }
        boolean symptom =
                pool.kind() == PoolKind.WORKERS ? situation.callsMostlyWait() : demand.isHeldUp(situation.cpu());
        int enough = Math.max(demand.needed(), tooSmall ? 0 : pool.max() * 2);
        PoolSetting setting = Demand.setting(pool, PoolSetting.Use.MAX, "size of " + pool.name());
        String change = setting.nearest(enough) > pool.max()
                ? setting.line(enough)
                : "another instance, since " + setting.property() + " takes no more";
        return Stream.of(new Finding(
                "pool-below-demand",
                demand.isFelt() && !symptom ? situation.urgency() : Severity.RISKS,
                Demand.thing(pool.kind()) + " of the pool \"" + pool.name() + "\"",
                demand.arithmetic() + demand.evidence(),
                symptom ? "shorten what the calls wait for, as the other findings say; else " + change : change,
                "enough for " + demand.servedBy(enough),
                symptom ? Duration.ZERO : demand.waited()));
    }

    /** Tasks of an executor need not come with calls, so that only a queue shows a lack of threads. */
    private static boolean isTooSmall(Situation situation, PoolSnapshot pool, Demand demand) {
        boolean byArithmetic = situation.isUsedByCalls(pool.kind()) && demand.needed() > pool.effectiveMax();
        return byArithmetic && (pool.kind() != PoolKind.EXECUTOR || pool.waiting() > 0);
    }
}
