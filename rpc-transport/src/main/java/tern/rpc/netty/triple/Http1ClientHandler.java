package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.Connection;
import tern.rpc.transport.PendingCall;

/** A client's end of a connection of HTTP/1.1, which has one exchange at a time. Event loop only. */
final class Http1ClientHandler extends ChannelInboundHandlerAdapter {

    /** Reliability table, HTTP/1.1 and metadata. */
    private static final int LINE_BYTES = 4 << 10;

    private static final int HEADER_BYTES = 32 << 10;
    private static final int CHUNK_BYTES = 64 << 10;

    private final Connection connection;
    private @Nullable EventLoop loop;
    private @Nullable JsonRequest request; // whose answer is awaited
    private @Nullable HttpResponse head; // of the answer that is being read
    private @Nullable CompositeByteBuf body;

    Http1ClientHandler(Connection connection) {
        this.connection = connection;
    }

    /** That of an open channel. */
    static Http1ClientHandler of(Channel channel) {
        return Objects.requireNonNull(channel.pipeline().get(Http1ClientHandler.class));
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        HttpDecoderConfig limits = new HttpDecoderConfig()
                .setMaxInitialLineLength(LINE_BYTES)
                .setMaxHeaderSize(HEADER_BYTES)
                .setMaxChunkSize(CHUNK_BYTES);
        loop = added.channel().eventLoop();
        added.pipeline().addBefore(added.name(), null, new HttpResponseDecoder(limits));
    }

    // Requests

    /** A request is about to be written. */
    void begin(JsonRequest begun) {
        request = begun;
    }

    /** The call does not wait for its answer, which has to come in time all the same. */
    void endsUnheard(PendingCall call) {
        long id = call.id();
        Deadline deadline = call.call().deadline();
        long nanos = deadline.isLimited()
                ? deadline.remainingNanos(System.nanoTime())
                : connection.settings().heartbeat().toNanos();
        loop().schedule(() -> abandon(id), nanos, TimeUnit.NANOSECONDS);
    }

    private EventLoop loop() {
        return Objects.requireNonNull(loop);
    }

    /** Nobody waits for the answer any more. */
    void abandon(long id) {
        JsonRequest awaited = request;
        if (awaited != null && awaited.pending().id() == id) {
            connection.close("its call was given up");
        }
    }

    // Answers

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        connection.heard();
        try {
            read((HttpObject) message);
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void read(HttpObject part) {
        if (request == null) {
            connection.close("the server sent what nobody asked for");
            return;
        }
        if (part.decoderResult().isFailure()) {
            broken("it is not HTTP/1.1: " + part.decoderResult().cause().getMessage());
            return;
        }
        if (part instanceof HttpResponse response) {
            headRead(response);
        }
        if (part instanceof HttpContent content && head != null) {
            bodyRead(content.content());
        }
        if (part instanceof LastHttpContent && head != null) {
            ended(head);
        }
    }

    private void headRead(HttpResponse response) {
        if (response.status().codeClass() == HttpStatusClass.INFORMATIONAL) {
            return; // the answer is still to come
        }
        head = response;
        if (!HttpUtil.isContentLengthSet(response) && !HttpUtil.isTransferEncodingChunked(response)) {
            broken("it has neither a length nor chunks, so that its end cannot be told from a loss");
        } else if (HttpUtil.getContentLength(response, 0L) > maxBytes()) {
            tooLarge();
        }
    }

    private void bodyRead(ByteBuf content) {
        if (!content.isReadable()) {
            return;
        }
        CompositeByteBuf whole = body;
        if (whole == null) {
            whole = Unpooled.compositeBuffer(Integer.MAX_VALUE);
            body = whole;
        }
        if (whole.readableBytes() + content.readableBytes() > maxBytes()) {
            tooLarge();
        } else {
            whole.addComponent(true, content.retain());
        }
    }

    private int maxBytes() {
        return connection.settings().maxMessageBytes();
    }

    private void ended(HttpResponse complete) {
        JsonRequest answered = Objects.requireNonNull(request);
        ByteBuf content = body == null ? Unpooled.EMPTY_BUFFER : body;
        request = null;
        head = null;
        body = null;
        if (HttpUtil.isKeepAlive(complete)) {
            connection.released(); // first: whoever calls again at once finds it free
        }
        if (answered.pending().isOneWay()) {
            content.release();
        } else {
            connection.answered(
                    answered.pending().id(), new JsonAnswer(answered.codecs(), connection, complete, content));
        }
        if (!HttpUtil.isKeepAlive(complete)) {
            connection.close("the server answered with connection: close");
        }
    }

    private void tooLarge() {
        fail(
                StatusCode.RESOURCE_EXHAUSTED,
                "its answer has more than " + maxBytes() + " bytes (set by rpc.limits.max-message)");
    }

    private void broken(String how) {
        fail(StatusCode.INTERNAL, "its answer cannot be read: " + how);
    }

    /** What follows on this connection cannot be told apart from what failed. */
    private void fail(StatusCode code, String how) {
        JsonRequest failed = Objects.requireNonNull(request);
        forget();
        connection.failed(
                failed.pending().id(),
                RpcException.refusal(
                        code, failed.pending() + " at " + connection.endpoint() + ": " + how, Executed.YES));
        connection.close(how);
    }

    private void forget() {
        request = null;
        head = null;
        ByteBuf unread = body;
        body = null;
        if (unread != null) {
            unread.release();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext closed) {
        forget();
        closed.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        connection.close(cause.toString());
    }
}
