package tern.rpc.netty;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.ServiceDescriptor;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.CallToken;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.Tls;
import tern.rpc.transport.Token;

/** Opens client connections of one protocol over TCP, with or without TLS. Thread-safe. */
public final class NettyClientTransport implements ClientTransport {

    private final ClientTransportSettings settings;
    private final EventLoops loops;
    private final ClientProtocol protocol;
    private final NanoClock clock;
    private final ReconnectPace reconnects;
    private final Map<Supplier<Tls>, TlsContext> contexts = new ConcurrentHashMap<>();
    private final Set<ClientConnection> opened = ConcurrentHashMap.newKeySet();

    /**
     * @param loops the event loops; closing the transport does not close them
     * @throws IllegalArgumentException if keys or trusted certificates cannot be used
     */
    public NettyClientTransport(ClientTransportSettings settings, EventLoops loops, ClientProtocol protocol) {
        this(settings, loops, protocol, NanoClock.SYSTEM);
    }

    /** @param clock the clock that measures the time between connection attempts */
    NettyClientTransport(ClientTransportSettings settings, EventLoops loops, ClientProtocol protocol, NanoClock clock) {
        this.clock = clock;
        this.settings = settings;
        this.loops = loops;
        this.protocol = protocol;
        this.reconnects =
                new ReconnectPace(clock, (task, millis) -> loops.group().schedule(task, millis, TimeUnit.MILLISECONDS));
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
    public CallToken carry(Token token) {
        return protocol.carry(token);
    }

    @Override
    public ClientConnection connect(Endpoint endpoint, int connections, @Nullable Supplier<Tls> tls) {
        TlsContext context = context(tls == null ? settings.tls() : tls);
        if (protocol.isExclusive()) {
            ExclusiveConnections made = new ExclusiveConnections(
                    endpoint, settings, protocol, context, loops, opened::remove, clock, reconnects);
            opened.add(made);
            made.open();
            return made;
        }
        ConnectionPool made = new ConnectionPool(
                endpoint, connections, settings, protocol, context, loops, opened::remove, clock, reconnects);
        opened.add(made);
        made.open();
        return made;
    }

    @Override
    public void close() {
        opened.forEach(ClientConnection::close);
        opened.clear();
    }
}
