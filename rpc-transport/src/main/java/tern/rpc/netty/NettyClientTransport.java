package tern.rpc.netty;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.Tls;

/** Connections of one protocol over TCP, in clear text or with TLS. Thread-safe. */
public final class NettyClientTransport implements ClientTransport {

    private final ClientTransportSettings settings;
    private final EventLoops loops;
    private final ClientProtocol protocol;
    private final Map<Supplier<Tls>, TlsContext> contexts = new ConcurrentHashMap<>();
    private final Set<ConnectionPool> pools = ConcurrentHashMap.newKeySet();

    /**
     * @param loops not closed with the transport
     * @throws IllegalArgumentException if keys or trust cannot be used
     */
    public NettyClientTransport(ClientTransportSettings settings, EventLoops loops, ClientProtocol protocol) {
        this.settings = settings;
        this.loops = loops;
        this.protocol = protocol;
        context(settings.tls());
    }

    private @Nullable TlsContext context(@Nullable Supplier<Tls> tls) {
        return tls == null
                ? null
                : contexts.computeIfAbsent(
                        tls, unknown -> TlsContext.ofClient(unknown, protocol.applicationProtocols()));
    }

    @Override
    public String protocol() {
        return protocol.name();
    }

    @Override
    public void prepare(ServiceDescriptor service) {
        protocol.prepareReference(service);
    }

    @Override
    public ClientConnection connect(Endpoint endpoint, int connections, @Nullable Supplier<Tls> tls) {
        pools.removeIf(ConnectionPool::isClosed);
        TlsContext context = context(tls == null ? settings.tls() : tls);
        ConnectionPool pool = new ConnectionPool(endpoint, connections, settings, protocol, context, loops);
        pools.add(pool);
        pool.open();
        return pool;
    }

    @Override
    public void close() {
        pools.forEach(ConnectionPool::close);
        pools.clear();
    }
}
