package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Metadata;
import tern.rpc.NanoClock;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.SeldomWarning;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.triple.CallEncoding.Failure;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.MessageStream.Receiver;

/**
 * The answer to a call: headers, messages and an end, in the encoding of the call. Only one thread at a time sends
 * messages. Another thread may send the end at any time, and messages after the end are dropped. Thread-safe.
 */
final class HttpAnswer {

    private static final Logger LOG = LoggerFactory.getLogger(HttpAnswer.class);

    /**
     * Limits the number of log lines about metadata that cannot be sent. A method can copy metadata from the request,
     * so without this limit a caller could fill the log.
     */
    static final SeldomWarning UNSENT_METADATA = new SeldomWarning(LOG, NanoClock.SYSTEM);

    private enum State {
        NOTHING_SENT,
        HEAD_SENT,
        ENDED
    }

    /** A message of up to {@value} bytes is always accepted if its stream has no unsent bytes. */
    private static final int SMALL_BYTES = 4 << 10;

    /**
     * The memory budget is checked again after an answer of more than {@value} bytes has been encoded, because encoding
     * a large answer takes a long time.
     */
    private static final int LARGE_BYTES = 256 << 10;

    private final HttpCall call;
    private final boolean acceptsGzip;
    private State state = State.NOTHING_SENT; // the parts of the answer that have already been sent; guarded by this
    private boolean announced; // true if the sent headers permit compressed messages; guarded by this
    private volatile boolean compressed; // true if the messages that follow are compressed
    private volatile boolean messageSent;
    // the headers that the method sent before its result; kept only if the encoding sends them together with the result
    private volatile @Nullable Metadata early;
    // detects stalls of a stream; null for a unary call; accessed only by the event loop
    private @Nullable StallWatch stallWatch;

    /** @param acceptsGzip whether the caller accepts compressed answers */
    HttpAnswer(HttpCall call, boolean acceptsGzip) {
        this.call = call;
        this.acceptsGzip = acceptsGzip;
    }

    private HttpExchange exchange() {
        return call.exchange();
    }

    private ServerConnection connection() {
        return exchange().connection();
    }

    private CallEncoding encoding() {
        return call.encoding();
    }

    void compress(boolean wanted) {
        synchronized (this) {
            compressed = wanted && acceptsGzip && (announced || state == State.NOTHING_SENT);
        }
    }

    // ---- stream messages

    void sendHeaders(Metadata headers) {
        if (early != null) {
            return;
        }
        if (encoding().holdsHeaders(headers)) {
            early = headers.copy();
            return;
        }
        synchronized (this) {
            if (state == State.NOTHING_SENT && call.isOpen()) {
                announced = compressed;
                Http2Headers head = encoding().head(exchange(), headers, announced);
                state = State.HEAD_SENT;
                exchange().send(new HttpWrite(exchange(), head, null, null, false));
            }
        }
    }

    void send(@Nullable Object value) {
        if (!call.isOpen()) {
            return;
        }
        if (!exchange().isReady()) {
            checkUnsent(0); // A stream with too many unsent bytes fails here, before the message is encoded.
        }
        byte[] message = encode(value);
        checkUnsent(message.length);
        synchronized (this) {
            if (state == State.ENDED) {
                return;
            }
            Http2Headers head =
                    state == State.NOTHING_SENT ? encoding().head(exchange(), new Metadata(), compressed) : null;
            announced |= head != null && compressed;
            state = State.HEAD_SENT;
            messageSent = true;
            exchange().send(new HttpWrite(exchange(), head, message, null, false));
        }
    }

    /**
     * Checks whether a message may be queued. A stream without unsent bytes may always queue a message of up to 4 KiB.
     * A ready stream may queue a message of any size while the memory budget for answers permits it.
     */
    private void checkUnsent(int message) {
        long unsent = exchange().unsentBytes();
        if (unsent == 0 && message <= SMALL_BYTES) {
            return;
        }
        boolean ready = exchange().isReady();
        String refusal = connection().unread().refusal(unsent, message, ready);
        if (refusal != null) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    call.method() + " ends its stream to " + call.remoteAddress() + ", which is read too slowly: "
                            + refusal
                            + (ready ? "" : "; a method that checks isReady or returns a publisher waits instead"),
                    Executed.YES);
        }
    }

    private byte[] encode(@Nullable Object value) {
        try {
            return encoding()
                    .message(exchange(), Objects.requireNonNull(call.method()), call.codec(), value, compressed);
        } catch (MessageTooLargeException e) {
            throw new RpcException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "the answer exceeds the limit of the server: " + e.getMessage(),
                    Executed.YES,
                    e);
        } catch (SerializationException e) {
            throw new RpcException(
                    StatusCode.INTERNAL, "the answer cannot be written: " + e.getMessage(), Executed.YES, e);
        }
    }

    /** Starts checking a stream for stalls. Must run on the event loop. */
    void watch() {
        stallWatch = new StallWatch();
    }

    /**
     * Reports the stream to the connection if it makes no progress even though its peer and the socket would accept
     * bytes. Runs periodically on the event loop.
     */
    void lookForStall(@Nullable Receiver sender, long now) {
        StallWatch watch = stallWatch;
        if (watch == null || sender == null) {
            return;
        }
        long unsent = exchange().unsentBytes();
        boolean hasSome = unsent > 0 || (sender.isWaitingToSend() && exchange().isReady());
        if (watch.isStalled(hasSome && exchange().isWritable(), exchange().takenBytes(), now)) {
            connection().stalled(call.methodName(), unsent);
        }
    }

    // ---- answer ends

    void reply(Response response) {
        if (!call.isOpen()) {
            return;
        }
        byte[] message = null;
        RpcException failure = null;
        if (!messageSent && !Objects.requireNonNull(call.method()).type().serverStreams()) {
            try {
                checkTaken();
                message = encode(response.value());
                if (message.length > LARGE_BYTES) {
                    checkTaken(); // other answers might have used up the memory budget while this answer was encoded
                }
            } catch (RpcException e) {
                message = null;
                failure = e;
            }
        }
        if (!call.claimResult()) {
            return;
        }
        Metadata trailers = response.metadata();
        if (failure == null) {
            try {
                finish(response.headers(), message, null, trailers);
                return;
            } catch (RpcException e) {
                // the exception's status code is not sent, because it could blame the caller for a fault of the method
                failure = unsendable(e.status().description(), e);
                trailers = new Metadata();
            } catch (Throwable e) { // either the metadata cannot be sent or memory is exhausted
                failure = unsendable(e.getClass().getName(), e);
                trailers = new Metadata();
            }
        }
        fail(failure, trailers);
    }

    private static RpcException unsendable(String why, Throwable cause) {
        return new RpcException(StatusCode.INTERNAL, "the answer cannot be sent: " + why, Executed.YES, cause);
    }

    private void checkTaken() {
        String refusal = connection().unread().refusal();
        if (refusal != null) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED, "the answer is not sent: " + refusal, Executed.YES);
        }
    }

    /**
     * Answers a call with a failure. The calling thread must have reserved the answer for itself, so no other thread
     * will answer the call. For this reason, if the failure cannot be encoded, this method sends a simpler failure or
     * resets the stream.
     */
    void fail(Throwable failure, Metadata metadata) {
        try {
            finishFailed(failure, metadata);
        } catch (Throwable e) {
            failUndescribed(failure, e);
        }
    }

    private void failUndescribed(Throwable failure, Throwable why) {
        try {
            Executed executed = failure instanceof RpcException rpc ? rpc.wasExecuted() : Executed.YES;
            String text =
                    call.methodName() + " failed with " + failure.getClass().getName() + ", which cannot be described: "
                            + why.getClass().getName();
            finishFailed(new RpcException(StatusCode.INTERNAL, text, executed, why), new Metadata());
        } catch (Throwable e) {
            Thrown.log(e, shown -> LOG.error("A call could not be answered", shown));
            exchange().reset(Http2Error.INTERNAL_ERROR);
        }
    }

    private void finishFailed(Throwable failure, Metadata metadata) {
        Throwable forCaller = encoding().forCaller(failure);
        HttpWrite whole = encoding().wholeFailure(exchange(), call.method(), call.codec(), forCaller, metadata);
        if (whole != null && finishWith(whole)) {
            return;
        }
        Failure described = Failure.of(forCaller);
        try {
            finish(new Metadata(), null, described, metadata);
        } catch (RpcException e) {
            UNSENT_METADATA.warn(() -> "The metadata of a failed answer cannot be sent: " + e.getMessage());
            finish(new Metadata(), null, described, new Metadata());
        }
    }

    /**
     * Sends a complete answer that replaces the answer in the call's own format.
     *
     * @return false if a part of the call's answer has already been sent
     */
    private boolean finishWith(HttpWrite whole) {
        synchronized (this) {
            if (state != State.NOTHING_SENT) {
                return false;
            }
            exchange().send(whole);
            state = State.ENDED;
            return true;
        }
    }

    private void finish(Metadata headers, byte @Nullable [] message, @Nullable Failure failure, Metadata trailers) {
        synchronized (this) {
            if (state == State.ENDED) {
                return;
            }
            HttpWrite end = plain(headers, message, failure, trailers);
            if (end == null) {
                Metadata sooner = early;
                Http2Headers head = state == State.NOTHING_SENT
                        ? encoding().head(exchange(), sooner == null ? headers : sooner, compressed && message != null)
                        : null;
                end = encoding().end(exchange(), head, message, failure, trailers);
            }
            exchange().send(end);
            state = State.ENDED; // the state is set after the send, so that an error can be sent if the send fails
        }
    }

    private @Nullable HttpWrite plain(
            Metadata headers, byte @Nullable [] message, @Nullable Failure failure, Metadata trailers) {
        return state != State.NOTHING_SENT
                        || compressed
                        || message == null
                        || failure != null
                        || !headers.isEmpty()
                        || !trailers.isEmpty()
                ? null
                : encoding().plain(exchange(), message);
    }
}
