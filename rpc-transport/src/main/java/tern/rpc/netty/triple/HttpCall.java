package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.CallHead;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.limit.Refusal;
import tern.rpc.netty.InboundAccount;
import tern.rpc.netty.NettyServerCall;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.BuiltInMethods;
import tern.rpc.transport.Message;
import tern.rpc.transport.MessageStream;
import tern.rpc.transport.ServiceLookup;

/**
 * A call received over HTTP, in any of its protocols. This class delivers its messages to the server: one before the
 * call is handed over, or any number afterwards. Subclasses define the format of messages and answers. Fields without a
 * comment are confined to the event loop.
 */
abstract class HttpCall extends NettyServerCall implements MessageStream {

    private static final Logger LOG = LoggerFactory.getLogger(HttpCall.class);

    private static final Object[] NO_ARGUMENTS = {};

    /** The memory of an open request besides its bytes. */
    private static final int CALL_BYTES = 1 << 10;

    private static final VarHandle FIRST;

    static {
        try {
            FIRST = MethodHandles.lookup().findVarHandle(HttpCall.class, "first", Frame.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final HttpExchange exchange;
    private final Route route;
    private final BodyReader body;
    private final Deadline deadline;
    private final long beganNanos = System.nanoTime();
    private volatile @Nullable Frame first; // taken by FIRST
    private volatile long completeNanos = beganNanos;
    private volatile boolean requestCompressed;
    private volatile @Nullable MethodDescriptor method; // set when the call is decoded
    private @Nullable Receiver receiver;
    private @Nullable StallWatch stallWatch; // of a stream
    private boolean handedOver;
    private boolean over;
    private volatile boolean ended; // written on the event loop
    private boolean endTold;
    private int demand;
    private int allowedBytes = ALLOWED_BYTES;
    private int held;
    private long arrived;
    private int countedIncomplete;
    private int countedUnwanted;
    private boolean lingers; // it was already open at the last check, so its small parts count too
    private final @Nullable Hidden hidden; // only where authorizers are asked

    /**
     * Facts that must stay hidden until the authorizers have agreed, because they might reveal the exported services.
     */
    private static final class Hidden {
        private volatile @Nullable RpcException fault; // the mistake of the request
        private volatile @Nullable HttpForm teller; // the format for the mistake; null if the call reports it itself
        private volatile @Nullable HttpForm
                strangersForm; // the format of refusals before that; null for the call's own
        private volatile boolean admitted;
    }

    /** @param timeoutNanos counted from the head; negative for none */
    HttpCall(HttpExchange exchange, Route route, BodyReader body, long timeoutNanos) {
        super(exchange.connection());
        this.exchange = exchange;
        this.route = route;
        this.body = body;
        this.hidden = exchange.connection().asksAuthorizers() ? new Hidden() : null;
        this.deadline = timeoutNanos < 0 ? Deadline.none() : Deadline.at(beganNanos + timeoutNanos);
    }

    /** Makes the call fail after its admission. Called before {@link #begin}, only where authorizers are asked. */
    void failsOnceAdmitted(RpcException fault, HttpForm teller) {
        Hidden kept = Objects.requireNonNull(hidden);
        kept.fault = fault;
        kept.teller = teller;
    }

    /**
     * Sets another format for refusals by authorizers. Called before {@link #begin}, only where authorizers are asked.
     */
    void refusesStrangersLike(HttpForm form) {
        Objects.requireNonNull(hidden).strangersForm = form;
    }

    /** The single request for the first caller of this method; null for later ones. */
    private @Nullable Frame takeFirst() {
        return first == null ? null : (Frame) FIRST.getAndSet(this, null);
    }

    HttpExchange exchange() {
        return exchange;
    }

    Route route() {
        return route;
    }

    /** The method; null before it is known. */
    @Nullable
    MethodDescriptor method() {
        return method;
    }

    // ---- input, on the event loop

    /** The head was read. */
    void begin() {
        exchange.call(this);
        connection().arriving(this);
        if (route.clientStreams()) {
            handOver();
        } else {
            demand = 1;
        }
    }

    /** A part of the body, owned by the call. */
    void data(ByteBuf bytes) {
        int length = bytes.readableBytes();
        if (over) {
            bytes.release();
            exchange.consumed(length);
            return;
        }
        arrived += length;
        held += length;
        try {
            body.add(bytes);
        } catch (RpcException e) {
            malformed(handedOver ? e : notRun(e));
            return;
        }
        deliver();
        account();
    }

    /** The body is complete. */
    void end() {
        ended = true;
        deliver();
        account();
    }

    /** Whether the body is complete. */
    boolean hasEnded() {
        return ended;
    }

    /** The exchange has ended: it was answered, or the peer has left. */
    void closed() {
        if (!over) {
            stopReading();
            if (handedOver) {
                disconnected();
            }
        } else if (handedOver && hidden != null) {
            disconnected(); // a mistake in its body must still be reported
        }
    }

    /** Whether its method has started, its answer is being sent, or its deadline has passed. */
    boolean hasBegun() {
        return method != null || !isOpen() || deadline.isExpired(System.nanoTime());
    }

    /** The timeout set by the client; {@link Long#MAX_VALUE} for none. */
    long timeoutNanos() {
        return deadline.remainingNanos(beganNanos);
    }

    /** Notifies the receiver that more may be sent. If there is no receiver yet, {@link #start} checks again. */
    void ready() {
        Receiver present = receiver;
        if (present != null && !over && exchange.isReady()) {
            present.ready();
        }
    }

    private void deliver() {
        try {
            while (wantsMore() && !over) {
                Frame frame = body.next(ended);
                if (frame == null) {
                    break;
                }
                deliver(frame);
            }
            if (wantsMore() && held > 0) {
                exchange.consumed(held);
                held = 0;
            }
            if (ended && !endTold && !over && (receiver != null || !handedOver) && body.isEmptyAtEnd()) {
                endTold = true;
                bodyEnded();
            }
        } catch (RpcException e) {
            malformed(handedOver ? e : notRun(e));
        }
    }

    private static RpcException notRun(RpcException failure) {
        return failure.wasExecuted() == Executed.NO
                ? failure
                : RpcException.refusal(failure.code(), failure.status().description(), Executed.NO);
    }

    private boolean wantsMore() {
        return demand > 0 && allowedBytes > 0;
    }

    /** Reports the memory held for the request: by the message that is to be completed, or by others. */
    private void account() {
        int bytes = over ? 0 : lingers ? heldWhileOpen() : InboundAccount.counted(body.held());
        int wanted = wantsMore() && !ended ? bytes : 0;
        connection().kept(bytes - wanted - countedUnwanted);
        countedUnwanted = bytes - wanted;
        int change = wanted - countedIncomplete;
        countedIncomplete = wanted;
        connection().incomplete(change);
    }

    /** The memory of an open request, except messages that are already counted. */
    private int heldWhileOpen() {
        if (handedOver) {
            return body.held();
        }
        Frame waiting = first;
        int message = waiting == null ? 0 : waiting.payload().readableBytes();
        return CALL_BYTES + body.held() + (InboundAccount.counted(message) == 0 ? message : 0);
    }

    /** Copies the small parts of a request that stays open, because a part of a buffer holds the whole buffer. */
    private void linger() {
        lingers = true;
        body.compact();
        Frame waiting = handedOver ? null : first;
        if (waiting != null && InboundAccount.counted(waiting.payload().readableBytes()) == 0) {
            first = new Frame(waiting.payload().copy(), waiting.flags());
            waiting.payload().release();
        }
        account();
    }

    private void deliver(Frame frame) {
        connection().messageComplete();
        connection().kept(counted(frame));
        Receiver present = receiver;
        if (present != null) {
            demand--;
            allowedBytes -= frame.payload().readableBytes();
            present.message(new StreamMessage(frame));
        } else if (first != null) {
            drop(frame);
            throw RpcException.refusal(
                    StatusCode.UNIMPLEMENTED,
                    route.methodName() + " takes one message; the request has more",
                    Executed.NO);
        } else {
            requestCompressed = frame.isCompressed();
            first = frame; // checks for a second message, which is not allowed
        }
    }

    private void bodyEnded() {
        Receiver present = receiver;
        if (handedOver) {
            if (present != null) {
                present.ended();
            }
        } else if (first == null) {
            throw RpcException.refusal(
                    StatusCode.UNIMPLEMENTED,
                    route.methodName() + " takes one message; the request has none",
                    Executed.NO);
        } else {
            handOver();
        }
    }

    private void handOver() {
        if (!connection().mayTakeCall()) {
            refuse(RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    connection().settings().maxInFlight() + " of "
                            + connection().settings().maxInFlight()
                            + " calls of this connection are in flight (set by rpc.limits.max-calls-per-connection)",
                    Executed.NO));
            connection().refused(Refusal.CONNECTION);
            return;
        }
        RpcException overload = exchange.overload();
        if (overload != null) {
            refuse(overload);
            connection().refused(Refusal.UNREAD);
            return;
        }
        handedOver = true;
        completeNanos = System.nanoTime();
        connection().complete(this);
    }

    /**
     * Ends a malformed request. The rest of the body is not read. Where authorizers are asked, they decide before the
     * mistake is reported.
     */
    private void malformed(RpcException failure) {
        Hidden kept = hidden;
        if (kept == null || handedOver || over) {
            abort(failure);
            return;
        }
        stopReading();
        if (kept.fault == null) {
            kept.fault = failure;
        }
        handOver();
    }

    /** Answers a call that is not handed over. */
    private void refuse(RpcException failure) {
        if (!over) {
            stopReading();
        }
        answerAnyhow(failure, new Metadata());
    }

    /** Ends the call because of its transmission: it is answered, and the code that runs it is told to stop. */
    void abort(RpcException failure) {
        if (over) {
            return;
        }
        if (!handedOver) {
            refuse(failure);
        } else if (claimAnswer()) {
            stopReading();
            answerAnyhow(failure, new Metadata());
            stopRunning();
        }
    }

    private static int counted(Frame frame) {
        return InboundAccount.counted(frame.payload().readableBytes());
    }

    private void drop(Frame frame) {
        connection().kept(-counted(frame));
        frame.payload().release();
    }

    private void stopReading() {
        over = true;
        body.close();
        account();
        discardRequest();
        if (held > 0) {
            exchange.consumed(held);
            held = 0;
        }
    }

    @Override
    protected boolean isOverOrExpires(long now) {
        if (!over && !ended && !lingers) {
            linger();
        }
        if (handedOver) {
            boolean forgotten = super.isOverOrExpires(now);
            if (!forgotten) {
                lookForStall(now);
            }
            return forgotten;
        }
        if (!over && deadline.isExpired(now)) {
            abort(RpcException.refusal(
                    StatusCode.DEADLINE_EXCEEDED,
                    calledName() + ": the deadline passed before the request was complete",
                    Executed.NO));
        } else if (!over && connection().isTooSlow(arrived, beganNanos, now)) {
            abort(RpcException.refusal(
                    StatusCode.DEADLINE_EXCEEDED,
                    calledName() + ": " + connection().slowBody(arrived, beganNanos, now),
                    Executed.NO));
        }
        return over;
    }

    /**
     * The called name as the caller wrote it. Protocols differ in their valid names, and another spelling would reveal
     * whether a name exists.
     */
    private String calledName() {
        return hidden == null ? route.methodName() : "the call";
    }

    private void lookForStall(long now) {
        StallWatch watch = stallWatch;
        Receiver told = receiver;
        if (watch == null || told == null) {
            return;
        }
        long unsent = exchange.unsentBytes();
        boolean hasSome = unsent > 0 || (told.isWaitingToSend() && exchange.isReady());
        if (watch.isStalled(hasSome && exchange.isWritable(), exchange.takenBytes(), now)) {
            connection().stalled(route.methodName(), unsent);
        }
    }

    /** Does nothing for a call that was not handed over. */
    @Override
    public void disconnected() {
        if (handedOver) {
            super.disconnected();
        } else if (!over) {
            stopReading();
        }
    }

    // ---- for the server, on its threads

    /** The service; null for a built-in method, because the service may be critical, and the built-in method is not. */
    @Override
    public @Nullable String service() {
        return route.service() == route.candidates().get(0).service() && route.leadsSomewhere()
                ? route.service().name()
                : null;
    }

    @Override
    public @Nullable MethodDescriptor namedMethod() {
        return route.leadsSomewhere() ? route.candidates().get(0) : null;
    }

    @Override
    public Deadline deadline() {
        return deadline;
    }

    @Override
    public long receivedNanos() {
        return completeNanos;
    }

    @Override
    public boolean isRequestCompressed() {
        return requestCompressed;
    }

    @Override
    public Invocation decode(ServiceLookup services, Admission admission) {
        Metadata metadata = metadata();
        if (!admission.isOpen()) {
            admit(admission, metadata);
        }
        MethodDescriptor only = route.only();
        if (only != null && only.type().clientStreams()) {
            method = only;
            return new Invocation(route.key(), only, NO_ARGUMENTS, metadata, deadline, Runnable::run);
        }
        Frame request = takeFirst();
        if (request == null) {
            throw overBeforeRead();
        }
        int bytes = counted(request);
        Request read;
        try {
            read = readRequest(request, services);
        } finally {
            connection().kept(-bytes);
        }
        method = read.method();
        return new Invocation(route.key(), read.method(), read.arguments(), metadata, deadline, Runnable::run);
    }

    private void admit(Admission admission, Metadata metadata) {
        MethodDescriptor called = route.candidates().get(0);
        boolean generic = route.leadsSomewhere()
                ? BuiltInMethods.isGeneric(called)
                : BuiltInMethods.isGenericName(route.methodName());
        String method = !route.leadsSomewhere()
                ? route.methodName()
                : called.name(); // the path may differ in the first letter's case
        if (generic) {
            method = meantMethod();
        }
        admission.admit(
                new CallHead(route.key(), method, generic, written(generic ? method : null), metadata, deadline, this));
        Hidden kept = hidden;
        if (kept != null) {
            kept.admitted = true;
            RpcException fault = kept.fault;
            if (fault != null) {
                throw fault;
            }
        }
    }

    /** The path, and the method that a generic call names. */
    private String written(@Nullable String meant) {
        String path = Route.pathOf(exchange.head());
        int slash = path.lastIndexOf('/');
        return path.substring(Math.min(1, path.length()), meant == null ? path.length() : slash + 1)
                + (meant == null ? "" : meant);
    }

    /** The method that a generic call names in its message. */
    private String meantMethod() {
        Hidden kept = hidden;
        if (kept == null) {
            return readMeantMethod();
        }
        if (first == null && kept.fault != null) {
            return route.methodName();
        }
        try {
            return readMeantMethod();
        } catch (RpcException | SerializationException e) {
            if (kept.fault == null) {
                kept.fault = e instanceof RpcException rpc
                        ? rpc
                        : RpcException.refusal(StatusCode.INTERNAL, "the request could not be read: " + e, Executed.NO);
            }
            return route.methodName();
        }
    }

    private String readMeantMethod() {
        Frame request = takeFirst();
        if (request == null) {
            throw overBeforeRead();
        }
        Frame kept;
        try {
            kept = new Frame(request.payload().copy(), request.flags());
        } catch (Throwable e) {
            drop(request);
            throw e;
        }
        String name;
        try {
            name = readGenericMethod(request);
        } catch (Throwable e) {
            drop(kept);
            throw e;
        }
        first = kept;
        if (!isOpen()) {
            discardRequest(); // the call ended meanwhile and found nothing to discard
        }
        return name;
    }

    private static RpcException overBeforeRead() {
        return RpcException.refusal(StatusCode.CANCELLED, "the call was over before it was read", Executed.NO);
    }

    /** Decodes only the name of the method that a generic call names. Owns the frame. */
    String readGenericMethod(Frame frame) {
        frame.payload().release();
        return route.methodName(); // only gRPC has generic calls
    }

    /** A decoded request. */
    record Request(MethodDescriptor method, Object[] arguments) {}

    /** Decodes the single request of a call. Owns the frame. */
    abstract Request readRequest(Frame frame, ServiceLookup services);

    /** Decodes one request of a stream. Owns the frame. */
    abstract @Nullable Object readElement(Frame frame);

    /** The headers of the request for the application. */
    abstract Metadata metadata();

    /** Answers a call with a failure. No other thread answers it. */
    abstract void answerFailure(Throwable failure, Metadata metadata);

    @Override
    public MessageStream stream() {
        return this;
    }

    @Override
    public void start(Receiver told) {
        exchange.execute(() -> {
            receiver = told;
            stallWatch = new StallWatch();
            if (!over) {
                deliver(); // the end may already have arrived
                account();
                ready(); // answers may have been sent before there was a receiver
            }
        });
    }

    @Override
    public void request(int messages) {
        exchange.execute(() -> {
            demand = (int) Math.min(Integer.MAX_VALUE, (long) demand + messages);
            allowedBytes = ALLOWED_BYTES;
            if (!over) {
                deliver();
                account();
            }
        });
    }

    @Override
    public boolean isReady() {
        return exchange.isReady();
    }

    @Override
    public long takenBytes() {
        return exchange.takenBytes();
    }

    @Override
    public void fail(Throwable failure, Metadata metadata) {
        if (!claimAnswer()) {
            return;
        }
        HttpForm teller = failure instanceof RpcException ? teller(failure) : null;
        if (teller == null) {
            answerAnyhow(failure, metadata);
        } else {
            teller.refuse(exchange, (RpcException) failure);
        }
    }

    /**
     * Answers a call with a failure, even if the failure cannot be described. A claimed call without an answer would
     * keep its caller waiting, because no other thread answers it.
     */
    final void answerAnyhow(Throwable failure, Metadata metadata) {
        try {
            answerFailure(failure, metadata);
        } catch (Throwable e) {
            answerUndescribed(failure, e);
        }
    }

    private void answerUndescribed(Throwable failure, Throwable why) {
        try {
            Executed executed = failure instanceof RpcException rpc ? rpc.wasExecuted() : Executed.YES;
            String text =
                    route.methodName() + " failed with " + failure.getClass().getName()
                            + ", which cannot be described: " + why.getClass().getName();
            answerFailure(new RpcException(StatusCode.INTERNAL, text, executed, why), new Metadata());
        } catch (Throwable e) {
            Thrown.log(e, shown -> LOG.error("A call could not be answered", shown));
            exchange.reset(Http2Error.INTERNAL_ERROR);
        }
    }

    private @Nullable HttpForm teller(Throwable failure) {
        Hidden kept = hidden;
        if (kept == null) {
            return null;
        }
        return failure == kept.fault ? kept.teller : kept.admitted ? null : kept.strangersForm;
    }

    @Override
    protected void discardRequest() {
        Frame unread = takeFirst();
        if (unread != null) {
            drop(unread);
        }
    }

    /** A request of a stream that is not decoded yet. */
    private final class StreamMessage implements Message {

        private final Frame frame;

        StreamMessage(Frame frame) {
            this.frame = frame;
        }

        @Override
        public int bytes() {
            return frame.payload().readableBytes();
        }

        @Override
        public @Nullable Object decode() {
            requestCompressed = frame.isCompressed();
            int bytes = counted(frame);
            try {
                return readElement(frame);
            } finally {
                connection().kept(-bytes);
            }
        }

        @Override
        public void discard() {
            drop(frame);
        }

        @Override
        public boolean isCompressed() {
            return frame.isCompressed();
        }
    }
}
