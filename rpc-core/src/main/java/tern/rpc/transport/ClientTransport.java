package tern.rpc.transport;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.endpoint.Endpoint;

/** Creates connections of one protocol. Thread-safe. */
public interface ClientTransport extends AutoCloseable {

    /** Returns the protocol name as used in addresses, such as {@code dubbo}. */
    String protocol();

    /**
     * Prepares the types of a service.
     *
     * @throws IllegalArgumentException if a type cannot be sent
     */
    void prepare(ServiceDescriptor service);

    /**
     * Starts connecting. Does not block.
     *
     * @param connections the number of sockets to keep open; 1 or more
     * @param tls supplies keys and trusted certificates for every new socket, or null to use the transport's own TLS
     *     settings, which may disable TLS
     */
    ClientConnection connect(Endpoint endpoint, int connections, @Nullable Supplier<Tls> tls);

    /** Returns the token in the protocol's format. */
    default CallToken carry(Token token) {
        return CallToken.attachment(token);
    }

    /** Closes every connection. */
    @Override
    void close();
}
