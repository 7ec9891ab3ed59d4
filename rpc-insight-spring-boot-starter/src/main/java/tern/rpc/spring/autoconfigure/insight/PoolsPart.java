package tern.rpc.spring.autoconfigure.insight;

import java.time.Duration;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import tern.rpc.metrics.RpcReportPart;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Reports all pools with their effective settings. */
record PoolsPart(ObjectProvider<PoolSource> sources) implements RpcReportPart {

    /** The pools in the JSON report. Times are in milliseconds; -1 means unknown or unlimited. */
    record Report(List<Pool> pools) {}

    /** One pool's current state. */
    record Pool(
            String name,
            String kind,
            int max,
            int active,
            int idle,
            int waiting,
            double waitLimitMillis,
            long taken,
            long refused,
            long callerRuns,
            List<Setting> settings) {

        static Pool of(PoolSnapshot pool) {
            return new Pool(
                    pool.name(),
                    pool.kind().name(),
                    pool.effectiveMax(),
                    pool.active(),
                    pool.idle(),
                    pool.waiting(),
                    millis(pool.waitLimit()),
                    pool.taken(),
                    pool.refused(),
                    pool.callerRuns(),
                    pool.settings().stream().map(Setting::of).toList());
        }
    }

    /** An effective setting. */
    record Setting(String property, String value, PoolSetting.Source source, PoolSetting.Use use) {

        static Setting of(PoolSetting setting) {
            return new Setting(setting.property(), setting.value(), setting.source(), setting.use());
        }
    }

    @Override
    public String name() {
        return "pools";
    }

    @Override
    public Report report() {
        return new Report(
                sources.orderedStream().map(PoolSource::snapshot).map(Pool::of).toList());
    }

    private static double millis(Duration time) {
        return time.isNegative() ? -1 : time.toNanos() / 1e6;
    }
}
