package tern.rpc.transport;

import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallHead;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.limit.Share;
import tern.rpc.serialization.MessageKind;
import tern.rpc.serialization.SerializationException;

/** The server's half of an in-memory call. Answers are passed directly to the client's half. Thread-safe. */
final class MemoryCall implements ServerCall, PendingCall.Carrier {

    /**
     * The transport of a call. The transport is notified when the call ends, and when an answer arrives after the call
     * has ended.
     */
    interface Owner {
        void over(MemoryCall call);

        /** Counts an answer that arrives after its call has ended. */
        void late();
    }

    private static final byte[] NO_BYTES = {};
    private static final Endpoint HERE = new Endpoint("local", 0);

    private final Owner owner;
    private final MemoryCodec codec;
    private final PendingCall pending;
    private final byte[] arguments;
    private final long receivedNanos;
    private final Share share;
    private final AtomicBoolean answered = new AtomicBoolean();
    private final @Nullable MemoryStream serverEnd; // both ends of the stream are null for a unary call
    private final @Nullable MemoryStream clientEnd;
    private volatile @Nullable Metadata sentHeaders;
    private volatile ClientStream.@Nullable Receiver client;
    private volatile boolean hungUp;
    private volatile long untilNanos = Long.MAX_VALUE;
    private volatile @Nullable Watcher watcher;

    /**
     * @param arguments the encoded arguments; empty if the call takes a stream of requests
     * @param share counts the admitted calls of the client's connection, for the server's limiter
     * @param unread counts the bytes of received messages that have been neither decoded nor discarded
     */
    MemoryCall(
            Owner owner,
            MemoryCodec codec,
            PendingCall pending,
            byte[] arguments,
            long receivedNanos,
            Share share,
            AtomicLong unread) {
        this.owner = owner;
        this.codec = codec;
        this.pending = pending;
        this.arguments = arguments;
        this.receivedNanos = receivedNanos;
        this.share = share;
        MethodDescriptor method = pending.call().method();
        if (method.type() == MethodType.UNARY) {
            this.serverEnd = null;
            this.clientEnd = null;
        } else {
            this.serverEnd = new MemoryStream(
                    codec,
                    MessageKind.RESPONSE,
                    method,
                    method.parameters().isEmpty()
                            ? method.result()
                            : method.parameters().get(0),
                    unread);
            this.clientEnd = new MemoryStream(codec, MessageKind.REQUEST, method, method.result(), unread);
            MemoryStream.connect(serverEnd, clientEnd);
        }
    }

    /** Starts the client's half of a streaming call. */
    ClientStream open(ClientStream.Receiver receiver) {
        MemoryStream end = clientEnd;
        if (end == null) {
            throw new IllegalStateException(pending + " is not a streaming call");
        }
        client = receiver;
        end.start(receiver);
        pending.carriedBy(this);
        return end;
    }

    @Override
    public String protocol() {
        return InMemoryTransport.PROTOCOL;
    }

    @Override
    public @Nullable SocketAddress remoteAddress() {
        return null;
    }

    @Override
    public long receivedNanos() {
        return receivedNanos;
    }

    @Override
    public String service() {
        return pending.call().service().interfaceName();
    }

    @Override
    public @Nullable MethodDescriptor peekMethod(ServiceLookup services) {
        return services.method(service(), pending.call().method().name());
    }

    @Override
    public Deadline deadline() {
        return pending.call().deadline();
    }

    @Override
    public Share share() {
        return share;
    }

    @Override
    public Invocation decode(ServiceLookup services, Admission admission) {
        Invocation sent = pending.call();
        if (!admission.isOpen()) {
            String name = nameOf(sent.method());
            admission.admit(new CallHead(
                    sent.service(),
                    name,
                    BuiltInMethods.isGeneric(sent.method()),
                    sent.service() + "/" + name,
                    sent.metadata().copy(),
                    sent.deadline(),
                    this));
        }
        ServiceDescriptor service = services.service(sent.service().interfaceName());
        MethodDescriptor method = methodOf(service, sent.method());
        Object[] values = method.type().clientStreams() ? new Object[0] : values(service, method);
        return new Invocation(sent.service(), method, values, sent.metadata().copy(), sent.deadline(), Runnable::run);
    }

    private Object[] values(ServiceDescriptor service, MethodDescriptor method) {
        try {
            return codec.decodeAll(arguments, service, method);
        } catch (SerializationException e) {
            throw WrongArguments.unreadable(e);
        }
    }

    /** Returns the name of the called method. For a generic call, the name is the first argument. */
    private String nameOf(MethodDescriptor sent) {
        return BuiltInMethods.isGeneric(sent) ? codec.firstText(arguments) : sent.name();
    }

    /**
     * Finds the server's method by name, because the client and the server may use different interfaces. A server on a
     * socket does the same.
     */
    private static MethodDescriptor methodOf(ServiceDescriptor service, MethodDescriptor sent) {
        if (sent.service() == service || sent.service() == BuiltInMethods.DESCRIPTOR) {
            return sent;
        }
        MethodDescriptor exact = service.method(sent.name(), sent.descriptor());
        if (exact != null) {
            return exact;
        }
        List<MethodDescriptor> named = service.overloads(sent.name());
        if (named.isEmpty()) {
            throw MissingMethods.refusal(service, sent.name());
        }
        if (named.size() == 1 && named.get(0).type() == sent.type()) {
            MethodDescriptor only = named.get(0);
            if (only.parameters().size() != sent.parameters().size()) {
                throw WrongArguments.count(only, sent.parameters().size());
            }
            return only;
        }
        throw RpcException.refusal(StatusCode.UNIMPLEMENTED, service + " has no method like " + sent, Executed.NO);
    }

    @Override
    public MessageStream stream() {
        return serverEnd == null ? ServerCall.super.stream() : serverEnd;
    }

    @Override
    public void sendHeaders(Metadata headers) {
        synchronized (this) {
            if (sentHeaders != null) {
                return;
            }
            sentHeaders = headers.copy();
        }
        ClientStream.Receiver current = client;
        Metadata copy = headers.copy();
        if (clientEnd != null && current != null) {
            clientEnd.afterMessages(() -> current.headers(copy));
        }
    }

    @Override
    public void reply(Response response) {
        if (!claimAnswer()) {
            return;
        }
        sendHeaders(response.headers());
        Metadata trailers = response.metadata().copy();
        if (serverEnd != null) {
            answer(new Bytes(NO_BYTES, null, trailers));
            return;
        }
        try {
            answer(new Bytes(codec.encode(MessageKind.RESPONSE, response.value()), null, trailers));
        } catch (SerializationException e) {
            answer(new Bytes(
                    NO_BYTES,
                    new RpcException(
                            StatusCode.INTERNAL, "the answer cannot be written: " + e.getMessage(), Executed.YES, e),
                    trailers));
        }
    }

    @Override
    public void fail(Throwable failure, Metadata metadata) {
        if (!claimAnswer()) {
            return;
        }
        Metadata trailers = metadata.copy();
        if (failure instanceof RpcException rpc) {
            boolean asItIs =
                    // Like the socket transports, this transport does not send the cause of a failure.
                    rpc.getCause() == null && trailers.isEmpty();
            answer(new Bytes(NO_BYTES, asItIs ? rpc : copy(rpc, trailers), trailers));
        } else if (serverEnd != null) { // as on socket transports, a stream sends only a status and no exception
            Status status = new Status(StatusCode.UNKNOWN, failure.toString());
            answer(new Bytes(NO_BYTES, new RpcException(status, Executed.YES, trailers), trailers));
        } else {
            answer(new Bytes(encoded(failure), failure, trailers));
        }
    }

    /**
     * Copies a failure without the server's stack trace. For RESOURCE_EXHAUSTED, the copy has no stack trace, because
     * an overloaded server refuses many calls, and creating a stack trace costs more than a call.
     */
    private static RpcException copy(RpcException failure, Metadata trailers) {
        return failure.code() == StatusCode.RESOURCE_EXHAUSTED
                ? RpcException.refusal(failure.status(), failure.wasExecuted(), trailers)
                : new RpcException(failure.status(), failure.wasExecuted(), trailers);
    }

    private byte[] encoded(Throwable failure) {
        try {
            return codec.encodeThrowable(failure);
        } catch (SerializationException e) {
            UntypedExceptions.warn(failure, e);
            return codec.encodeThrowable(new RuntimeException(failure.toString()));
        }
    }

    private void answer(Answer answer) {
        if (clientEnd == null || serverEnd == null) {
            deliver(answer);
            return;
        }
        serverEnd.close();
        clientEnd.afterMessages(() -> {
            deliver(answer);
            clientEnd.close();
            owner.over(this);
        });
    }

    private void deliver(Answer answer) {
        if (!pending.isOneWay() && !pending.answer(answer)) {
            owner.late();
        }
    }

    /** Ends the server's half, because the client has ended the call without an answer. */
    @Override
    public void abandoned(PendingCall call) {
        hangUp();
    }

    /** Ends the server's half if the client cancelled the call before it was sent. */
    void hangUpIfFailed() {
        if (pending.hasFailed()) {
            hangUp();
        }
    }

    private void hangUp() {
        if (clientEnd != null && serverEnd != null) {
            clientEnd.close();
            serverEnd.close();
        }
        hungUp = true;
        Watcher current = watcher;
        if (claimAnswer() && current != null) {
            current.disconnected();
        }
        owner.over(this);
    }

    private boolean claimAnswer() {
        if (!answered.compareAndSet(false, true)) {
            return false;
        }
        if (serverEnd == null) {
            owner.over(this);
        }
        return true;
    }

    @Override
    public boolean isOpen() {
        return !answered.get();
    }

    @Override
    public void watch(long until, Watcher newWatcher) {
        watcher = newWatcher;
        untilNanos = until;
        if (hungUp) {
            newWatcher.disconnected(); // the client may have ended the call before this watcher was set
        }
    }

    void lookAtTime(long now) {
        Watcher current = watcher;
        if (current != null && untilNanos != Long.MAX_VALUE && now - untilNanos >= 0) {
            current.expired();
        }
        if (pending.call().deadline().isExpired(now)) {
            pending.fail(executed -> TimeOuts.late(pending, HERE, false, true, executed));
        }
    }

    /** Ends the call as if the connection had been lost. */
    void disconnect() {
        hangUp();
        pending.fail(
                RpcException.refusal(StatusCode.UNAVAILABLE, pending + ": the connection was closed", Executed.MAYBE));
    }

    /**
     * An answer: an encoded result, an encoded exception, or an {@link RpcException} without bytes. For both kinds of
     * exceptions, {@code failure} is set.
     */
    private final class Bytes implements Answer {

        private final byte[] bytes;
        private final @Nullable Throwable failure;
        private final Metadata trailers;

        Bytes(byte[] bytes, @Nullable Throwable failure, Metadata trailers) {
            this.bytes = bytes;
            this.failure = failure;
            this.trailers = trailers;
        }

        @Override
        public Response decode(Invocation call) throws Throwable {
            try {
                return read(call);
            } catch (SerializationException e) {
                throw new RpcException(
                        StatusCode.INTERNAL,
                        call + ": the answer of " + HERE + " cannot be read: " + e.getMessage(),
                        Executed.YES,
                        e);
            }
        }

        private Response read(Invocation call) throws Throwable {
            if (failure != null) {
                throw bytes.length != 0
                        ? RemoteFailures.thrown(call, HERE, codec.decodeThrowable(bytes, call.method()))
                        : failure instanceof RpcException rpc ? RemoteFailures.answered(call, HERE, rpc) : failure;
            }
            Metadata headers = sentHeaders;
            return new Response(
                    bytes.length == 0
                            ? null
                            : codec.decode(bytes, call.method(), call.method().result()),
                    headers == null ? new Metadata() : headers,
                    trailers);
        }

        @Override
        public void discard() {
            // The bytes are on the heap, so there is nothing to release.
        }
    }
}
