package tern.rpc.netty.triple;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.AsciiString;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.WriteBatch;

/** A request and its answer on an HTTP/2 stream. */
final class Http2Exchange extends HttpExchange {

    private static final byte[] NOTHING = {};

    private final Http2ServerHandler handler;
    private final Http2Stream stream;
    private final boolean bodiless; // true if the answer has no body, because the method of the request is HEAD

    /**
     * The number of bytes that the request headers occupy in the server's memory budget. Accessed only by the event
     * loop.
     */
    private int headBytes;

    private boolean over; // true after the stream has ended; accessed only by the event loop

    /** The number of received bytes that still occupy the flow-control window. Accessed only by the event loop. */
    private int held;

    /**
     * The messages that the event loop has taken from the write queue since the last flush; null before the first
     * message. {@link #writeGathered} writes them before the next flush. Accessed only by the event loop.
     */
    private @Nullable GatheredMessages gathered;

    Http2Exchange(ServerConnection connection, Http2Headers head, Http2ServerHandler handler, Http2Stream stream) {
        super(connection, head);
        this.handler = handler;
        this.stream = stream;
        this.bodiless = isHead();
    }

    private AnswerOutput output() {
        return handler.output();
    }

    @Override
    boolean isHttp2() {
        return true;
    }

    @Override
    @Nullable
    RpcException overload() {
        return output().account().overload();
    }

    @Override
    void execute(Runnable task) {
        try {
            handler.execute(task);
        } catch (RejectedExecutionException e) {
            // the event loops have terminated, so this exchange has already ended
        }
    }

    /**
     * Called when body bytes have arrived. The body bytes occupy the flow-control window until they are {@link
     * #consumed}.
     */
    void received(int bytes) {
        held += bytes;
    }

    @Override
    void consumed(int bytes) {
        // bytes that arrived before the upgrade to HTTP/2 do not occupy a flow-control window
        int framed = Math.min(bytes, held);
        held -= framed;
        if (framed > 0) {
            handler.consumed(stream, framed);
        }
    }

    /** Stores the counted size of the headers, which is subtracted again when the stream ends. */
    void holdsHead(int bytes) {
        headBytes = bytes;
    }

    /** Called when the stream has ended. Returns the unread bytes to the flow-control window of the connection. */
    void closed() {
        if (held > 0) {
            consumed(held);
        }
        over = true;
        releaseHead();
        Call open = call();
        if (open != null) {
            open.closed();
        }
    }

    /**
     * Stops counting the request headers if the stream has ended and no part of the answer waits in the codec. A
     * waiting part keeps the headers in memory even if the stream has been reset.
     */
    private void releaseHead() {
        if (headBytes > 0 && over && !isInCodec()) {
            connection().memory().headGone(headBytes);
            headBytes = 0;
        }
    }

    /**
     * Returns whether a reset of this stream counts towards the reset limit. The reset counts only if the method has
     * not started and no part of the answer has been sent.
     */
    boolean countsAsReset() {
        Call open = call();
        return open != null && !open.hasBegun() && !hasAnswer();
    }

    /**
     * Returns whether a part of the answer has been written. A reset after an answer is normal: gRPC clients reset a
     * stream if its call was refused before the request was complete.
     */
    private boolean hasAnswer() {
        return stream.isHeadersSent() || !stream.state().localSideOpen();
    }

    /** Returns whether the client might have reset the stream because the deadline of the call passed. */
    boolean resetMayBeTimeout() {
        Call open = call();
        return open != null && open.timeoutNanos() <= Http2Limits.SHORT_TIMEOUT_NANOS;
    }

    @Override
    void reset(Http2Error error) {
        execute(() -> {
            if (stream.state() != Http2Stream.State.CLOSED) {
                handler.resetByUs(stream, error);
            }
        });
    }

    @Override
    void write(HttpWrite part, WriteBatch batch) {
        int bytes = part.bytes();
        batch.handedOver(bytes);
        if (!stream.state().localSideOpen()) {
            left(bytes);
            return;
        }
        output().account().writing(bytes);
        byte[] message = body(part);
        if (message != null && part.isMessageAlone() && message.length <= GatheredMessages.MAX_BYTES) {
            gather(message, bytes);
            return;
        }
        writeGathered();
        AsciiString plainType = part.plainType();
        if (plainType != null && message != null && output().writePlain(stream, plainType, message, bytes)) {
            left(bytes);
            return;
        }
        entersCodec();
        HttpWrite fitted = OversizedHeaders.fitted(part, this, output().headerListBytes());
        writeByCodec(fitted, bytes);
        Call open = call();
        if (open != null && fitted.isEnd() && !part.isEnd()) {
            // the answer has ended with a failure, so the call is ended too
            open.abort(RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "the headers of the answer are larger than the client accepts",
                    Executed.YES));
        }
    }

    /**
     * Returns the bytes to send for the body. The answer to a HEAD request has no body. Its last part is an empty frame
     * if neither headers nor trailers can end the stream.
     */
    private byte @Nullable [] body(HttpWrite part) {
        byte[] body = part.body();
        if (body == null || !bodiless) {
            return body;
        }
        return part.isEnd() && part.head() == null && part.trailers() == null ? NOTHING : null;
    }

    /**
     * @param part the part of the answer to write
     * @param bytes the number of bytes that are counted for the part until the socket has accepted it
     */
    private void writeByCodec(HttpWrite part, int bytes) {
        ChannelHandlerContext context = handler.context();
        Http2ConnectionEncoder encoder = handler.encoder();
        ChannelFuture last = null;
        Http2Headers head = part.head();
        byte[] message = body(part);
        Http2Headers trailers = part.trailers();
        if (head != null) {
            boolean alone = message == null && trailers == null;
            last = encoder.writeHeaders(context, stream.id(), head, 0, part.isEnd() && alone, context.newPromise());
            output().headersWritten(last);
        }
        if (message != null) {
            ChannelPromise promise = context.newPromise();
            last = encoder.writeData(
                    context,
                    stream.id(),
                    Unpooled.wrappedBuffer(message),
                    0,
                    part.isEnd() && trailers == null,
                    promise);
        }
        if (trailers != null) {
            boolean alone = last == null;
            last = encoder.writeHeaders(context, stream.id(), trailers, 0, true, context.newPromise());
            if (alone) {
                output().headersWritten(last);
            }
        }
        if (last == null) {
            gone(bytes);
            return;
        }
        if (part.isEnd()) {
            output().endWritten(last);
        }
        last.addListener(done -> {
            gone(bytes);
            if (part.isEnd() && stream.state() == Http2Stream.State.HALF_CLOSED_LOCAL) {
                handler.endedEarly(stream);
            }
        });
    }

    private void gather(byte[] message, int counted) {
        GatheredMessages messages = gathered;
        if (messages == null) {
            messages = new GatheredMessages();
            gathered = messages;
        }
        if (!messages.hasRoomFor(message)) {
            writeGathered();
        }
        if (messages.isEmpty()) {
            output().gathering(this);
        }
        messages.add(message, counted);
    }

    /** Writes the gathered messages. Does nothing if there are none. Must run on the event loop. */
    void writeGathered() {
        GatheredMessages messages = gathered;
        if (messages == null || messages.isEmpty()) {
            return;
        }
        int counted = messages.countedBytes();
        if (stream.state().localSideOpen()) {
            entersCodec();
            output().write(stream, messages).addListener(done -> gone(counted));
        } else {
            messages.clear();
            output().account().written(counted);
            left(counted);
        }
    }

    @Override
    long takenStepBytes() {
        return connection().unread().stepBytes();
    }

    @Override
    boolean isWritable() {
        return stream.state().localSideOpen() && output().isWritable(stream);
    }

    private void gone(int counted) {
        output().account().written(counted);
        leftCodec(counted);
        releaseHead();
    }
}
