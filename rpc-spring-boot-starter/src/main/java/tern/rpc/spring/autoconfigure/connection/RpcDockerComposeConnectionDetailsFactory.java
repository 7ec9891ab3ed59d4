package tern.rpc.spring.autoconfigure.connection;

import java.util.List;
import org.springframework.boot.docker.compose.core.ConnectionPorts;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionDetailsFactory;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcConnectionDetails;

/**
 * Finds the provider among the services of Docker Compose: the service with the image {@code tern-rpc} or the label
 * {@code org.springframework.boot.service-connection: tern-rpc}.
 */
final class RpcDockerComposeConnectionDetailsFactory
        extends DockerComposeConnectionDetailsFactory<RpcConnectionDetails> {

    RpcDockerComposeConnectionDetailsFactory() {
        super("tern-rpc");
    }

    @Override
    protected RpcConnectionDetails getDockerComposeConnectionDetails(DockerComposeConnectionSource source) {
        return new Details(source.getRunningService());
    }

    private static final class Details extends DockerComposeConnectionDetails implements RpcConnectionDetails {

        private final String address;

        Details(RunningService service) {
            super(service);
            this.address = service.host() + ":" + port(service);
        }

        /**
         * Returns the host port that is mapped to port 20880 of the container. If port 20880 is not mapped, returns the
         * only mapped port.
         */
        private static int port(RunningService service) {
            ConnectionPorts ports = service.ports();
            List<Integer> published = ports.getAll();
            return published.size() == 1 ? published.get(0) : ports.get(RpcServer.DEFAULT_PORT);
        }

        @Override
        public List<String> addresses(String reference) {
            return List.of(address);
        }
    }
}
