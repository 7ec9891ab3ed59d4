package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.SerializationException;

/**
 * A call whose answer has a head, messages and an end. Subclasses define their format. Messages come from one thread
 * after another, but another thread may send the end before them: later messages are dropped.
 */
abstract class MessageCall extends HttpCall {

    private static final Logger LOG = LoggerFactory.getLogger(MessageCall.class);

    /** Smaller messages do not count to the memory that all streams share. */
    private static final int SMALL_BYTES = 4 << 10;

    /** Messages from this size on wait for their turn to be encoded. */
    private static final int LARGE_BYTES = 256 << 10;

    private final TripleCodecs codecs;
    private final boolean acceptsGzip;
    private final Object sending = new Object();
    private boolean headSent; // guarded by sending
    private boolean ended; // guarded by sending
    private boolean announced; // guarded by sending: the head permits compressed messages
    private volatile boolean compressed; // whether later messages are compressed
    private volatile boolean messageSent;
    private volatile Executed executed = Executed.MAYBE; // whether the method of a failed call ran

    /**
     * @param acceptsGzip whether the caller accepts compressed answers
     * @param timeoutNanos counted from the head; negative for none
     */
    MessageCall(
            TripleCodecs codecs,
            HttpExchange exchange,
            Route route,
            BodyReader body,
            long timeoutNanos,
            boolean acceptsGzip) {
        super(exchange, route, body, timeoutNanos);
        this.codecs = codecs;
        this.acceptsGzip = acceptsGzip;
    }

    TripleCodecs codecs() {
        return codecs;
    }

    // ---- requests

    /** Decodes a message, decompressed if necessary. The frame is released. */
    final <T> T read(Frame frame, TripleCodecs.Reading<T> reading) {
        return codecs.readRequest(frame, connection().settings().maxRequestBytes(), connection(), reading);
    }

    /** Decodes a request of the method named by the path. */
    final Request readRequest(Frame frame, boolean json) {
        return read(frame, (bytes, length) -> {
            MethodDescriptor method = route().required();
            return new Request(method, codecs.readRequest(method, json, bytes, length));
        });
    }

    @Override
    @Nullable
    Object readElement(Frame frame) {
        return readRequest(frame, connection().services()).arguments()[0];
    }

    int maxResponseBytes() {
        return connection().settings().maxResponseBytes();
    }

    // ---- answers

    /**
     * One encoded message.
     *
     * @param compressed whether to compress it; the caller accepts it
     * @throws SerializationException if it cannot be encoded or exceeds the limit
     */
    abstract byte[] message(MethodDescriptor method, @Nullable Object value, boolean compressed);

    /**
     * The head of an answer.
     *
     * @param compressed whether its messages may be compressed
     * @throws RpcException if the metadata cannot be sent
     */
    abstract Http2Headers head(Metadata headers, boolean compressed);

    /**
     * The end of an answer, with its metadata.
     *
     * @param head null if it was sent before
     * @param failure null for success
     * @throws RpcException if the metadata cannot be sent
     */
    abstract HttpWrite end(
            @Nullable Http2Headers head, byte @Nullable [] message, @Nullable Status failure, Metadata trailers);

    /** A complete answer with its message only, if the protocol has a form without own headers; else null. */
    @Nullable
    HttpWrite plain(byte[] message) {
        return null;
    }

    @Override
    public void compressResponse(boolean wanted) {
        synchronized (sending) {
            compressed = wanted && acceptsGzip && (announced || !headSent);
        }
    }

    /** Whether the method of a failed call ran. If not, any call may be repeated. */
    Executed executed() {
        return executed;
    }

    /** Whether later messages are compressed. */
    boolean isCompressed() {
        return compressed;
    }

    @Override
    public void sendHeaders(Metadata headers) {
        synchronized (sending) {
            if (!headSent && isOpen()) {
                announced = compressed;
                Http2Headers head = head(headers, announced);
                headSent = true;
                exchange().send(new HttpWrite(exchange(), head, null, null, false));
            }
        }
    }

    @Override
    public void send(@Nullable Object value) {
        if (!isOpen()) {
            return;
        }
        byte[] message = encode(value);
        checkUnsent(message.length);
        synchronized (sending) {
            if (ended) {
                return;
            }
            Http2Headers head = headSent ? null : head(new Metadata(), compressed);
            announced |= head != null && compressed;
            headSent = true;
            messageSent = true;
            exchange().send(new HttpWrite(exchange(), head, message, null, false));
        }
    }

    /**
     * Checks the memory for a message. A ready stream may send a message of any size, but only a small one if the
     * server is out of memory for answers.
     */
    private void checkUnsent(int message) {
        long unsent = exchange().unsentBytes();
        if (unsent == 0 && message <= SMALL_BYTES) {
            return;
        }
        String refusal = connection().refusesUnsent(unsent, exchange().isReady() ? 0 : message);
        if (refusal != null) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    method() + " ends its stream to " + remoteAddress() + ", which is read too slowly: " + refusal
                            + "; a method that looks at isReady or gives a publisher waits instead",
                    Executed.YES);
        }
    }

    private byte[] encode(@Nullable Object value) {
        try {
            return message(Objects.requireNonNull(method()), value, compressed);
        } catch (MessageTooLargeException e) {
            throw new RpcException(
                    StatusCode.RESOURCE_EXHAUSTED, "the answer cannot be sent: " + e.getMessage(), Executed.YES, e);
        } catch (SerializationException e) {
            throw new RpcException(
                    StatusCode.INTERNAL, "the answer cannot be written: " + e.getMessage(), Executed.YES, e);
        }
    }

    @Override
    public void reply(Response response) {
        if (!isOpen()) {
            return;
        }
        byte[] message = null;
        RpcException failure = null;
        if (!messageSent && !Objects.requireNonNull(method()).type().serverStreams()) {
            try {
                checkTaken();
                message = encode(response.value());
                if (message.length > LARGE_BYTES) {
                    checkTaken(); // other answers may have been queued meanwhile
                }
            } catch (RpcException e) {
                message = null;
                failure = e;
            }
        }
        if (!claimAnswer()) {
            return;
        }
        Metadata trailers = response.metadata();
        if (failure == null) {
            try {
                finish(response.headers(), message, null, trailers);
                return;
            } catch (RpcException e) { // its mistake is not the caller's fault
                failure = new RpcException(
                        StatusCode.INTERNAL,
                        "the answer cannot be sent: " + e.status().description(),
                        Executed.YES,
                        e);
                trailers = new Metadata();
            } catch (Throwable e) { // from the metadata, or no memory
                failure = new RpcException(
                        StatusCode.INTERNAL,
                        "the answer cannot be sent: " + e.getClass().getName(),
                        Executed.YES,
                        e);
                trailers = new Metadata();
            }
        }
        answerAnyhow(failure, trailers);
    }

    private void checkTaken() {
        String refusal = connection().refusesAnswer();
        if (refusal != null) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED, "the answer is not sent: " + refusal, Executed.YES);
        }
    }

    @Override
    void answerFailure(Throwable failure, Metadata metadata) {
        Status status = status(failure);
        executed = failure instanceof RpcException rpc ? rpc.wasExecuted() : Executed.YES;
        try {
            finish(new Metadata(), null, status, metadata);
        } catch (RpcException e) {
            LOG.warn("The metadata of a failed answer cannot be sent: {}", e.getMessage());
            finish(new Metadata(), null, status, new Metadata());
        }
    }

    private static Status status(Throwable failure) {
        if (failure instanceof RpcException rpc && rpc.status().code() != StatusCode.OK) {
            return rpc.status();
        }
        String message = Thrown.message(failure);
        return new Status(
                StatusCode.UNKNOWN, message == null ? failure.getClass().getName() : message);
    }

    private void finish(Metadata headers, byte @Nullable [] message, @Nullable Status failure, Metadata trailers) {
        synchronized (sending) {
            if (ended) {
                return;
            }
            HttpWrite plain = headSent
                            || compressed
                            || message == null
                            || failure != null
                            || !headers.isEmpty()
                            || !trailers.isEmpty()
                    ? null
                    : plain(message);
            if (plain != null) {
                exchange().send(plain);
                headSent = true;
                ended = true;
                return;
            }
            Http2Headers head = headSent ? null : head(headers, compressed && message != null);
            HttpWrite end = end(head, message, failure, trailers);
            exchange().send(end);
            headSent = true;
            ended = true; // afterwards, so that another end can be sent if this one fails
        }
    }

    /** Joins the last message and the end. */
    static byte[] joined(byte[] first, byte[] second) {
        byte[] joined = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, joined, first.length, second.length);
        return joined;
    }

    /** Queues a complete answer of another format; false if a part of an answer was already sent. */
    final boolean sendWhole(HttpWrite whole) {
        synchronized (sending) {
            if (headSent || ended) {
                return false;
            }
            exchange().send(whole);
            headSent = true;
            ended = true;
            return true;
        }
    }
}
