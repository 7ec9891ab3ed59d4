package tern.rpc.spring.autoconfigure.actuate;

import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/** Shows services, references and the last minute under {@code /actuator/rpc}. */
@Endpoint(id = "rpc")
public final class RpcActuatorEndpoint {

    private final RpcReporter reporter;

    RpcActuatorEndpoint(RpcReporter reporter) {
        this.reporter = reporter;
    }

    @ReadOperation
    public RpcReport report() {
        return reporter.report();
    }
}
