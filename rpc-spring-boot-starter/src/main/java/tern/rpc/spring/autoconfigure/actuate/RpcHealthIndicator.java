package tern.rpc.spring.autoconfigure.actuate;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import tern.rpc.metrics.LatencyWindow;

/**
 * Reports DOWN if the server is not running although it should be running. An unreachable provider appears only in the
 * details, because another application's failure is not a failure of this application.
 */
final class RpcHealthIndicator extends AbstractHealthIndicator {

    private final RpcReporter reporter;
    private final Supplier<Map<String, String>> registries;

    /**
     * @param registries returns, for each registry, the reason why the server is not registered; an empty string if the
     *     server is registered
     */
    RpcHealthIndicator(RpcReporter reporter, Supplier<Map<String, String>> registries) {
        super("RPC health check failed");
        this.reporter = reporter;
        this.registries = registries;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        RpcReport report = reporter.report();
        RpcReport.Server server = report.server();
        if (server == null || server.running()) {
            health.up();
        } else {
            health.down();
        }
        health.withDetail(
                "target",
                number(report.target().qps()) + " calls/s within "
                        + millis(report.target().latencyMillis()));
        if (server != null) {
            health.withDetail("server", server.running() ? "listening on port " + server.port() : "not running");
            health.withDetail("served", lastMinute(report.served()));
        }
        Map<String, String> registered = new LinkedHashMap<>();
        registries.get().forEach((url, problem) -> registered.put(url, problem.isEmpty() ? "registered" : problem));
        if (!registered.isEmpty()) {
            health.withDetail("registries", registered);
        }
        if (!report.references().isEmpty()) {
            health.withDetail("called", lastMinute(report.called()));
            health.withDetail("references", references(report));
        }
    }

    private static Map<String, String> references(RpcReport report) {
        Map<String, String> references = new LinkedHashMap<>();
        report.references()
                .forEach(reference -> references.merge(
                        reference.service(),
                        reference.isReachable() ? "reachable" : "unreachable",
                        (one, other) -> one.equals(other) ? one : "partly reachable"));
        return references;
    }

    private static Map<String, String> lastMinute(LatencyWindow.Report report) {
        Map<String, String> minute = new LinkedHashMap<>();
        minute.put("qps", number(report.qps()));
        minute.put("p50", millis(report.p50Millis()));
        minute.put("p99", millis(report.p99Millis()));
        minute.put("max", millis(report.maxMillis()));
        minute.put("over target", percent(report.shareOverTarget()));
        minute.put("failed", percent(report.shareFailed()));
        return minute;
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.1f", value).replace(".0", "");
    }

    private static String millis(double value) {
        return String.format(Locale.ROOT, "%.1f ms", value);
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.2f %%", share * 100);
    }
}
