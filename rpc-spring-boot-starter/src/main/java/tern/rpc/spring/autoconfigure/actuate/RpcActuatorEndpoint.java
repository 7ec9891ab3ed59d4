package tern.rpc.spring.autoconfigure.actuate;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/** Shows services, references and the last minute under {@code /actuator/rpc}, and each part below it. */
@Endpoint(id = "rpc")
public final class RpcActuatorEndpoint {

    private final RpcReporter reporter;
    private final List<RpcEndpointPart> parts;

    RpcActuatorEndpoint(RpcReporter reporter, List<RpcEndpointPart> parts) {
        this.reporter = reporter;
        this.parts = List.copyOf(parts);
    }

    @ReadOperation
    public RpcReport report() {
        return reporter.report();
    }

    /** @return null, which is a 404, when there is no such part */
    @ReadOperation
    public @Nullable Object part(@Selector String part) {
        return parts.stream()
                .filter(candidate -> candidate.name().equals(part))
                .findFirst()
                .map(RpcEndpointPart::read)
                .orElse(null);
    }
}
