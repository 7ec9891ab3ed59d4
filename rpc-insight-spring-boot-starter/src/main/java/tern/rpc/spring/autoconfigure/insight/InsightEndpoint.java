package tern.rpc.spring.autoconfigure.insight;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.Producible;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.util.MimeType;
import org.springframework.util.MimeTypeUtils;
import tern.rpc.metrics.LatencyWindow;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.RpcReportPart;

/**
 * Shows the calls in the last minute at {@code /actuator/rpc} in an application without RPC, and each
 * {@link RpcReportPart} under that path. In an application with RPC, the RPC starter's endpoint replaces this endpoint
 * and also shows services and references.
 */
@Endpoint(id = "rpc")
public final class InsightEndpoint {

    private static final int STARTED = 202;
    private static final int RUNS_ALREADY = 409;
    private static final int UNKNOWN = WebEndpointResponse.STATUS_NOT_FOUND;

    private final RpcMeters meters;
    private final ObjectProvider<RpcReportPart> parts;

    InsightEndpoint(RpcMeters meters, ObjectProvider<RpcReportPart> parts) {
        this.meters = meters;
        this.parts = parts;
    }

    /**
     * The target rate and latency, and the calls in the last minute.
     *
     * @param parts the names of the reports that are available under this report
     */
    public record Summary(int qps, double latencyMillis, LatencyWindow.Report served, List<String> parts) {}

    @ReadOperation
    public Summary summary() {
        return new Summary(
                meters.slo().qps(),
                meters.slo().latency().toNanos() / 1e6,
                meters.served(),
                parts.orderedStream().map(RpcReportPart::name).toList());
    }

    /** The response format: JSON, unless the request prefers plain text. */
    public enum Format implements Producible<Format> {
        JSON,
        TEXT;

        @Override
        public MimeType getProducedMimeType() {
            return this == JSON ? MimeTypeUtils.APPLICATION_JSON : MimeTypeUtils.TEXT_PLAIN;
        }

        @Override
        public boolean isDefault() {
            return this == JSON;
        }
    }

    /**
     * Returns a part of the report. If the part's name is unknown, the response has the status 404 and lists the names.
     * A part without a text form is always returned as JSON.
     *
     * @param format the requested format, or null for JSON if the call does not come from the web
     */
    @ReadOperation(producesFrom = Format.class)
    public WebEndpointResponse<Object> part(@Selector String name, @Nullable Format format) {
        RpcReportPart found = find(name);
        if (found == null) {
            return new WebEndpointResponse<>(Map.of("message", unknown()), UNKNOWN, MimeTypeUtils.APPLICATION_JSON);
        }
        String text = format == Format.TEXT ? found.text() : null;
        return text == null
                ? new WebEndpointResponse<>(found.report(), MimeTypeUtils.APPLICATION_JSON)
                : new WebEndpointResponse<>(text, MimeTypeUtils.TEXT_PLAIN);
    }

    /**
     * Runs the action of a report part. For example, the action of the diagnosis starts a flight recording. Answers
     * with status 202 if the action was started, and with 409 if the action is already running. Returns null if the
     * part has no action. Actuator then answers with 404.
     */
    @WriteOperation
    public @Nullable WebEndpointResponse<Map<String, Boolean>> act(@Selector String name) {
        RpcReportPart found = find(name);
        Boolean started = found == null ? null : found.act();
        return started == null
                ? null
                : new WebEndpointResponse<>(Map.of("started", started), started ? STARTED : RUNS_ALREADY);
    }

    private String unknown() {
        return "there is no such report; the reports are "
                + parts.orderedStream().map(RpcReportPart::name).sorted().collect(Collectors.joining(", "));
    }

    private @Nullable RpcReportPart find(String name) {
        return parts.orderedStream()
                .filter(part -> part.name().equals(name))
                .findFirst()
                .orElse(null);
    }
}
