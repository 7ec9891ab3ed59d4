package tern.rpc.spring.autoconfigure.actuate;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import tern.rpc.metrics.RpcReportPart;

/**
 * Shows services, references and the last minute under {@code /actuator/rpc}, and each {@link RpcReportPart} below it,
 * for example {@code /actuator/rpc/waiting}.
 */
@Endpoint(id = "rpc")
public final class RpcActuatorEndpoint {

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

    /** The part; null for an unknown name, which becomes 404. */
    @ReadOperation
    public @Nullable Object part(@Selector String name) {
        return parts.orderedStream()
                .filter(part -> part.name().equals(name))
                .findFirst()
                .map(RpcReportPart::report)
                .orElse(null);
    }
}
