package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.AsciiString;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.Connection;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.transport.Answer;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.MessageStream;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.RemoteFailures;

/** A client's call with any number of messages in one or both directions. Confined to the event loop. */
final class StreamCall extends ClientCall {

    private static final Logger LOG = LoggerFactory.getLogger(StreamCall.class);

    /** The number of unsent bytes below which a stream is ready for its next message (docs/wire-protocol.md 3.10). */
    private static final long READY_BYTES = 32 << 10;

    private final ClientStream.Receiver receiver;
    // the number of bytes waiting to be sent; accessed by any thread
    private final AtomicLong unsentBytes = new AtomicLong();
    // messages waiting for the stream to be opened
    private final Queue<SendMessage> unsent = new ArrayDeque<>();
    // the messages that the event loop has taken from the connection's write queue since the last flush
    private final GatheredMessages gathered = new GatheredMessages();
    private @Nullable Writer writer; // writes the messages of the stream; null until the stream is opened
    private volatile boolean opened;
    private volatile boolean awaitsOpening; // true if the sender waits until the stream is opened
    private @Nullable GrpcAnswer ending;

    StreamCall(
            TripleCodecs codecs,
            PayloadCodec codec,
            ClientStream.Receiver receiver,
            PendingCall pending,
            Connection connection,
            RequestHead requestHead,
            AsciiString[] requestFields,
            byte @Nullable [] request) {
        super(codecs, codec, pending, connection, requestHead, requestFields, request);
        this.receiver = receiver;
    }

    /** Writes messages on open streams of a connection. */
    interface Writer {
        void send(StreamCall call, Http2Stream stream, SendMessage message);
    }

    // ---- Request output

    void opened(Writer by, Http2Stream made) {
        opened(made);
        writer = by;
        for (SendMessage message = unsent.poll(); message != null; message = unsent.poll()) {
            send(message);
        }
        opened = true;
        if (awaitsOpening) {
            ready();
        }
    }

    /** Returns the number of bytes waiting to be sent. Any thread may call this method. */
    long unsentBytes() {
        return unsentBytes.get();
    }

    /**
     * Returns whether fewer than {@link #READY_BYTES} are waiting to be sent. Also returns false while the call waits
     * because all streams of the connection are in use. Until its first message is sent, such a call can move to
     * another connection. Any thread may call this method.
     */
    boolean isReady() {
        return unsentBytes.get() < READY_BYTES && mayBegin();
    }

    private boolean mayBegin() {
        // a sender that already waits continues to wait until the stream is opened, because the call might have been
        // passed to another connection
        if (opened || (!awaitsOpening && connection().calls().free() >= 0)) {
            return true;
        }
        awaitsOpening = true;
        return opened; // the stream might have been opened before awaitsOpening was set
    }

    /**
     * Returns whether the waiting call can move to another connection. It can move if its sender has not sent a message
     * yet, and still waits for the stream to open.
     */
    boolean mayMove() {
        SendMessage first = unsent.peek();
        return request() != null || (first == null ? awaitsOpening : first.message() == null);
    }

    /** Called when a message has been added to the connection's write queue. Any thread may call this method. */
    void queued(int bytes) {
        unsentBytes.addAndGet(bytes);
    }

    /** Called when the socket has accepted queued bytes of this stream, or when the bytes have been dropped. */
    void gone(int bytes) {
        connection().queue().left(bytes);
        long before = unsentBytes.getAndAdd(-bytes);
        if (before >= READY_BYTES && before - bytes < READY_BYTES) {
            ready();
        }
    }

    /** Returns the messages to be written by the next flush. */
    GatheredMessages gathered() {
        return gathered;
    }

    /** Sends the message if the stream is open; otherwise queues it. */
    void send(SendMessage message) {
        Http2Stream stream = stream();
        if (isOver()) {
            gone(message.bytes());
        } else if (stream == null || writer == null) {
            unsent.add(message);
        } else {
            writer.send(this, stream, message);
        }
    }

    // ---- Answer input

    @Override
    void head(Http2Headers headers) {
        Metadata metadata;
        try {
            metadata = TripleMetadata.read(headers);
        } catch (RpcException e) {
            fail(e.code(), "its answer cannot be read: " + e.status().description(), Executed.YES);
            return;
        }
        notifyReceiver(() -> receiver.headers(metadata));
    }

    @Override
    void message(Frame frame) {
        Frame alone = frame.alone();
        notifyReceiver(() -> receiver.message(new TripleMessage(codecs(), codec(), connection(), alone)));
    }

    /**
     * Notifies the receiver that the stream might be ready for its next message, unless the call has ended. Returns
     * whether the call continues.
     */
    boolean ready() {
        if (!isOver()) {
            notifyReceiver(receiver::ready);
        }
        return !isOver();
    }

    private void notifyReceiver(Runnable event) {
        try {
            event.run();
        } catch (Throwable e) {
            Thrown.log(e, shown -> LOG.warn("{}: the receiver of its messages threw an exception", pending(), shown));
            fail(
                    StatusCode.INTERNAL,
                    "the receiver of its messages threw an exception: " + Thrown.text(e),
                    Executed.MAYBE);
        }
    }

    @Override
    long allowedBytes() {
        return MessageStream.ALLOWED_BYTES;
    }

    @Override
    int ask(int messages) {
        int credit = super.ask(messages);
        endIfAllIsTold();
        return credit;
    }

    @Override
    void end(GrpcAnswer answer) {
        close();
        connection().answered(pending().id(), new End(answer, connection().endpoint()));
    }

    @Override
    boolean isAnswered() {
        return ending != null;
    }

    @Override
    void endsLater(GrpcAnswer answer) {
        ending = answer;
        pending().answerIsHere();
        endIfAllIsTold();
    }

    private void endIfAllIsTold() {
        GrpcAnswer answer = ending;
        if (answer == null || isOver()) {
            return;
        }
        if (isEverythingDelivered() || (isCutOff() && !answer.isOk())) {
            end(answer);
        } else if (isCutOff()) {
            fail(StatusCode.INTERNAL, "its answer ends in the middle of a message", Executed.YES);
        }
    }

    @Override
    void close() {
        super.close();
        for (SendMessage message = unsent.poll(); message != null; message = unsent.poll()) {
            gone(message.bytes());
        }
    }

    /** Marks the end of the answers of a streaming call. Contains the headers, trailers and status. */
    private record End(GrpcAnswer answer, Endpoint endpoint) implements Answer {

        @Override
        public Response decode(Invocation call) {
            RpcException failure = answer.failure(call, endpoint);
            if (failure != null) {
                throw RemoteFailures.answered(call, endpoint, failure);
            }
            return new Response(null, answer.headers(), answer.trailers());
        }

        @Override
        public void discard() {
            // this object has no buffer to release
        }
    }

    /**
     * A message to be sent on the stream, or the end of the stream's requests.
     *
     * @param message the encoded message; null if only the end is sent
     * @param end whether the client sends nothing after this message
     * @param bytes the number of bytes that are counted as unsent until {@link #gone} is called
     */
    record SendMessage(byte @Nullable [] message, boolean end, int bytes) {}
}
