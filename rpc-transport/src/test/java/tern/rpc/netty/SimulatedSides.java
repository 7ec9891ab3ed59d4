package tern.rpc.netty;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.ServiceDescriptor;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.limit.FixedLimit;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.IdleConnection;
import tern.rpc.transport.IdleServerTransport;
import tern.rpc.transport.Message;
import tern.rpc.transport.MessageStream;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.Tls;
import tern.rpc.transport.WrappedCalls;

/**
 * A client and a server that run production code. Only their threads, event loops and sockets belong to a
 * {@link Simulation}. The client and the server are created once, and each simulation opens its own connection.
 */
final class SimulatedSides<T> implements AutoCloseable {

    private static final Endpoint PEER = new Endpoint("127.0.0.1", 1);
    private static final int SOCKET_BYTES = 24 << 10;

    private final ServerProtocol protocol;
    private final ClientProtocol clientProtocol;
    private final ServerTransportSettings settings = ServerTransportSettings.onPort(0);
    private final TlsGate gate = new TlsGate(null, false, NanoClock.SYSTEM);
    private final boolean losesFirstSignal;
    private final RpcServer server;
    private final RpcClient client;
    private final T proxy;
    private @Nullable CallHandler handler;
    private @Nullable Simulation simulation;
    private Simulation.@Nullable Loop serverLoop;
    private Simulation.@Nullable Socket serverSocket;
    private @Nullable Connection connection;
    private @Nullable ServerConnection serverConnection;
    private InboundBudget budget = InboundBudget.forAll(1);

    /**
     * @param losesFirstSignal whether to reproduce a former defect of the server: a newly set receiver of requests got
     *     no ready signal
     */
    SimulatedSides(
            Class<T> type,
            T service,
            ServerProtocol protocol,
            ClientProtocol clientProtocol,
            boolean losesFirstSignal) {
        this.protocol = protocol;
        this.clientProtocol = clientProtocol;
        this.losesFirstSignal = losesFirstSignal;
        server = RpcServer.builder(new ServerSide())
                .export(ServiceExport.of(type, service))
                .workers(100, 100)
                .limit(() -> new FixedLimit(1_000))
                .threads(task -> simulation().worker(task), Duration.ZERO)
                .build();
        server.start();
        client = RpcClient.builder()
                .transport(new ClientSide())
                .threads(task -> simulation().worker(task), Duration.ZERO)
                .build();
        proxy = client.refer(ServiceReference.to(type, new StaticEndpoints(List.of(PEER)))
                .protocol(clientProtocol.name())
                .build());
    }

    private Simulation simulation() {
        return Objects.requireNonNull(simulation);
    }

    T proxy() {
        return proxy;
    }

    /** Opens a connection in the given simulation. */
    void connect(Simulation next) {
        simulation = next;
        Simulation.Loop clientLoop = next.new Loop("client loop");
        Simulation.Loop loop = next.new Loop("server loop");
        serverLoop = loop;
        Simulation.Socket ours = next.new Socket(SOCKET_BYTES);
        Simulation.Socket theirs = next.new Socket(SOCKET_BYTES);
        serverSocket = theirs;
        serverConnection = null;
        Connection made = new Connection(
                PEER, ClientTransportSettings.named("simulation"), clientProtocol, null, (changed, state) -> {});
        connection = made;
        ours.pipeline().addLast(made.opening().handlers());
        budget = InboundBudget.forAll(settings.maxInboundBytes());
        Simulation.Socket.connect(ours, clientLoop, theirs, loop);
        clientLoop.execute(() -> made.opened(ours));
        loop.execute(() -> {
            List<ServerConnection> connections = new ArrayList<>();
            ServerPort port = new ServerPort(
                    settings,
                    Objects.requireNonNull(handler),
                    new ServerCounters(),
                    budget,
                    InboundBudget.forStrangers(settings.maxInboundBytes()),
                    new FairBudget(settings.maxHeadBytes()),
                    new UnsentBudget(settings.maxStreamUnsentBytes(), settings.maxUnsentBytes()),
                    new Tenancy.Of(),
                    new IdleSweep(settings.idleTimeout(), connections));
            ServerConnection accepted = new ServerConnection(port, theirs, InetAddress.getLoopbackAddress());
            connections.add(accepted);
            serverConnection = accepted;
            theirs.closeFuture().addListener(done -> accepted.closed());
            ProtocolDetector detector = new ProtocolDetector(List.of(protocol), accepted, gate);
            theirs.pipeline().addLast(detector);
            accepted.opened();
        });
    }

    /** An event that can happen to a connection. */
    enum Mishap {
        LOST_BY_CLIENT,
        LOST_BY_SERVER,
        DRAINED
    }

    /** Applies the event to the connection if it is open. */
    void befall(Mishap mishap) {
        ServerConnection theirs = serverConnection;
        if (mishap == Mishap.LOST_BY_CLIENT || theirs == null) {
            Objects.requireNonNull(connection).close("by plan");
        } else if (mishap == Mishap.DRAINED) {
            theirs.goAway();
        } else {
            Objects.requireNonNull(serverSocket).close();
        }
    }

    /** Describes the calls and bytes that are still in use when no more steps can run; empty if nothing is in use. */
    String left() {
        StringBuilder left = new StringBuilder();
        Connection ours = Objects.requireNonNull(connection);
        ServerConnection theirs = Objects.requireNonNull(serverConnection);
        note(left, "calls in flight at the client", ours.inFlight());
        if (ours.state() != Connection.State.CLOSED) { // unsent bytes of a lost connection are not an error
            note(left, "bytes queued at the client", ours.queue().queuedBytes());
        }
        note(left, "bytes queued at the server", theirs.queue().queuedBytes());
        note(left, "bytes of requests kept", budget.used());
        ours.close("the simulation is over");
        simulation().run();
        note(left, "bytes of buffers not released", simulation().heldBytes());
        return left.toString();
    }

    private static void note(StringBuilder left, String what, long count) {
        if (count != 0) {
            left.append(count).append(' ').append(what).append("; ");
        }
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }

    /** A client transport that passes calls to the connection of the current simulation. */
    private final class ClientSide implements ClientTransport {

        @Override
        public String protocol() {
            return clientProtocol.name();
        }

        @Override
        public void prepare(ServiceDescriptor service) {
            clientProtocol.prepareReference(service);
        }

        @Override
        public ClientConnection connect(Endpoint endpoint, int connections, @Nullable Supplier<Tls> tls) {
            return new IdleConnection(PEER) {
                private Connection current() {
                    return Objects.requireNonNull(connection);
                }

                @Override
                public int inFlight() {
                    return connection == null ? 0 : connection.inFlight();
                }

                @Override
                public void send(PendingCall call) {
                    current().send(call);
                }

                @Override
                public ClientStream open(PendingCall call, ClientStream.Receiver receiver) {
                    return current().open(call, receiver);
                }
            };
        }

        @Override
        public void close() {
            // each simulation closes its own event loops
        }
    }

    /** A server transport that stores the server's call handler instead of opening a port. */
    private final class ServerSide extends IdleServerTransport {

        @Override
        public void prepare(ServiceDescriptor service) {
            protocol.prepare(service);
        }

        @Override
        public void start(CallHandler served) {
            handler = losesFirstSignal ? new WrappedCalls(served, SimulatedSides.this::losing) : served;
        }
    }

    // ---- reproduced defect

    private ServerCall losing(ServerCall call) {
        InvocationHandler deeds = (proxied, method, arguments) -> {
            Object result;
            try {
                result = method.invoke(call, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
            return result instanceof MessageStream stream ? losing(stream) : result;
        };
        return (ServerCall)
                Proxy.newProxyInstance(ServerCall.class.getClassLoader(), new Class<?>[] {ServerCall.class}, deeds);
    }

    /** Wraps a message stream. When its receiver is set, the wrapper suppresses the first ready signal. */
    private MessageStream losing(MessageStream stream) {
        return new MessageStream() {
            private @Nullable Runnable starting;

            @Override
            public void start(Receiver receiver) {
                stream.start(new Receiver() {
                    @Override
                    public void message(Message message) {
                        receiver.message(message);
                    }

                    @Override
                    public void ended() {
                        receiver.ended();
                    }

                    @Override
                    public void ready() {
                        if (simulation().runningTask() != starting) {
                            receiver.ready();
                        }
                    }
                });
                starting = Objects.requireNonNull(serverLoop).newest();
            }

            @Override
            public void request(int messages) {
                stream.request(messages);
            }

            @Override
            public void send(@Nullable Object value) {
                stream.send(value);
            }

            @Override
            public boolean isReady() {
                return stream.isReady();
            }
        };
    }
}
