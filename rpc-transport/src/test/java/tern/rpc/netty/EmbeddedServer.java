package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.server.RpcServer;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.IdleServerTransport;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.WrappedCalls;

/**
 * A server without sockets or threads. Each input is one connection, and all its work runs on the calling thread. The
 * server detects two errors that a peer must never be able to cause: an unexpected exception and a leaked buffer.
 */
public final class EmbeddedServer implements AutoCloseable {

    private static final int MAX_MESSAGE_BYTES = 1 << 20;

    private final List<ServerProtocol> protocols;
    private final ServerTransportSettings settings = ServerTransportSettings.onPort(0)
            .withMaxInFlight(100)
            .withMaxMessageBytes(MAX_MESSAGE_BYTES)
            .withIdleTimeout(Duration.ofHours(1))
            .withFirstBytesTimeout(Duration.ofHours(1));
    private final TlsGate gate = new TlsGate(null, false, NanoClock.SYSTEM);
    private final Unforeseen unforeseen = new Unforeseen();
    private final CountedBuffers buffers = new CountedBuffers();
    private final RpcServer server;
    private @Nullable CallHandler handler;
    private long replies;
    private int mostStreams = 1_000_000;

    /** @param exports adds the exported services, whose methods must return immediately on the calling thread */
    public EmbeddedServer(List<ServerProtocol> protocols, Consumer<RpcServer.Builder> exports) {
        this.protocols = List.copyOf(protocols);
        RpcServer.Builder builder =
                RpcServer.builder(new Transport()).workers(1_000, 1_000).threads(EmbeddedServer::here, Duration.ZERO);
        exports.accept(builder);
        server = builder.build();
        server.start();
    }

    /** Creates a thread whose task runs on the thread that calls {@code start()}. */
    private static Thread here(Runnable task) {
        return new Thread(task) {
            @Override
            public synchronized void start() {
                task.run();
            }
        };
    }

    /** Passes the input to one connection in two pieces. The content of the input determines where it is split. */
    public void feed(byte[] input) {
        int cut = Math.floorMod(Arrays.hashCode(input), input.length + 1);
        try (Peer peer = connect()) {
            peer.write(input, 0, cut);
            peer.write(input, cut, input.length);
            peer.run();
        }
    }

    /** Sets the limit on open streams of each connection that is opened later. */
    public void limitStreams(int most) {
        mostStreams = most;
    }

    /** Opens a connection. Closing the returned peer also checks that the connection ended correctly. */
    public Peer connect() {
        return new Peer();
    }

    /** The bytes that the server has sent and the client has not read. */
    private record Unread(Object bytes, ChannelPromise promise) {

        void read() {
            ReferenceCountUtil.release(bytes);
            promise.trySuccess();
        }
    }

    /** Keeps the bytes that the server sends while the client does not read. */
    private static final class Socket extends ChannelOutboundHandlerAdapter {

        private final List<Unread> unread = new ArrayList<>();
        private boolean reads = true;

        @Override
        public void write(ChannelHandlerContext context, Object bytes, ChannelPromise promise) {
            if (reads) {
                context.write(bytes, promise);
            } else {
                unread.add(new Unread(bytes, promise));
            }
        }
    }

    /** The client's side of one connection. */
    public final class Peer implements AutoCloseable {
        private final InboundBudget budget = InboundBudget.forAll(settings.maxInboundBytes());
        private final InboundBudget strangers = InboundBudget.forStrangers(settings.maxInboundBytes());
        private final FairBudget heads = new FairBudget(settings.maxHeadBytes());
        private final OpenStreams streams = new OpenStreams(mostStreams);
        private final UnsentBudget unsent =
                new UnsentBudget(settings.maxStreamUnsentBytes(), settings.maxUnsentBytes());
        // the connections that are open on the simulated server; only this peer connects to the server
        private final List<ServerConnection> connections = new ArrayList<>();
        private final ResettableSocket resettable = new ResettableSocket(Integer.MAX_VALUE);
        private final Socket socket = new Socket();
        private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel made) {
                buffers.count(made);
                ServerPort port = new ServerPort(
                        settings,
                        Objects.requireNonNull(EmbeddedServer.this.handler),
                        new ServerCounters(),
                        budget,
                        strangers,
                        heads,
                        unsent,
                        new Tenancy.Of(streams),
                        new IdleSweep(settings.idleTimeout(), connections));
                ServerConnection connection = new ServerConnection(port, made, InetAddress.getLoopbackAddress());
                connections.add(connection);
                made.closeFuture().addListener(done -> connection.closed());
                made.pipeline().addLast(resettable);
                made.pipeline().addLast(socket);
                made.pipeline().addLast(new ProtocolDetector(protocols, connection, gate));
            }
        });

        private void write(byte[] input, int from, int to) {
            if (channel.isOpen() && from < to) {
                channel.writeInbound(buffers.of(input, from, to));
            }
        }

        /** Sends bytes. The caller can send more bytes afterwards. */
        public void send(byte[] input, int from, int to) {
            write(input, from, to);
        }

        /** Runs all work triggered by the bytes sent so far. */
        public void run() {
            channel.runPendingTasks();
            channel.runScheduledPendingTasks();
        }

        /** Asks the client to stop sending calls, as a server does when it shuts down. */
        public void drain() {
            connection().goAway();
            channel.runPendingTasks();
        }

        /** Advances the clock of the event loop, and runs all tasks that are due. */
        public void pass(Duration time) {
            channel.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
            channel.runPendingTasks();
            channel.runPendingTasks(); // a scheduled task might have queued a write
        }

        /** Returns the bytes that the server has sent since the last call to this method. */
        public byte[] received() {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            for (Object out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
                ByteBuf buffer = (ByteBuf) out;
                bytes.writeBytes(ByteBufUtil.getBytes(buffer));
                buffer.release();
            }
            return bytes.toByteArray();
        }

        /** Stops reading, so that the server keeps all bytes that it sends from this point on. */
        public void readsNothing() {
            socket.reads = false;
        }

        /** Resets the connection when the server has flushed its output the given number of times. */
        public void resetsAfter(int flushes) {
            resettable.resetAfter(flushes);
        }

        /** Reads the bytes that the server has kept, drops them, and reads all later bytes. */
        public void readsAll() {
            socket.reads = true;
            socket.unread.forEach(Unread::read);
            socket.unread.clear();
            run();
        }

        /** Returns the number of bytes of answers that count towards the budget of unread answers. */
        public long unsentBytes() {
            return unsent.used();
        }

        /** Returns the number of bytes that count towards the memory budget for request headers. */
        public long headBytes() {
            return heads.used();
        }

        /** Passes an exception to the handlers of the connection, as if a handler had thrown it. */
        public void fails(Throwable cause) {
            channel.pipeline().fireExceptionCaught(cause);
            channel.runPendingTasks();
        }

        /** Returns the server's side of the connection. */
        public ServerConnection connection() {
            return connections.get(0);
        }

        /** Returns the number of bytes of requests that are counted in the memory budget for all callers. */
        public long requestBytes() {
            return budget.used();
        }

        /**
         * Returns the number of bytes of requests that are counted in the memory budget for unauthenticated callers.
         */
        public long strangersBytes() {
            return strangers.used();
        }

        /** Returns the size of all buffers that have not been released. */
        public long bufferBytes() {
            return buffers.bytes();
        }

        /** Returns whether the connection is still open. */
        public boolean isOpen() {
            return channel.isOpen();
        }

        @Override
        public void close() {
            channel.finishAndReleaseAll();
            long counted = budget.used() + strangers.used() + heads.used() + unsent.used();
            if (counted != 0) {
                throw new AssertionError(counted + " bytes are still counted for a connection that is gone");
            }
            int networks = budget.networks() + strangers.networks() + heads.networks();
            if (networks != 0) {
                throw new AssertionError(networks + " networks are still remembered for a connection that is gone");
            }
            if (streams.open() != 0) {
                throw new AssertionError(streams.open() + " streams are still counted for a connection that is gone");
            }
            buffers.check();
            unforeseen.check();
        }
    }

    /**
     * Returns the number of calls that were answered with a result. Tests use it to check that some inputs reach the
     * services.
     */
    public long replies() {
        return replies;
    }

    @Override
    public void close() {
        unforeseen.close();
        server.close();
        buffers.close();
    }

    /** A transport that stores the server's call handler instead of opening a port. */
    private final class Transport extends IdleServerTransport {

        @Override
        public void prepare(ServiceDescriptor service) {
            protocols.forEach(protocol -> protocol.prepare(service));
        }

        @Override
        public void start(CallHandler served) {
            handler = new WrappedCalls(served, this::watched);
        }

        /** Wraps a call and checks its failures for unexpected exceptions. */
        private ServerCall watched(ServerCall call) {
            return (ServerCall) Proxy.newProxyInstance(
                    ServerCall.class.getClassLoader(),
                    new Class<?>[] {ServerCall.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("fail")
                                && arguments[0] instanceof RpcException failure
                                && failure.getMessage().contains("could not be read: ")) {
                            unforeseen.look(failure);
                        }
                        replies += method.getName().equals("reply") ? 1 : 0;
                        try {
                            return method.invoke(call, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }
}
