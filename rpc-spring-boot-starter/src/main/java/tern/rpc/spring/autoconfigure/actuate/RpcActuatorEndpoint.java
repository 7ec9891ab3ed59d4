package tern.rpc.spring.autoconfigure.actuate;

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
import tern.rpc.metrics.RpcReportPart;

/**
 * Serves a report on the services, the references and the calls in the last minute at {@code /actuator/rpc}. Each
 * {@link RpcReportPart} is served under that path, for example at {@code /actuator/rpc/diagnosis}.
 */
@Endpoint(id = "rpc")
public final class RpcActuatorEndpoint {

    private static final int STARTED = 202;
    private static final int RUNS_ALREADY = 409;
    private static final int UNKNOWN = WebEndpointResponse.STATUS_NOT_FOUND;

    private final RpcReporter reporter;
    private final ObjectProvider<RpcReportPart> parts;

    RpcActuatorEndpoint(RpcReporter reporter, ObjectProvider<RpcReportPart> parts) {
        this.reporter = reporter;
        this.parts = parts;
    }

    @ReadOperation
    public RpcReport report() {
        return reporter.report();
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
     * @param format the requested format; null, which means JSON, if the call does not come from the web
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
     * Runs the action of a report part. For example, the action of the diagnosis starts a flight recording. The
     * response has the status 202 if the action was started, and 409 if the action is already running. Returns null if
     * the part has no action, and Actuator then responds with 404.
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
