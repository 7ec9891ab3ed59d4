package tern.rpc.spring.autoconfigure.connection;

import java.util.List;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.testcontainers.containers.Container;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcConnectionDetails;

/** Finds the provider in a test container with {@code @ServiceConnection(name = "tern-rpc")}. */
final class RpcContainerConnectionDetailsFactory
        extends ContainerConnectionDetailsFactory<Container<?>, RpcConnectionDetails> {

    RpcContainerConnectionDetailsFactory() {
        super("tern-rpc");
    }

    @Override
    protected RpcConnectionDetails getContainerConnectionDetails(ContainerConnectionSource<Container<?>> source) {
        return new Details(source);
    }

    private static final class Details extends ContainerConnectionDetails<Container<?>>
            implements RpcConnectionDetails {

        Details(ContainerConnectionSource<Container<?>> source) {
            super(source);
        }

        /**
         * Returns the host address that a port of the container is mapped to. The port of the container is 20880, or
         * the first exposed port if the container does not expose 20880.
         */
        @Override
        public List<String> addresses(String reference) {
            Container<?> container = getContainer();
            int port = container.getExposedPorts().contains(RpcServer.DEFAULT_PORT)
                    ? container.getMappedPort(RpcServer.DEFAULT_PORT)
                    : container.getFirstMappedPort();
            return List.of(container.getHost() + ":" + port);
        }
    }
}
