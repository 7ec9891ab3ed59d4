package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.BodyPace;
import tern.rpc.netty.CallKind;
import tern.rpc.netty.NettyServerCall;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.transport.MessageStream;
import tern.rpc.transport.ServiceLookup;

/**
 * A call received over one of the HTTP protocols. The call combines a body, an encoding and an answer, and passes the
 * messages of the body to the server. Unless stated otherwise, methods run on server threads.
 */
final class HttpCall extends NettyServerCall implements MessageStream, HttpExchange.Call, RequestBody.Call {

    private static final Object[] NO_ARGUMENTS = {};

    private final HttpExchange exchange;
    private final Route route;
    private final CallEncoding encoding;
    private final RequestBody body;
    private final HttpAnswer answer;
    private final Deadline deadline;
    // an error in the request that is reported only to authorized callers; null if there are no authorizers
    private final @Nullable DeferredMistake hidden;
    private volatile long completeNanos = beganNanos();
    private @Nullable BodyPace pace; // the rate at which the body arrives; null until the first check
    // true after mayRest() has returned true for the first time; accessed only by the event loop
    private boolean rested;
    private volatile @Nullable PayloadCodec codec; // the codec that the request message selected
    private volatile @Nullable MethodDescriptor method; // the called method; set when the request message is decoded

    /**
     * @param timeoutNanos the timeout, measured from the arrival of the headers; negative for no timeout
     * @param acceptsGzip whether the caller accepts compressed answers
     */
    HttpCall(
            CallEncoding encoding,
            HttpExchange exchange,
            Route route,
            BodyReader reader,
            long timeoutNanos,
            boolean acceptsGzip) {
        super(exchange.connection());
        this.exchange = exchange;
        this.route = route;
        this.encoding = encoding;
        this.body = new RequestBody(exchange, reader, this);
        this.answer = new HttpAnswer(this, acceptsGzip);
        this.hidden = exchange.connection().handler().hasAuthorizers() ? new DeferredMistake() : null;
        this.deadline = timeoutNanos < 0 ? Deadline.none() : Deadline.at(beganNanos() + timeoutNanos);
    }

    HttpExchange exchange() {
        return exchange;
    }

    CallEncoding encoding() {
        return encoding;
    }

    Route route() {
        return route;
    }

    @Override
    public String protocol() {
        return encoding.protocol();
    }

    @Override
    public String methodName() {
        return route.methodName();
    }

    /** Returns the called method; null before it is known. */
    @Nullable
    MethodDescriptor method() {
        return method;
    }

    /** Returns the codec that the request selected; null if the encoding has only one codec. */
    @Nullable
    PayloadCodec codec() {
        return codec;
    }

    /**
     * Returns the error in the request, which is reported only after all authorizers have allowed the call; null if
     * there are no authorizers.
     */
    @Nullable
    DeferredMistake hidden() {
        return hidden;
    }

    private long beganNanos() {
        return super.receivedNanos();
    }

    // ---- request events

    @Override
    public CallKind kind() {
        return route.kind();
    }

    /**
     * Returns whether one check of the call per second is enough. Also returns true for an incomplete request that has
     * been open for a while, because a client can open thousands of such requests. One check a second is enough to
     * measure the speed at which a body arrives.
     */
    @Override
    public boolean mayRest(long now) {
        boolean rests = body.mayRest()
                && (body.isServed()
                        ? super.mayRest(now)
                        : mayRest(now, deadline.isLimited() ? deadline.nanoTime() : Long.MAX_VALUE));
        rested |= rests;
        return rests;
    }

    /** Called when the headers of the request have been read. */
    void begin() {
        exchange.call(this);
        connection().calls().arriving(this);
        if (route.clientStreams()) {
            complete();
        } else {
            body.requestSingle();
        }
    }

    @Override
    public void data(ByteBuf bytes) {
        body.data(bytes);
    }

    @Override
    public void end() {
        body.end();
    }

    @Override
    public void closed() {
        if (body.isRead() && body.isServed() && isOneWay() && !connection().isOpen()) {
            body.keepSingle();
        } else if (body.isRead()) {
            body.stopReading();
            if (body.isServed()) {
                giveUp();
            }
        } else if (body.isServed() && hidden != null) {
            // the body is malformed, but the error is reported only after the authorizers have run, so the call stays
            // open
            giveUp();
        }
    }

    @Override
    protected boolean isOneWay() {
        return route.isUnary() && GrpcHeaders.isOneWay(exchange.head());
    }

    @Override
    public boolean hasBegun() {
        return method != null || !isOpen() || deadline.isExpired(System.nanoTime());
    }

    @Override
    public long timeoutNanos() {
        return deadline.remainingNanos(beganNanos());
    }

    @Override
    public void ready() {
        Receiver current = body.receiver();
        if (current != null && body.isRead() && exchange.isReady()) {
            current.ready();
        }
    }

    /** Passes the call to the server unless the connection has reached a limit. */
    @Override
    public void complete() {
        RpcException refusal = exchange.refusal(this);
        if (refusal != null) {
            refuse(refusal);
            return;
        }
        RpcException tooManyStreams = connection().calls().refusesStream(this);
        if (tooManyStreams != null) {
            if (hidden == null) {
                refuse(tooManyStreams);
                return;
            }
            // The refusal is sent only to authorized callers, because it reveals that the method exists.
            hidden.add(tooManyStreams);
        }
        body.served();
        completeNanos = System.nanoTime();
        if (rested) {
            connection().calls().servedLate(this);
        }
        connection().calls().complete(this);
    }

    /**
     * Ends a malformed request without reading the rest of its body. If there are authorizers, the error is reported
     * after they have allowed the call.
     */
    @Override
    public void malformed(RpcException failure) {
        DeferredMistake kept = hidden;
        if (kept == null || body.isServed() || !body.isRead()) {
            abort(failure);
            return;
        }
        body.stopReading();
        kept.add(failure);
        complete();
    }

    /** Answers a call that is not passed to the server. */
    private void refuse(RpcException failure) {
        if (body.isRead()) {
            body.stopReading();
        }
        answer.fail(failure, new Metadata());
    }

    @Override
    public void abort(RpcException failure) {
        if (!body.isRead()) {
            return;
        }
        if (!body.isServed()) {
            refuse(failure);
        } else if (claimAnswer()) {
            body.stopReading();
            answer.fail(failure, new Metadata());
            stopRunning();
        }
    }

    @Override
    public boolean isOverOrExpires(long now) {
        body.linger();
        if (body.isServed()) {
            boolean forgotten = super.isOverOrExpires(now);
            if (!forgotten) {
                answer.lookForStall(body.receiver(), now);
            }
            return forgotten;
        }
        if (body.isRead() && deadline.isExpired(now)) {
            expire("the deadline passed before the request was complete");
        } else if (body.isRead()) {
            checkPace(now);
        }
        return !body.isRead();
    }

    private void checkPace(long now) {
        BodyPace measured = pace;
        if (measured == null) {
            measured = new BodyPace(beganNanos());
            pace = measured;
        }
        if (connection().isTooSlow(measured, body.arrivedBytes(), now)) {
            expire(connection().slowBody(measured, body.arrivedBytes(), now));
        }
    }

    /**
     * Ends a request that took too long. If there are authorizers, the error does not contain the method name. Each
     * protocol has its own rules for method names, so the spelling of the name in the error would reveal whether the
     * method exists.
     */
    private void expire(String how) {
        String called = hidden == null ? methodName() : "the call";
        abort(RpcException.refusal(StatusCode.DEADLINE_EXCEEDED, called + ": " + how, Executed.NO));
    }

    /**
     * Stops reading the request if the call has not been passed to the server yet; otherwise calls the overridden
     * method.
     */
    @Override
    public void disconnected() {
        if (body.isServed()) {
            super.disconnected();
        } else if (body.isRead()) {
            body.stopReading();
        }
    }

    // ---- call properties

    @Override
    public @Nullable String service() {
        return route.ownService();
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
        return body.isCompressed();
    }

    // ---- request decoding

    @Override
    public int requestBytes() {
        return body.singleBytes();
    }

    @Override
    public Invocation decode(ServiceLookup services, Admission admission) {
        Metadata metadata = encoding.metadata(exchange.head());
        if (!admission.isOpen()) {
            admission.admit(CallHeads.of(this, body, metadata));
            if (hidden != null) {
                hidden.reveal();
            }
        }
        MethodDescriptor only = route.only();
        if (only != null && only.type().clientStreams()) {
            method = only;
            return invocation(only, NO_ARGUMENTS, metadata);
        }
        Frame request = takeRequest();
        int bytes = RequestBody.counted(request);
        DecodedRequest read;
        try {
            read = read(request, services);
        } finally {
            body.decoded(bytes);
        }
        method = read.method();
        return invocation(read.method(), read.arguments(), metadata);
    }

    private Invocation invocation(MethodDescriptor called, @Nullable Object[] arguments, Metadata metadata) {
        return new Invocation(route.key(), called, arguments, metadata, deadline, Runnable::run);
    }

    private DecodedRequest read(Frame frame, ServiceLookup services) {
        DecodedRequest read = encoding.readRequest(exchange, route, frame, services);
        codec = read.codec();
        return read;
    }

    @Override
    public @Nullable Object readElement(Frame frame) {
        return read(frame, connection().handler().services()).arguments()[0];
    }

    /**
     * Returns the request message. The caller of this method must release it.
     *
     * @throws RpcException CANCELLED if the call has ended
     */
    Frame takeRequest() {
        Frame request = body.takeSingle();
        if (request == null) {
            throw RpcException.refusal(StatusCode.CANCELLED, "the call ended before its request was read", Executed.NO);
        }
        return request;
    }

    @Override
    protected void discardRequest() {
        body.discard();
    }

    // ---- request stream

    @Override
    public MessageStream stream() {
        return this;
    }

    @Override
    public void start(Receiver newReceiver) {
        exchange.execute(() -> {
            answer.watch();
            body.start(newReceiver);
            ready(); // the stream might have become ready before the receiver was set, so the receiver is notified now
        });
    }

    @Override
    public void request(int messages) {
        exchange.execute(() -> body.request(messages));
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
    public long takenStepBytes() {
        return exchange.takenStepBytes();
    }

    @Override
    public void compressResponse(boolean wanted) {
        answer.compress(wanted);
    }

    @Override
    public void sendHeaders(Metadata headers) {
        answer.sendHeaders(headers);
    }

    @Override
    public void send(@Nullable Object value) {
        answer.send(value);
    }

    // ---- call end

    @Override
    public void reply(Response response) {
        answer.reply(response);
    }

    @Override
    public void fail(Throwable failure, Metadata metadata) {
        if (!claimResult()) {
            return;
        }
        HttpForm reporter = hidden != null && failure instanceof RpcException rpc ? hidden.reporter(rpc) : null;
        if (reporter == null) {
            answer.fail(failure, metadata);
        } else {
            reporter.refuse(exchange, (RpcException) failure);
        }
    }

    /** Overridden to make the method accessible to {@link HttpAnswer}, which is in this package. */
    @Override
    protected boolean claimResult() {
        return super.claimResult();
    }
}
