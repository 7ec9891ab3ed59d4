package tern.rpc.advice;

import java.time.Duration;
import java.util.stream.Stream;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** A queue that takes longer to drain than a call may take: it hides overload instead of refusing it. */
final class QueueBeyondTarget implements Rule {

    @Override
    public Stream<Finding> check(Situation situation) {
        return situation.pools(PoolKind.WORKERS, PoolKind.EXECUTOR).flatMap(pool -> check(situation, pool));
    }

    private static Stream<Finding> check(Situation situation, PoolSnapshot pool) {
        Demand demand = Demand.of(situation, pool);
        PoolSetting setting = Demand.setting(pool, PoolSetting.Use.QUEUE_CAPACITY, "queue of " + pool.name());
        double seconds = drain(situation, pool, demand);
        boolean bounded = pool.kind() == PoolKind.WORKERS && !pool.waitLimit().isNegative();
        if (bounded
                || setting.source() == PoolSetting.Source.TUNED
                || seconds <= 10 * situation.goal().seconds()) {
            return Stream.empty();
        }
        int enough = Math.max(
                pool.max(), (int) (situation.goal().qps() * situation.goal().seconds()));
        boolean filled = demand.isMeasured() && pool.waiting() > enough;
        return Stream.of(new Finding(
                "queue-beyond-target",
                filled ? Severity.RISKS : Severity.HINTS,
                "queue of the pool \"" + pool.name() + "\"",
                capacity(pool) + " places are " + Advisor.number(seconds) + " s of work"
                        + (demand.isMeasured()
                                ? " for " + pool.max() + " threads, " + pool.waiting() + " taken"
                                : " at " + situation.goal().qps() + " a second"),
                setting.line(enough),
                "overload is refused while it can be helped; first give the pool the threads that it needs",
                Duration.ZERO));
    }

    private static String capacity(PoolSnapshot pool) {
        return pool.queueCapacity() == Integer.MAX_VALUE ? "unbounded" : Integer.toString(pool.queueCapacity());
    }

    private static double drain(Situation situation, PoolSnapshot pool, Demand demand) {
        return demand.isMeasured()
                ? pool.queueCapacity() * demand.holdSeconds() / Math.max(1, pool.max())
                : (double) pool.queueCapacity() / situation.goal().qps();
    }
}
