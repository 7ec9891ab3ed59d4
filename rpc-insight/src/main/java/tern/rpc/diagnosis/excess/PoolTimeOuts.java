package tern.rpc.diagnosis.excess;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.excess.TimeOuts.TooShort;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.pool.PoolSetting;

/** Finds time limits of pools that end calls although the calls wait no longer than usual. */
final class PoolTimeOuts {

    private PoolTimeOuts() {}

    /**
     * Returns the limit on waits for a pool if the limit is too short: calls usually wait longer, or slow calls usually
     * wait longer and the limit ends only a small share of the waits. Returns null otherwise, or if the limit is
     * unknown.
     */
    static @Nullable TooShort of(Evidence evidence, ExcessTime excess, Part part) {
        ObservedPool pool = ObservedPool.find(evidence.pools(), part);
        PoolSetting setting = pool == null
                ? null
                : pool.now().setting(PoolSetting.Use.WAIT_LIMIT).orElse(null);
        List<ExcessTime.Counted> failed = excess.accounts.stream()
                .filter(counted -> part.equals(excess.failureOf(counted.call())))
                .toList();
        long waiting = excess.accounts.stream()
                .filter(counted -> counted.times().of(part) > 0)
                .count();
        if (pool == null || setting == null || failed.isEmpty() || 2L * failed.size() < waiting) {
            return null;
        }
        double limit = failed.stream()
                .mapToDouble(counted -> counted.times().of(part))
                .average()
                .orElse(0);
        double usually = failed.stream()
                .map(counted -> excess.usualOf(counted.call().method()))
                .mapToDouble(usual -> usual == null ? 0 : usual.of(part))
                .average()
                .orElse(0);
        double given = Math.max(0, pool.since().refused());
        double share = given / Math.max(1, given + pool.since().taken());
        boolean isWithin = limit <= usually || (limit <= excess.slowUsual(part::equals) && share <= TimeOuts.MOST);
        return limit <= 0 || usually <= 0 || !isWithin
                ? null
                : new TooShort(
                        part.name(),
                        Change.of(
                                Where.CODE,
                                "set a longer " + setting.property() + " than " + setting.value()
                                        + ", or use a larger pool: calls stop waiting for a connection of"
                                        + " \"" + part.name() + "\" after "
                                        + Times.millis(limit) + " ms, and usually wait " + Times.millis(usually)
                                        + " ms"),
                        List.of("timeout  " + failed.size() + " of " + excess.accounts.size()
                                + " recorded calls got no connection in time"));
    }
}
