package tern.rpc.advice;

import java.util.stream.Stream;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** A large pool of which one host may use a small part: raising the total then changes nothing. */
final class PerHostBelowTotal implements Rule {

    @Override
    public Stream<Finding> check(Situation situation) {
        return situation
                .pools(PoolKind.HTTP)
                .filter(pool -> pool.effectiveMax() < pool.max())
                .flatMap(pool -> check(situation, pool));
    }

    private static Stream<Finding> check(Situation situation, PoolSnapshot pool) {
        Demand demand = Demand.of(situation, pool);
        PoolSetting setting = Demand.setting(pool, PoolSetting.Use.MAX_PER_HOST, "connections per host");
        boolean felt = demand.isFelt() && !demand.isHeldUp(situation.cpu());
        if (!felt && (setting.source() == PoolSetting.Source.TUNED || pool.hosts() > 1)) {
            return Stream.empty(); // many hosts, a bulkhead each
        }
        return Stream.of(new Finding(
                "per-host-below-total",
                felt ? situation.urgency() : Severity.RISKS,
                "connections of the HTTP pool \"" + pool.name() + "\"",
                hosts(pool.hosts()) + ", total " + pool.max() + ", per host " + pool.maxPerHost() + ": effective limit "
                        + pool.effectiveMax() + demand.evidence(),
                setting.line(pool.max()),
                "all " + pool.max() + " can be used, for " + demand.servedBy(pool.max()),
                demand.waited()));
    }

    private static String hosts(int seen) {
        return seen <= 1 ? "one host" : seen + " hosts";
    }
}
