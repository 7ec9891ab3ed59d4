package tern.rpc.netty.triple;

import io.netty.channel.ChannelHandler;
import io.netty.handler.codec.http2.Http2Exception;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.Connection;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.BuiltInMethods;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.Message;
import tern.rpc.transport.PendingCall;

/** Makes calls and opens streams with Tern's client connections, without the layers above them. */
final class Requests implements AutoCloseable {

    static final Duration LONG = Duration.ofSeconds(20);

    final TripleCodecs codecs = new TripleCodecs(HessianSerializer.builder().build(), null, 0);
    private final EventLoops loops = EventLoops.start(1);
    private final TripleClientProtocol protocol = new TripleClientProtocol(codecs);
    private final List<NettyClientTransport> transports = new ArrayList<>();
    private final BlockingQueue<Connection> connections = new LinkedBlockingQueue<>();
    private final ExecutorService executor = Executors.newCachedThreadPool();

    Requests() {
        codecs.prepareReference(BuiltInMethods.DESCRIPTOR);
    }

    TripleClientProtocol protocol() {
        return protocol;
    }

    EventLoops loops() {
        return loops;
    }

    ClientConnection connect(Endpoint endpoint, UnaryOperator<ClientTransportSettings> settings) {
        NettyClientTransport transport = new NettyClientTransport(
                settings.apply(ClientTransportSettings.named("wire-consumer")), loops, noting());
        transports.add(transport);
        return transport.connect(endpoint, 1, null);
    }

    ClientConnection connect(Endpoint endpoint) {
        return connect(endpoint, settings -> settings);
    }

    /** Wraps the protocol. The wrapper records the connections that are opened with the protocol. */
    private ClientProtocol noting() {
        return new ClientProtocol() {
            @Override
            public String name() {
                return protocol.name();
            }

            @Override
            public void prepareReference(ServiceDescriptor service) {
                protocol.prepareReference(service);
            }

            @Override
            public ChannelHandler clientHandler(Connection connection) {
                connections.add(connection);
                return protocol.clientHandler(connection);
            }

            @Override
            public WriteCommand request(PendingCall call, Connection connection) {
                return protocol.request(call, connection);
            }

            @Override
            public ClientStream open(PendingCall call, ClientStream.Receiver receiver, Connection connection) {
                return protocol.open(call, receiver, connection);
            }

            @Override
            public WriteCommand abandon(PendingCall call, Connection connection) {
                return protocol.abandon(call, connection);
            }

            @Override
            public WriteCommand ping(Connection connection) {
                return protocol.ping(connection);
            }
        };
    }

    /** An action that runs on the event loop. */
    interface Deed {
        void on(Http2ClientHandler handler) throws Http2Exception;
    }

    /** Runs an action on the event loop of the newest connection, before all later writes. */
    void onEventLoop(Deed deed) {
        List<Connection> all = List.copyOf(connections);
        all.get(all.size() - 1).queue().add(new WriteCommand() {
            @Override
            public int bytes() {
                return 0;
            }

            @Override
            protected void write(WriteBatch batch) {
                try {
                    deed.on(Http2ClientHandler.of(batch.channel()));
                } catch (Http2Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        });
    }

    Invocation call(MethodDescriptor method, Object... arguments) {
        return call(method, LONG, arguments);
    }

    Invocation call(MethodDescriptor method, Duration timeout, Object... arguments) {
        ServiceDescriptor service = method.service();
        protocol.prepareReference(service);
        return new Invocation(
                new ServiceKey(service.name(), "", ""), method, arguments, new Metadata(), deadline(timeout), executor);
    }

    static Deadline deadline(Duration timeout) {
        return Deadline.at(System.nanoTime() + timeout.toNanos());
    }

    /** Sends a call. The returned object can wait for the end of the call. */
    static PendingCall send(ClientConnection connection, Invocation call) {
        PendingCall pending = new PendingCall(call, false, System.nanoTime(), null);
        connection.send(pending);
        return pending;
    }

    Opened open(ClientConnection connection, Invocation call) {
        return new Opened(connection, call);
    }

    /** An open stream with its received events. */
    static final class Opened implements ClientStream.Receiver {

        /** Represents null in the queue of events. */
        static final Object NOTHING = "nothing";

        /** The received events: metadata, decoded messages, "ready", and at the end a Response or a Throwable. */
        final BlockingQueue<Object> events = new LinkedBlockingQueue<>();

        /** The exception to throw when the next message arrives; null for none. */
        volatile @Nullable RuntimeException failing;

        final PendingCall pending;
        final ClientStream stream;

        private Opened(ClientConnection connection, Invocation call) {
            this.pending = new PendingCall(call, false, System.nanoTime(), this::completed);
            this.stream = connection.open(pending, this);
        }

        private void completed(@Nullable Response response, @Nullable Throwable failure) {
            events.add(failure != null ? failure : response);
        }

        @Override
        public void headers(Metadata headers) {
            events.add(headers);
        }

        @Override
        public void message(Message message) {
            if (failing != null) {
                message.discard();
                throw failing;
            }
            Object value = message.decode();
            events.add(value == null ? NOTHING : value);
        }

        @Override
        public void ended() {
            throw new AssertionError("a client learns of the end by its call");
        }

        @Override
        public void ready() {
            events.add("ready");
        }

        Object next() {
            try {
                Object next = events.poll(30, TimeUnit.SECONDS);
                if (next == null) {
                    throw new AssertionError("nothing more came");
                }
                return next;
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @SuppressWarnings("unchecked")
        <T> T next(Class<T> type) {
            Object next = next();
            while (next.equals("ready")) { // the event "ready" is skipped, because it can occur at any time
                next = next();
            }
            if (!type.isInstance(next)) {
                throw new AssertionError("came: " + next, next instanceof Throwable e ? e : null);
            }
            return (T) next;
        }
    }

    void closeTransports() {
        transports.forEach(NettyClientTransport::close);
    }

    @Override
    public void close() {
        closeTransports();
        executor.shutdownNow();
        loops.close();
    }
}
