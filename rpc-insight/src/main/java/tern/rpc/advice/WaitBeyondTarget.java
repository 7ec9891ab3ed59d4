package tern.rpc.advice;

import java.time.Duration;
import java.util.stream.Stream;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Waits for a connection that may last longer than a call is meant to: threads pile up behind them. */
final class WaitBeyondTarget implements Rule {

    @Override
    public Stream<Finding> check(Situation situation) {
        return situation.pools(PoolKind.JDBC, PoolKind.REDIS, PoolKind.HTTP).flatMap(pool -> check(situation, pool));
    }

    private static Stream<Finding> check(Situation situation, PoolSnapshot pool) {
        Duration target = situation.goal().latency();
        PoolSetting setting = Demand.setting(pool, PoolSetting.Use.WAIT_LIMIT, "longest wait of " + pool.name());
        Duration shortest = setting.nearest(target);
        boolean unbounded = pool.waitLimit().isNegative();
        if (setting.source() == PoolSetting.Source.TUNED
                || (!unbounded && pool.waitLimit().compareTo(shortest) <= 0)) {
            return Stream.empty();
        }
        return Stream.of(new Finding(
                "wait-beyond-target",
                unbounded || pool.refused() > 0 ? Severity.RISKS : Severity.HINTS,
                "waits at the pool \"" + pool.name() + "\"",
                (unbounded ? "nothing bounds a wait" : "a wait may take " + Advisor.millis(pool.waitLimit()))
                        + ", a call is meant to end within " + Advisor.millis(target),
                setting.line(target),
                "a call that cannot be in time fails at once, and its thread serves another",
                Duration.ZERO));
    }
}
