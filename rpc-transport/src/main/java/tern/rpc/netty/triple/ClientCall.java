package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.AsciiString;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.Connection;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;
import tern.rpc.netty.http1.Http1AnswerReader;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.netty.triple.MessageDeframer.Framing;
import tern.rpc.serialization.MessageKind;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.UnsentCallException;

/**
 * A client's call on an HTTP/2 stream, from the start of the request to the end of the answer. Until its stream is
 * opened, this object waits in the write queue. The call delivers the headers, the messages and the end of the answer
 * in this order. A malformed answer fails the call. Confined to the event loop, except for its creation and for {@link
 * #bytes}.
 */
abstract class ClientCall extends WriteCommand implements MessageDeframer.Receiver {

    /** The maximum number of headers in an answer, and the maximum number of trailers (docs/limits.md). */
    private static final int MAX_FIELDS = 128;

    private static final int MAX_INTERIMS = Http1AnswerReader.MAX_INTERIMS;

    private static final AsciiString[] NO_FIELDS = {};

    private final TripleCodecs codecs;
    private final PayloadCodec codec;
    private final PendingCall pending;
    private final Connection connection;
    private final RequestHead requestHead;
    private final int requestBytes;
    private AsciiString[] requestFields; // the header fields of the request; empty after the request has been written

    // the message of the request; null if the messages are sent separately or the request has been written
    private byte @Nullable [] request;
    private @Nullable Channel channel; // the channel on which the request is written

    // the promise of the request, which completes when the request has been sent; null if the request is written in one
    // step
    private @Nullable ChannelPromise promise;
    private @Nullable Http2Stream stream;
    private @Nullable Http2Headers head;
    private @Nullable MessageDeframer deframer;
    // counts the bytes of the answer; null while the answer is small
    private UnfinishedAnswers.@Nullable Account memory;
    private boolean mayBeCompressed;
    private boolean foreign; // true if the server has sent bytes that are not gRPC messages
    private boolean over;
    private int demand;
    private int interims; // the number of interim answers (1xx)

    /**
     * @param requestFields the header fields of the request without pseudo-headers, alternately names and values
     * @param request the message of the request with its prefix; null if the messages are sent separately
     */
    ClientCall(
            TripleCodecs codecs,
            PayloadCodec codec,
            PendingCall pending,
            Connection connection,
            RequestHead requestHead,
            AsciiString[] requestFields,
            byte @Nullable [] request) {
        this.codecs = codecs;
        this.codec = codec;
        this.pending = pending;
        this.connection = connection;
        this.requestHead = requestHead;
        this.requestFields = requestFields;
        this.request = request;
        int size = requestHead.path().length();
        for (AsciiString field : requestFields) {
            size += field.length();
        }
        this.requestBytes = size + (request == null ? 0 : request.length);
    }

    TripleCodecs codecs() {
        return codecs;
    }

    /** Returns the codec of the method's messages. */
    PayloadCodec codec() {
        return codec;
    }

    PendingCall pending() {
        return pending;
    }

    Connection connection() {
        return connection;
    }

    // ---- Request output

    @Override
    public int bytes() {
        return requestBytes;
    }

    @Override
    protected void write(WriteBatch batch) {
        channel = batch.channel();
        batch.handedOn(requestBytes);
        Http2ClientHandler.of(batch.channel()).streams().begin(this);
    }

    RequestHead requestHead() {
        return requestHead;
    }

    AsciiString[] requestFields() {
        return requestFields;
    }

    byte @Nullable [] request() {
        return request;
    }

    /**
     * Called when the request has been passed to the channel. Releases the request, so that it does not stay in memory
     * until the answer arrives.
     */
    void requestWritten() {
        requestFields = NO_FIELDS;
        request = null;
    }

    /** Returns the promise that completes when the socket has accepted or dropped the bytes of the request. */
    ChannelPromise requestPromise() {
        ChannelPromise known = promise;
        if (known == null) {
            known = Objects.requireNonNull(channel).newPromise();
            known.addListener(done -> connection.queue().left(requestBytes));
            promise = known;
        }
        return known;
    }

    // ---- Stream state

    /** Returns whether the call has ended. Frames that arrive later are ignored. */
    boolean isOver() {
        return over || pending.isDone();
    }

    /** Returns the stream of the call; null before the request is sent. */
    @Nullable
    Http2Stream stream() {
        return stream;
    }

    void opened(Http2Stream opened) {
        stream = opened;
    }

    /**
     * Returns true if the call has ended for its caller although the server still runs the call. The answer is then
     * dropped.
     */
    boolean isUnheard() {
        return false;
    }

    /** Called when the stream of the call has been closed. */
    void streamClosed() {}

    // ---- Subclass callbacks

    /** Called when the headers of the answer have arrived. */
    abstract void head(Http2Headers headers);

    /** Called when a requested message has arrived. */
    abstract void message(Frame frame);

    /** Called when all messages have been delivered and the answer has ended. */
    abstract void end(GrpcAnswer answer);

    /**
     * Returns true if the whole answer has arrived but some of its messages have not been requested and delivered yet.
     */
    boolean isAnswered() {
        return false;
    }

    /** Returns the number of bytes of complete messages waiting for the end of the answer. */
    int heldBytes() {
        return 0;
    }

    /**
     * Called when the answer has ended but some messages have not been delivered yet. The end is delivered after these
     * messages.
     */
    abstract void endsLater(GrpcAnswer answer);

    // ---- Answer input

    /** Called when an interim answer (1xx) has arrived. The final answer follows. */
    void interimRead() {
        if (++interims > MAX_INTERIMS) {
            fail(
                    StatusCode.INTERNAL,
                    "its answer has more than " + MAX_INTERIMS + " interim answers (1xx)",
                    Executed.MAYBE);
        }
    }

    void headersRead(Http2Headers headers, boolean endOfStream) {
        if (isOver()) {
            return;
        }
        if (headers.size() > MAX_FIELDS) {
            fail(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "its answer has " + headers.size() + " header fields; at most " + MAX_FIELDS + " are accepted",
                    Executed.YES);
            return;
        }
        Http2Headers first = head;
        if (first != null || endOfStream) {
            ended(first == null ? headers : first, headers);
            return;
        }
        head = headers;
        if (isGrpc(headers.get(GrpcHeaders.CONTENT_TYPE))) {
            // An unsupported coding is not an error yet, because the server can still send uncompressed messages or
            // only an error.
            mayBeCompressed = ContentCoding.mayBeGzip(headers.get(GrpcHeaders.ENCODING));
            int maxBytes = connection.settings().maxResponseBytes();
            deframer = new MessageDeframer(Framing.GRPC, maxBytes, MessageKind.RESPONSE, this);
            deframer.request(demand, allowedBytes());
            head(headers);
        }
    }

    /** @return the number of received bytes that no longer occupy the flow-control window */
    int dataRead(ByteBuf data, boolean endOfStream) {
        int bytes = data.readableBytes();
        Http2Headers first = head;
        if (isOver()) {
            return bytes;
        }
        if (first == null) {
            fail(StatusCode.INTERNAL, "its answer begins with data instead of headers", Executed.YES);
            return bytes;
        }
        int credit = bytes;
        if (deframer == null) {
            foreign |= bytes > 0;
        } else {
            try {
                deframer.add(data);
            } catch (RpcException e) {
                fail(e);
                return bytes;
            }
            credit = isOver() ? bytes : deframer.takeCredit();
            count(deframer);
        }
        if (endOfStream && !isOver()) {
            ended(first, null);
        }
        return credit;
    }

    private void count(MessageDeframer messages) {
        int held = messages.held() + heldBytes();
        if (isOver() || (memory == null && held <= UnfinishedAnswers.FREE_BYTES)) {
            return;
        }
        UnfinishedAnswers.Account account = memory;
        if (account == null) {
            account = new UnfinishedAnswers.Account(UnfinishedAnswers.OF_PROCESS, connection.endpoint());
            memory = account;
        }
        String refusal = account.holds(held);
        if (refusal != null) {
            fail(StatusCode.RESOURCE_EXHAUSTED, "its answer is not read completely: " + refusal, Executed.YES);
        }
    }

    @Override
    public void message(int flags, ByteBuf payload) {
        Frame frame = new Frame(payload, flags);
        if (isOver()) {
            payload.release();
        } else if (frame.isCompressed() && !mayBeCompressed) {
            payload.release();
            fail(StatusCode.INTERNAL, unknownCoding(), Executed.YES);
        } else {
            message(frame);
        }
    }

    private String unknownCoding() {
        CharSequence coding = head == null ? null : head.get(GrpcHeaders.ENCODING);
        return coding == null
                ? "a message of its answer is marked as compressed, but no header names a coding"
                : "its answer has grpc-encoding '" + PeerText.name(coding.toString())
                        + "', but the client offered only gzip";
    }

    /** Returns the maximum number of message bytes that may be delivered between two calls to {@link #ask}. */
    long allowedBytes() {
        return Long.MAX_VALUE;
    }

    /**
     * Requests more messages.
     *
     * @return the number of received bytes that no longer occupy the flow-control window
     */
    int ask(int messages) {
        demand = (int) Math.min(Integer.MAX_VALUE, (long) demand + messages);
        if (isOver() || deframer == null) {
            return 0;
        }
        try {
            deframer.request(messages, allowedBytes());
        } catch (RpcException e) {
            fail(e);
            return 0;
        }
        count(deframer);
        return isOver() ? 0 : deframer.takeCredit();
    }

    private void ended(Http2Headers first, @Nullable Http2Headers last) {
        GrpcAnswer answer = new GrpcAnswer(first, last);
        if (foreign && answer.isOk()) {
            fail(
                    StatusCode.INTERNAL,
                    "its answer has content type " + answer.head().get(GrpcHeaders.CONTENT_TYPE),
                    Executed.YES);
        } else if (deframer == null || deframer.isEmpty()) {
            end(answer);
        } else {
            endsLater(answer);
        }
    }

    /** Returns whether all received bytes have been delivered as messages. */
    boolean isEverythingDelivered() {
        return deframer == null || deframer.isEmpty();
    }

    /**
     * Returns whether the answer ends within a message, that is, whether the undelivered bytes are an incomplete
     * message.
     */
    boolean isCutOff() {
        return deframer != null && deframer.isIncomplete();
    }

    // ---- Call end

    /** Ends the call and stops the delivery of messages. */
    void close() {
        over = true;
        if (memory != null) {
            memory.ended();
        }
        if (deframer != null) {
            deframer.close();
        }
    }

    void fail(StatusCode code, String how, Executed executed) {
        close();
        connection.failed(
                pending.id(),
                RpcException.refusal(code, pending + " at " + connection.endpoint() + ": " + how, executed));
    }

    /** Ends a call that the server has not processed, so that it is retried immediately. */
    void unsent(String how) {
        close();
        connection.failed(pending.id(), new UnsentCallException(pending + " at " + connection.endpoint() + ": " + how));
    }

    private void fail(RpcException broken) {
        fail(broken.code(), "its answer cannot be read: " + broken.status().description(), Executed.YES);
    }

    /**
     * Returns whether the media type is application/grpc, with or without a suffix and parameters. Returns false for
     * gRPC-Web.
     */
    private static boolean isGrpc(@Nullable CharSequence type) {
        int length = GrpcHeaders.GRPC.length();
        if (type == null || !AsciiString.regionMatches(type, true, 0, GrpcHeaders.GRPC, 0, length)) {
            return false;
        }
        return type.length() == length || " ;+".indexOf(type.charAt(length)) >= 0;
    }
}
