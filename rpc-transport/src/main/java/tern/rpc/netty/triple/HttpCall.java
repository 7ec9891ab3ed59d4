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
 * A call that came by HTTP, in whichever form. This class brings its messages to the server: one before the call is
 * handed over, or any number afterwards; the forms say how messages and answers look. Fields without a word on them
 * belong to the event loop.
 */
abstract class HttpCall extends NettyServerCall implements MessageStream {

    private static final Logger LOG = LoggerFactory.getLogger(HttpCall.class);

    private static final Object[] NO_ARGUMENTS = {};

    /** What an open request takes beside its bytes. */
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
    private volatile @Nullable MethodDescriptor method; // known when the call is decoded
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
    private boolean lingers; // it was open when it was last looked at, so that its small parts count, too
    private final @Nullable Hidden hidden; // where authorizers are asked

    /** What nobody is told before the authorizers have agreed, since it might tell what is exported. */
    private static final class Hidden {
        private volatile @Nullable RpcException fault; // of the request
        private volatile @Nullable HttpForm teller; // of the fault; null if the call tells it itself
        private volatile @Nullable HttpForm strangersForm; // of refusals before that; null for the call's own
        private volatile boolean admitted;
    }

    /** @param timeoutNanos from the head on; negative for none */
    HttpCall(HttpExchange exchange, Route route, BodyReader body, long timeoutNanos) {
        super(exchange.connection());
        this.exchange = exchange;
        this.route = route;
        this.body = body;
        this.hidden = exchange.connection().asksAuthorizers() ? new Hidden() : null;
        this.deadline = timeoutNanos < 0 ? Deadline.none() : Deadline.at(beganNanos + timeoutNanos);
    }

    /** Lets the call fail when it was admitted; told before it begins. Only where authorizers are asked. */
    void failsOnceAdmitted(RpcException fault, HttpForm teller) {
        Hidden kept = Objects.requireNonNull(hidden);
        kept.fault = fault;
        kept.teller = teller;
    }

    /** Refusals by authorizers are answered in another form; told before it begins. Only where authorizers are asked. */
    void refusesStrangersLike(HttpForm form) {
        Objects.requireNonNull(hidden).strangersForm = form;
    }

    /** The one request, for whoever comes first; null for the others. */
    private @Nullable Frame takeFirst() {
        return first == null ? null : (Frame) FIRST.getAndSet(this, null);
    }

    HttpExchange exchange() {
        return exchange;
    }

    Route route() {
        return route;
    }

    /** The method, once it is known. */
    @Nullable
    MethodDescriptor method() {
        return method;
    }

    // ---- what comes, on the event loop

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

    /** A part of the body, owned by the call from here on. */
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

    /** The exchange is over, by an answer or because the peer has left. */
    void closed() {
        if (!over) {
            stopReading();
            if (handedOver) {
                disconnected();
            }
        } else if (handedOver && hidden != null) {
            disconnected(); // what was wrong with its body is still to be told
        }
    }

    /** Whether its method has begun, its answer is under way or its deadline has passed. */
    boolean hasBegun() {
        return method != null || !isOpen() || deadline.isExpired(System.nanoTime());
    }

    /** The time limit that the client named; {@link Long#MAX_VALUE} for none. */
    long timeoutNanos() {
        return deadline.remainingNanos(beganNanos);
    }

    /** Tells the receiver that more may be sent, if it can be told yet: {@link #start} looks again. */
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

    /** Tells how much of the memory for requests is held: by a message that is to become complete, or by others. */
    private void account() {
        int bytes = over ? 0 : lingers ? heldWhileOpen() : InboundAccount.counted(body.held());
        int wanted = wantsMore() && !ended ? bytes : 0;
        connection().kept(bytes - wanted - countedUnwanted);
        countedUnwanted = bytes - wanted;
        int change = wanted - countedIncomplete;
        countedIncomplete = wanted;
        connection().incomplete(change);
    }

    /** All that an open request holds, except for messages that count already. */
    private int heldWhileOpen() {
        if (handedOver) {
            return body.held();
        }
        Frame waiting = first;
        int message = waiting == null ? 0 : waiting.payload().readableBytes();
        return CALL_BYTES + body.held() + (InboundAccount.counted(message) == 0 ? message : 0);
    }

    /** A request that stays open keeps copies of its small parts, since a part of a buffer keeps the whole buffer. */
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
            first = frame; // one more may be looked for, since there must be none
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

    /** The rest of the body is not read. Where authorizers are asked, they decide before it is told why. */
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

    /** Ends the call for a reason that lies in how it came: it is answered, and whoever runs it is told to stop. */
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

    /** Forms differ in what they take for a name, which would tell whether it is one. */
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

    /** Of a call that nobody was given there is nothing to answer, or to count. */
    @Override
    public void disconnected() {
        if (handedOver) {
            super.disconnected();
        } else if (!over) {
            stopReading();
        }
    }

    // ---- for the server, on its threads

    /** Null for a method that its service has not itself: that may be critical, and this is not. */
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
        String method = !route.leadsSomewhere() ? route.methodName() : called.name(); // the path may have a capital
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

    /** What the path says, and the method that a generic call means. */
    private String written(@Nullable String meant) {
        String path = Route.pathOf(exchange.head());
        int slash = path.lastIndexOf('/');
        return path.substring(Math.min(1, path.length()), meant == null ? path.length() : slash + 1)
                + (meant == null ? "" : meant);
    }

    /** The name of the method that a generic call means, which stands in its message. */
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
            discardRequest(); // it ended meanwhile, and found nothing to discard
        }
        return name;
    }

    private static RpcException overBeforeRead() {
        return RpcException.refusal(StatusCode.CANCELLED, "the call was over before it was read", Executed.NO);
    }

    /** Reads the name of the method that a generic call means, and nothing else of it; owns the frame. */
    String readGenericMethod(Frame frame) {
        frame.payload().release();
        return route.methodName(); // no form but that of gRPC has generic calls
    }

    /** What one message says. */
    record Request(MethodDescriptor method, Object[] arguments) {}

    /** Reads the one request of a call; owns the frame. */
    abstract Request readRequest(Frame frame, ServiceLookup services);

    /** Reads one request of a stream; owns the frame. */
    abstract @Nullable Object readElement(Frame frame);

    /** The request's headers as the application sees them. */
    abstract Metadata metadata();

    /** Answers a call that ends with a failure; nobody else answers it. */
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
                deliver(); // the end may have come already
                account();
                ready(); // answers may have left before anybody could be told
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
     * Answers a call that ends with a failure, though it be one that cannot be described. A call that was claimed and is not
     * answered would keep its caller waiting, since nobody else answers it.
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

    /** A request of a stream that was not read yet. */
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
