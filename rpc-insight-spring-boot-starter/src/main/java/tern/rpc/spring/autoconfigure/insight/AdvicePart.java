package tern.rpc.spring.autoconfigure.insight;

import java.time.Duration;
import java.util.List;
import tern.rpc.advice.Finding;
import tern.rpc.advice.Severity;
import tern.rpc.metrics.RpcReportPart;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.spring.autoconfigure.advice.CapacityAdvice;

/** The findings and changes, with every pool and its effective settings. */
final class AdvicePart implements RpcReportPart {

    private final CapacityAdvice advice;

    AdvicePart(CapacityAdvice advice) {
        this.advice = advice;
    }

    /** The report for readers: times in milliseconds, -1 for unknown or unlimited. */
    record Report(List<Advice> findings, List<Pool> pools) {}

    /** A finding, without the values used for its order. */
    record Advice(
            String rule,
            Severity severity,
            String bottleneck,
            String evidence,
            String change,
            String gain,
            double savedMillis) {

        static Advice of(Finding finding) {
            return new Advice(
                    finding.rule(),
                    finding.severity(),
                    finding.bottleneck(),
                    finding.evidence(),
                    finding.change(),
                    finding.gain(),
                    millis(finding.saved()));
        }
    }

    /** The present state of a pool. */
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
        return "advice";
    }

    @Override
    public Report report() {
        return new Report(
                advice.findings().stream().map(Advice::of).toList(),
                advice.pools().stream().map(Pool::of).toList());
    }

    private static double millis(Duration time) {
        return time.isNegative() ? -1 : time.toNanos() / 1e6;
    }
}
