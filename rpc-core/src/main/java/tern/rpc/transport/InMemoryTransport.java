package tern.rpc.transport;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.PeriodicTask;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.limit.Share;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.Serializer;

/**
 * Connects a client and a server in one process without sockets. The transport is used in tests, and for warm-up calls
 * before the first real call. The serializer encodes and decodes arguments and results, as with a socket. Pass the same
 * object to the client and to the server, either as the server's main transport or with
 * {@link tern.rpc.server.RpcServer#serve}. Thread-safe.
 */
public final class InMemoryTransport implements ClientTransport, ServerTransport {

    /** The name of the in-memory protocol in addresses and meters. */
    public static final String PROTOCOL = "local";

    private static final int DEFAULT_MESSAGE_BYTES = 8 << 20; // the default message size, see docs/limits.md

    private static final long SWEEP_MILLIS = 20;

    private final MemoryCodec codec;
    private final NanoClock clock;
    private final Set<MemoryCall> calls = ConcurrentHashMap.newKeySet();
    private final AtomicLong received = new AtomicLong();
    private final AtomicLong late = new AtomicLong();
    private final AtomicLong unreadBytes = new AtomicLong();
    private final MemoryCall.Owner owner = new Calls();
    private final boolean sweepsItself;
    private final @Nullable Consumer<InMemoryTransport> starter;
    private volatile @Nullable CallHandler handler;
    // Ends calls at their deadline; null while the transport is not started; guarded by this.
    private @Nullable ScheduledExecutorService timer;
    private volatile boolean draining;
    private volatile boolean closed;

    /** Creates a transport for messages of up to 8 MiB. A separate thread monitors the deadlines. */
    public InMemoryTransport(Serializer serializer) {
        this(serializer, DEFAULT_MESSAGE_BYTES, null);
    }

    /**
     * Creates a transport with the same limit for requests and answers.
     *
     * @param maxMessageBytes the maximum size of a request and of an answer
     * @param starter starts a server if there is no server when a call is made; may be null
     */
    public InMemoryTransport(
            Serializer serializer, int maxMessageBytes, @Nullable Consumer<InMemoryTransport> starter) {
        this(serializer, maxMessageBytes, maxMessageBytes, starter);
    }

    /**
     * Creates a transport. A separate thread monitors the deadlines.
     *
     * @param maxRequestBytes the maximum size of a request
     * @param maxResponseBytes the maximum size of an answer
     * @param starter runs on the caller's thread if there is no server when a call is made; may be null. The starter
     *     must make a server serve this transport ({@link tern.rpc.server.RpcServer#serve}), or throw an
     *     {@link RpcException}, which then fails the call. The starter can run several times, and on several threads
     *     concurrently
     */
    public InMemoryTransport(
            Serializer serializer,
            int maxRequestBytes,
            int maxResponseBytes,
            @Nullable Consumer<InMemoryTransport> starter) {
        this.codec = new MemoryCodec(serializer, maxRequestBytes, maxResponseBytes);
        this.clock = NanoClock.SYSTEM;
        this.sweepsItself = true;
        this.starter = starter;
    }

    /**
     * Creates a transport whose clock is controlled by a test. Calls whose deadline has passed end when the test calls
     * {@link #sweep()}.
     */
    public InMemoryTransport(Serializer serializer, NanoClock clock) {
        this.codec = new MemoryCodec(serializer, DEFAULT_MESSAGE_BYTES, DEFAULT_MESSAGE_BYTES);
        this.clock = clock;
        this.sweepsItself = false;
        this.starter = null;
    }

    @Override
    public String protocol() {
        return PROTOCOL;
    }

    @Override
    public void prepare(ServiceDescriptor service) {
        codec.prepare(service);
    }

    /**
     * Starts the transport. A closed transport can be started again.
     *
     * @throws IllegalStateException if the transport is already started
     */
    @Override
    public synchronized void start(CallHandler served) {
        if (handler != null) {
            throw new IllegalStateException("this in-memory transport is started; close its server first");
        }
        closed = false;
        draining = false;
        handler = served;
        if (sweepsItself) {
            timer = Executors.newSingleThreadScheduledExecutor(TimerThread::new);
            timer.scheduleWithFixedDelay(
                    new PeriodicTask("The check of deadlines", this::sweep),
                    SWEEP_MILLIS,
                    SWEEP_MILLIS,
                    TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public int port() {
        return 0;
    }

    @Override
    public void drain() {
        draining = true;
    }

    /** Returns 1 if calls are in flight, or 0 if there are none. */
    @Override
    public int connections() {
        return inFlight() == 0 ? 0 : 1;
    }

    @Override
    public long received() {
        return received.get();
    }

    @Override
    public int inFlight() {
        return (int) calls.stream().filter(MemoryCall::isOpen).count();
    }

    /** Returns the size of all stream messages, in both directions, that have been neither decoded nor discarded. */
    @Override
    public long queuedBytes() {
        return unreadBytes.get();
    }

    /** Ends the calls whose deadline has passed. */
    public void sweep() {
        long now = clock.nanoTime();
        calls.forEach(call -> call.lookAtTime(now));
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            handler = null;
            if (timer != null) {
                timer.shutdownNow();
                timer = null;
            }
        }
        calls.forEach(MemoryCall::disconnect);
    }

    @Override
    public ClientConnection connect(Endpoint endpoint, int connections, @Nullable Supplier<Tls> tls) {
        return new Connection(endpoint);
    }

    private final class Connection implements ClientConnection {

        private final Endpoint endpoint;
        private final Share share = new Share("a connection in memory");
        private volatile boolean ended;

        Connection(Endpoint endpoint) {
            this.endpoint = endpoint;
        }

        @Override
        public Endpoint endpoint() {
            return endpoint;
        }

        @Override
        public boolean isAvailable() {
            return !ended && !closed && !draining && (handler != null || starter != null);
        }

        @Override
        public boolean isConnecting() {
            return false;
        }

        @Override
        public String lastFailure() {
            if (closed) {
                return "the server of this process was closed";
            }
            return draining ? "the server is shutting down" : handler == null ? "no server was started" : "";
        }

        @Override
        public int inFlight() {
            return calls.size();
        }

        @Override
        public long queuedBytes() {
            return 0;
        }

        @Override
        public long lateAnswers() {
            return late.get();
        }

        @Override
        public void send(PendingCall pending) {
            CallHandler served;
            MemoryCall call;
            try {
                served = server(pending);
                call = newCall(pending, share);
                received(call, pending);
            } catch (RpcException e) {
                pending.fail(e);
                return;
            }
            pending.carriedBy(call);
            served.handle(call);
            call.hangUpIfFailed();
            if (pending.isOneWay()) {
                pending.answer(new NoAnswer());
            }
        }

        @Override
        public ClientStream open(PendingCall pending, ClientStream.Receiver receiver) {
            CallHandler served = server(pending);
            MemoryCall call = newCall(pending, share);
            received(call, pending);
            ClientStream stream = call.open(receiver);
            if (!pending.call().method().type().clientStreams()) {
                stream.end();
            }
            served.handle(call);
            call.hangUpIfFailed();
            return stream;
        }

        /**
         * Returns the server that handles the call.
         *
         * @throws RpcException if there is no server
         */
        private CallHandler server(PendingCall pending) {
            if (handler == null && starter != null && isAvailable()) {
                starter.accept(InMemoryTransport.this);
            }
            CallHandler served = handler;
            if (served == null || !isAvailable()) {
                throw notSent(pending);
            }
            return served;
        }

        /**
         * Registers a received call, so that closing the transport ends it.
         *
         * @throws RpcException if the call has ended, or if the transport has been closed in the meantime, because the
         *     call would then never end
         */
        private void received(MemoryCall call, PendingCall pending) {
            calls.add(call);
            if (closed || !pending.markSent()) {
                calls.remove(call);
                throw notSent(pending);
            }
            received.incrementAndGet();
        }

        private RpcException notSent(PendingCall pending) {
            return RpcException.refusal(
                    StatusCode.UNAVAILABLE, pending + " was not sent: " + lastFailure(), Executed.NO);
        }

        @Override
        public void close() {
            ended = true;
        }
    }

    private MemoryCall newCall(PendingCall pending, Share share) {
        Invocation call = pending.call();
        byte[] arguments;
        try {
            arguments = codec.encodeAll(call.method().type().clientStreams() ? new Object[0] : call.arguments());
        } catch (SerializationException e) {
            throw new RpcException(
                    e instanceof MessageTooLargeException ? StatusCode.RESOURCE_EXHAUSTED : StatusCode.INVALID_ARGUMENT,
                    pending + " was not sent: " + e.getMessage(),
                    Executed.NO,
                    e);
        }
        return new MemoryCall(owner, codec, pending, arguments, clock.nanoTime(), share, unreadBytes);
    }

    private final class Calls implements MemoryCall.Owner {

        @Override
        public void over(MemoryCall call) {
            calls.remove(call);
        }

        @Override
        public void late() {
            late.incrementAndGet();
        }
    }

    /** The answer to a one-way call. Such an answer has no value. */
    private static final class NoAnswer implements Answer {

        @Override
        public Response decode(Invocation call) {
            return Response.of(null);
        }

        @Override
        public void discard() {
            // A one-way call has no answer to release.
        }
    }

    private static final class TimerThread extends Thread implements EventLoopThread {
        TimerThread(Runnable task) {
            super(task, "rpc-memory-timer");
            setDaemon(true);
        }
    }
}
