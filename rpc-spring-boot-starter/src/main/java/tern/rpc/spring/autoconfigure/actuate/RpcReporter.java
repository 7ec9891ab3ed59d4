package tern.rpc.spring.autoconfigure.actuate;

import org.springframework.beans.factory.ObjectProvider;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.autoconfigure.RpcReferences;
import tern.rpc.spring.autoconfigure.RpcServerLifecycle;

/** Creates the report that the Actuator endpoint, the health indicator and the info contributor show. Thread-safe. */
final class RpcReporter {

    private final ObjectProvider<RpcServer> server;
    private final ObjectProvider<RpcServerLifecycle> lifecycle;
    private final RpcReferences references;
    private final RpcMeters meters;

    RpcReporter(
            ObjectProvider<RpcServer> server,
            ObjectProvider<RpcServerLifecycle> lifecycle,
            RpcReferences references,
            RpcMeters meters) {
        this.server = server;
        this.lifecycle = lifecycle;
        this.references = references;
        this.meters = meters;
    }

    RpcReport report() {
        return RpcReport.of(server.getIfAvailable(), lifecycle.getIfAvailable(), references, meters);
    }
}
