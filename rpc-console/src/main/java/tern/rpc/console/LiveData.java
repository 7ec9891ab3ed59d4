package tern.rpc.console;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import tern.rpc.metrics.Callers;
import tern.rpc.metrics.LatencyWindow;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.RpcReportPart;
import tern.rpc.metrics.SlowCallRing.SlowCall;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.autoconfigure.RpcServerLifecycle;
import tools.jackson.databind.JsonNode;

/** The part of the console's data that changes while the application runs. Thread-safe. */
final class LiveData {

    /**
     * The maximum age of the diagnosis shown in the "Now" tab. The diagnosis is not read for every request, because its
     * report is large.
     */
    private static final Duration DIAGNOSIS_AGE = Duration.ofSeconds(5);

    private static final List<String> SHOWN_OF_POOL = List.of("kind", "name", "active", "idle", "max", "waiting");

    private final Json json;
    private final ApplicationContext context;
    private final ConsoleAccess access;
    private final String instance;
    private final List<RpcReportPart> parts;
    private final String application;
    private final boolean tls;
    private final RpcMeters meters;
    private final ChartPoints points;
    private volatile @Nullable LastDiagnosis lastDiagnosis;

    /** A summary of the application's diagnosis, and the time when the diagnosis was read. */
    private record LastDiagnosis(Instant at, Map<String, Object> diagnosis) {}

    LiveData(
            Json json,
            ApplicationContext context,
            ConsoleAccess access,
            String instance,
            ObjectProvider<RpcReportPart> parts) {
        this.json = json;
        this.context = context;
        this.access = access;
        this.instance = instance;
        this.parts = parts.orderedStream().toList();
        this.application = context.getEnvironment().getProperty("spring.application.name", "");
        this.tls = context.getEnvironment().containsProperty("rpc.server.ssl.bundle");
        this.meters = context.getBean(RpcMeters.class);
        this.points = new ChartPoints(meters.servedWindow(), instance);
    }

    RpcMeters meters() {
        return meters;
    }

    /** @param since the value of {@code next} in the last answer that the page received; null if there was none */
    Map<String, Object> now(@Nullable String since) {
        Instant at = Instant.now();
        RpcServer server = access.server().get();
        String whyNot = access.whyNot();
        Map<String, Object> now = new LinkedHashMap<>();
        now.put("version", Json.VERSION);
        now.put("at", at.toString());
        now.put("instance", instance);
        now.put("startedAt", Instant.ofEpochMilli(context.getStartupDate()).toString());
        now.put("application", application);
        now.put("targetMillis", meters.slo().latency().toNanos() / 1e6);
        now.put("targetQps", meters.slo().qps());
        now.put("canCall", whyNot.isEmpty());
        now.put("cannotCallWhy", whyNot);
        points.put(now, at, since);
        now.put("lastMinute", minute(meters.served()));
        now.put("called", minute(meters.called()));
        now.put("refusals", server == null ? Map.of() : server.refusals());
        now.put("failures", meters.failures());
        now.put("failuresSince", "start");
        now.put("inFlight", server == null ? 0 : server.inFlight());
        now.put("server", server == null ? null : server(server));
        now.put("pools", pools());
        now.put("diagnosis", diagnosis(at));
        return now;
    }

    private Map<String, Object> server(RpcServer server) {
        RpcServerLifecycle lifecycle =
                context.getBeanProvider(RpcServerLifecycle.class).getIfAvailable();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("running", lifecycle != null && lifecycle.isRunning());
        json.put("port", server.port());
        json.put("connections", server.connections());
        json.put("tls", tls);
        return json;
    }

    private static Map<String, Object> minute(LatencyWindow.Report report) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("calls", report.calls());
        json.put("seconds", report.seconds());
        json.put("qps", ChartPoints.rounded(report.qps()));
        json.put("p50Millis", ChartPoints.rounded(report.p50Millis()));
        json.put("p99Millis", ChartPoints.rounded(report.p99Millis()));
        json.put("maxMillis", ChartPoints.rounded(report.maxMillis()));
        json.put("shareOverTarget", report.shareOverTarget());
        json.put("shareFailed", report.shareFailed());
        return json;
    }

    private @Nullable List<Map<String, Object>> pools() {
        RpcReportPart part = part("pools");
        if (part == null) {
            return null;
        }
        List<Map<String, Object>> pools = new ArrayList<>();
        for (JsonNode pool : json.tree(part.report()).path("pools")) {
            Map<String, Object> row = new LinkedHashMap<>();
            for (String name : SHOWN_OF_POOL) {
                JsonNode value = pool.path(name);
                boolean known = !value.isMissingNode() && !(value.isNumber() && value.asInt() < 0);
                row.put(name, known ? value : null);
            }
            pools.add(row);
        }
        return pools;
    }

    private @Nullable Map<String, Object> diagnosis(Instant at) {
        RpcReportPart part = part("diagnosis");
        if (part == null) {
            return null;
        }
        LastDiagnosis known = lastDiagnosis;
        if (known != null && Duration.between(known.at(), at).compareTo(DIAGNOSIS_AGE) < 0) {
            return known.diagnosis();
        }
        String text = part.text();
        Map<String, Object> summary = new LinkedHashMap<>();
        summary.put("state", json.tree(part.report()).path("state").asString(""));
        summary.put(
                "summary", text == null ? "" : text.strip().lines().findFirst().orElse(""));
        lastDiagnosis = new LastDiagnosis(at, summary);
        return summary;
    }

    Map<String, Object> slow() {
        RpcServer server = access.server().get();
        List<SlowCall> calls = server == null ? List.of() : server.slowCalls();
        Map<String, Object> slow = new LinkedHashMap<>();
        slow.put("version", Json.VERSION);
        slow.put("targetMillis", meters.slo().latency().toNanos() / 1e6);
        slow.put("calls", calls.stream().map(LiveData::slow).toList());
        return slow;
    }

    private static Map<String, Object> slow(SlowCall call) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", String.valueOf(call.id()));
        json.put("at", call.at().toString());
        json.put("method", call.method());
        json.put("tookMillis", ConsoleCalls.millis(call.tookNanos()));
        json.put("code", call.code());
        json.put("phases", ConsoleCalls.phases(call.phases()));
        json.put("operations", ConsoleCalls.operations(call.operations()));
        json.put("trace", call.trace());
        json.put("caller", call.caller());
        json.put("protocol", call.protocol());
        return json;
    }

    Map<String, Object> why() {
        RpcReportPart part = part("diagnosis");
        Map<String, Object> why = new LinkedHashMap<>();
        why.put("version", Json.VERSION);
        why.put("available", part != null);
        why.put(
                "note",
                part == null
                        ? "There is no diagnosis. It needs tern-rpc-insight-spring-boot-starter and an exported service"
                                + " whose calls keep a ledger (rpc.server.ledger=true)."
                        : "");
        why.put("text", part == null || part.text() == null ? "" : part.text());
        why.put("report", part == null ? null : json.tree(part.report()));
        return why;
    }

    Map<String, Object> outgoing() {
        RpcReportPart cluster = part("cluster");
        RpcServer server = access.server().get();
        Instant at = Instant.now();
        Map<String, Object> outgoing = new LinkedHashMap<>();
        outgoing.put("version", Json.VERSION);
        outgoing.put(
                "references",
                cluster == null ? List.of() : json.tree(cluster.report()).path("references"));
        outgoing.put(
                "callers",
                server == null
                        ? List.of()
                        : server.callers().stream()
                                .map(caller -> caller(caller, at))
                                .toList());
        return outgoing;
    }

    private static Map<String, Object> caller(Callers.Caller caller, Instant at) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("caller", caller.name());
        json.put("how", caller.how().name().toLowerCase(Locale.ROOT));
        json.put("calls", caller.calls());
        json.put("failed", caller.failed());
        json.put("lastAt", at.minus(caller.sinceLast()).toString());
        return json;
    }

    /**
     * Returns the report part with the given name, such as the diagnosis; null if the application has no part with this
     * name.
     */
    @Nullable
    RpcReportPart part(String name) {
        return parts.stream()
                .filter(part -> part.name().equals(name))
                .findFirst()
                .orElse(null);
    }
}
