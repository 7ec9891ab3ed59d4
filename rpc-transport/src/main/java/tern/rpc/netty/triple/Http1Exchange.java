package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.UnreadBytes;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.http1.Http1Head;

/** A request and its answer on an HTTP/1.x connection. Fields are confined to the event loop. */
final class Http1Exchange extends HttpExchange {

    private static final AsciiString OK_LINE = AsciiString.cached("HTTP/1.1 200 OK\r\n");
    private static final AsciiString LENGTH = AsciiString.cached("content-length");

    /** Parts of an answer with more than {@value} bytes are passed to the socket without a copy. */
    private static final int COPIED_BYTES = 4 << 10;

    private final Http1ServerHandler handler;
    private final Http1Head request;
    private boolean headWritten;
    private boolean chunked;
    private boolean bodiless;
    private boolean closes;
    private boolean ended;

    Http1Exchange(ServerConnection connection, Http1Head request, Http1ServerHandler handler) {
        super(connection, request.headers());
        this.handler = handler;
        this.request = request;
        this.bodiless = isHead();
    }

    @Override
    boolean isHttp2() {
        return false;
    }

    @Override
    void execute(Runnable task) {
        try {
            handler.execute(task);
        } catch (RejectedExecutionException e) {
            // the event loops have terminated, so this exchange has ended
        }
    }

    @Override
    void consumed(int bytes) {
        handler.consumed(this, bytes);
    }

    @Override
    void reset(Http2Error error) {
        execute(() -> handler.abandon(this));
    }

    /**
     * Returns the maximum growth of {@link #takenBytes} in one step, in bytes. After its buffer was full, a socket
     * accepts more bytes only when a large part of the buffer is free, so the steps are large.
     */
    @Override
    long takenStepBytes() {
        return UnreadBytes.MAX_STEP_BYTES;
    }

    @Override
    boolean isWritable() {
        return !ended && handler.context().channel().isWritable();
    }

    /** Returns whether the whole answer has been written. */
    boolean isAnswered() {
        return ended;
    }

    /** Returns whether the server closes the connection after the answer. */
    boolean closes() {
        return closes;
    }

    @Override
    void write(HttpWrite part, WriteBatch batch) {
        int bytes = part.bytes();
        Http2Headers head = part.head() != null ? part.head() : headWritten ? null : part.trailers();
        if (ended || (head == null && !headWritten)) {
            batch.handedOver(bytes);
            left(bytes);
            return;
        }
        entersCodec();
        closes |= !request.keepsAlive() || handler.mustClose(headWritten, part.isEnd());
        ByteBuf out = handler.context().alloc().buffer();
        if (!headWritten && head != null) {
            headWritten = true;
            writeHead(head, part, out);
        }
        ChannelFuture taken = writeBody(part, head == part.trailers() ? null : part.trailers(), out);
        batch.handedOver(bytes, taken);
        taken.addListener(done -> {
            leftCodec(bytes);
            handler.taken();
        });
        if (part.isEnd()) {
            ended = true;
            handler.answered(this);
        }
    }

    private void writeHead(Http2Headers head, HttpWrite part, ByteBuf out) {
        HttpResponseStatus status = GrpcHeaders.OK.contentEquals(head.status())
                ? HttpResponseStatus.OK
                : HttpResponseStatus.parseLine(
                        Objects.requireNonNull(head.status()).toString());
        boolean never = status.code() == 204 || status.code() == 304;
        boolean known = never || head.contains(LENGTH);
        if (!known && !part.isEnd()) {
            chunked = !request.isHttp10();
            closes |= !chunked;
        }
        bodiless |= never;
        if (status.equals(HttpResponseStatus.OK)) {
            ByteBufUtil.writeAscii(out, OK_LINE);
        } else {
            ByteBufUtil.writeAscii(out, "HTTP/1.1 " + status.code() + ' ' + status.reasonPhrase() + "\r\n");
        }
        writeFields(head, out);
        if (chunked) {
            ByteBufUtil.writeAscii(out, "transfer-encoding: chunked\r\n");
        } else if (!known && part.isEnd()) {
            byte[] body = part.body();
            ByteBufUtil.writeAscii(out, "content-length: " + (body == null ? 0 : body.length) + "\r\n");
        }
        if (closes) {
            ByteBufUtil.writeAscii(out, "connection: close\r\n");
        } else if (request.saysKeepAlive()) {
            ByteBufUtil.writeAscii(out, "connection: keep-alive\r\n");
        }
        ByteBufUtil.writeAscii(out, "\r\n");
    }

    private static void writeFields(Http2Headers fields, ByteBuf out) {
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            if (field.getKey().charAt(0) != ':') {
                ByteBufUtil.writeAscii(out, field.getKey());
                ByteBufUtil.writeAscii(out, ": ");
                ByteBufUtil.writeAscii(out, field.getValue());
                ByteBufUtil.writeAscii(out, "\r\n");
            }
        }
    }

    private ChannelFuture writeBody(HttpWrite part, @Nullable Http2Headers trailers, ByteBuf out) {
        ChannelHandlerContext context = handler.context();
        byte[] body = part.body();
        ByteBuf last = out;
        if (body != null && body.length > 0 && !bodiless) {
            if (chunked) {
                ByteBufUtil.writeAscii(out, Integer.toHexString(body.length) + "\r\n");
            }
            if (body.length <= COPIED_BYTES) {
                out.writeBytes(body);
            } else {
                context.write(out, context.newPromise());
                last = Unpooled.wrappedBuffer(body);
                if (chunked) {
                    context.write(last, context.newPromise());
                    last = context.alloc().buffer();
                }
            }
            if (chunked) {
                ByteBufUtil.writeAscii(last, "\r\n");
            }
        }
        if (chunked && part.isEnd() && !bodiless) {
            ByteBufUtil.writeAscii(last, "0\r\n");
            if (trailers != null) {
                writeFields(trailers, last);
            }
            ByteBufUtil.writeAscii(last, "\r\n");
        }
        return context.write(last, context.newPromise());
    }
}
