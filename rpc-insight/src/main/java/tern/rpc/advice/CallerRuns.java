package tern.rpc.advice;

import java.time.Duration;
import java.util.stream.Stream;
import tern.rpc.Phase;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** A full pool that makes its callers work: those who serve calls do what was meant to be put off. */
final class CallerRuns implements Rule {

    @Override
    public Stream<Finding> check(Situation situation) {
        return situation
                .pools(PoolKind.EXECUTOR)
                .filter(pool -> pool.callerRuns() > 0)
                .map(pool -> finding(situation, pool));
    }

    private static Finding finding(Situation situation, PoolSnapshot pool) {
        Duration spent = situation.timePerCall(Phase.CALLER_RUNS);
        Duration felt = spent.isZero() ? Duration.ZERO : spent;
        PoolSetting threads = Demand.setting(pool, PoolSetting.Use.MAX, "threads of " + pool.name());
        Demand demand = Demand.of(situation, pool);
        int needed = Math.max(pool.max() * 2, demand.needed());
        return new Finding(
                "caller-runs",
                situation.missesTarget() ? Severity.BLOCKS : Severity.RISKS,
                "threads of the pool \"" + pool.name() + "\"",
                pool.callerRuns() + " tasks run by their callers, " + pool.active() + " of " + pool.max()
                        + " threads busy, "
                        + pool.waiting() + " of " + pool.queueCapacity() + " places in the queue taken"
                        + (spent.isZero() ? "" : ", " + Advisor.millis(spent) + " a call"),
                threads.line(needed),
                "tasks start at once; a longer queue only hides that there are too few threads",
                felt);
    }
}
