package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Joins the small buffers that frames of HTTP/2 are written in, so that one flush hands the socket one buffer instead of
 * a dozen: an answer is three frames in five buffers. Larger ones pass as they are. Event loop only.
 */
final class JoinedWrites extends ChannelDuplexHandler {

    /** Copying more costs more than handing it over apart. */
    private static final int SMALL_BYTES = 4 << 10;

    private static final int JOINED_BYTES = 32 << 10;

    private @Nullable ByteBuf joined;
    private List<ChannelPromise> promises = new ArrayList<>();

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (!(message instanceof ByteBuf bytes) || bytes.readableBytes() > SMALL_BYTES) {
            writeJoined(context);
            context.write(message, promise);
            return;
        }
        ByteBuf target = joined;
        if (target != null && target.writableBytes() < bytes.readableBytes()) {
            writeJoined(context);
            target = null;
        }
        if (target == null) {
            target = context.alloc().directBuffer(SMALL_BYTES, JOINED_BYTES);
            joined = target;
        }
        if (target.writableBytes() < bytes.readableBytes()) {
            target.ensureWritable(bytes.readableBytes());
        }
        target.writeBytes(bytes);
        bytes.release();
        if (!promise.isVoid()) {
            promises.add(promise);
        }
    }

    @Override
    public void flush(ChannelHandlerContext context) {
        writeJoined(context);
        context.flush();
    }

    private void writeJoined(ChannelHandlerContext context) {
        ByteBuf full = joined;
        if (full == null) {
            return;
        }
        joined = null;
        ChannelFuture written = context.write(full);
        if (!promises.isEmpty()) {
            List<ChannelPromise> waiting = promises;
            promises = new ArrayList<>(waiting.size());
            written.addListener((ChannelFutureListener) done -> complete(waiting, done));
        }
    }

    private static void complete(List<ChannelPromise> waiting, ChannelFuture done) {
        for (ChannelPromise promise : waiting) {
            if (done.isSuccess()) {
                promise.trySuccess();
            } else {
                promise.tryFailure(done.cause());
            }
        }
    }

    @Override
    public void close(ChannelHandlerContext context, ChannelPromise promise) {
        flush(context);
        context.close(promise);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        writeJoined(context); // fails, and tells so to those that wait
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        writeJoined(context);
    }
}
