package tern.rpc.transport;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.endpoint.Endpoint;

/** Makes connections of one protocol. Thread-safe. */
public interface ClientTransport extends AutoCloseable {

    /** As in an address: {@code dubbo}. */
    String protocol();

    /**
     * Prepares for the types of a service.
     *
     * @throws IllegalArgumentException if one of them cannot travel
     */
    void prepare(ServiceDescriptor service);

    /**
     * Begins to connect and returns at once.
     *
     * @param connections how many sockets to keep open; 1 or more
     * @param tls keys and trust, looked at for every new socket; null for those of the transport, which may have none
     */
    ClientConnection connect(Endpoint endpoint, int connections, @Nullable Supplier<Tls> tls);

    /** How this protocol shows a token to the server. */
    default CallToken carry(Token token) {
        return CallToken.attachment(token);
    }

    /** Closes every connection. */
    @Override
    void close();
}
