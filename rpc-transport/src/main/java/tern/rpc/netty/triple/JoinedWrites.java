package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Joins the small buffers that frames of HTTP/2 are written in, so that one flush hands the socket one buffer instead of
 * a dozen: an answer is three frames in five buffers. Larger ones pass as they are. Whole frames may be written right
 * into the joined buffer, behind those that came before. Event loop only.
 */
final class JoinedWrites extends ChannelDuplexHandler {

    /** Copying more costs more than handing it over apart. */
    private static final int SMALL_BYTES = 4 << 10;

    private static final int JOINED_BYTES = 32 << 10;

    /** Most bytes that {@link #room} is asked for. */
    static final int MAX_ROOM_BYTES = JOINED_BYTES / 2;

    private static final int FEW = 4;

    private final IntConsumer taken;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ByteBuf joined;
    private int expectedBytes = SMALL_BYTES; // in the next flush, which is likely to be as large as the last
    private int countedBytes; // of the joined buffer, of which taken is to be told
    private @Nullable List<ChannelPromise> promises; // of what the joined buffer holds

    JoinedWrites() {
        this(bytes -> {});
    }

    /** @param taken told how many of the {@link #counted} bytes the socket took, or will never take */
    JoinedWrites(IntConsumer taken) {
        this.taken = taken;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    /**
     * Where the next bytes are to be written, before anything else is.
     *
     * @param bytes at most so many, and no more than {@link #MAX_ROOM_BYTES}
     */
    ByteBuf room(int bytes) {
        ChannelHandlerContext own = Objects.requireNonNull(context);
        ByteBuf target = joined;
        if (target != null && target.maxWritableBytes() < bytes) {
            expectedBytes = JOINED_BYTES;
            writeJoined(own);
            target = null;
        }
        if (target == null) {
            target = own.alloc().directBuffer(Math.max(expectedBytes, bytes), JOINED_BYTES);
            joined = target;
        }
        return target.ensureWritable(bytes);
    }

    /** So many bytes, of those written to {@link #room}, count until the socket has taken them. */
    void counted(int bytes) {
        countedBytes += bytes;
    }

    /** Completed when the socket has taken what was written to {@link #room} so far, or will never take it. */
    void promised(ChannelPromise promise) {
        List<ChannelPromise> waiting = promises;
        if (waiting == null) {
            waiting = new ArrayList<>(FEW);
            promises = waiting;
        }
        waiting.add(promise);
    }

    @Override
    public void write(ChannelHandlerContext own, Object message, ChannelPromise promise) {
        if (!(message instanceof ByteBuf bytes) || bytes.readableBytes() > SMALL_BYTES) {
            writeJoined(own);
            own.write(message, promise);
            return;
        }
        room(bytes.readableBytes()).writeBytes(bytes);
        bytes.release();
        if (!promise.isVoid()) {
            promised(promise);
        }
    }

    @Override
    public void flush(ChannelHandlerContext own) {
        ByteBuf last = joined;
        if (last != null) {
            expectedBytes = Math.min(JOINED_BYTES, Math.max(1 << 10, last.readableBytes() * 5 / 4));
        }
        writeJoined(own);
        own.flush();
    }

    private void writeJoined(ChannelHandlerContext own) {
        ByteBuf full = joined;
        if (full == null) {
            return;
        }
        joined = null;
        int counted = countedBytes;
        countedBytes = 0;
        ChannelFuture written = own.write(full);
        List<ChannelPromise> told = promises == null ? List.of() : promises;
        if (counted > 0 || !told.isEmpty()) {
            promises = told.size() > FEW ? new ArrayList<>(told.size()) : null; // the next flush is likely to be alike
            written.addListener((ChannelFutureListener) done -> {
                complete(told, done);
                taken.accept(counted);
            });
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
    public void close(ChannelHandlerContext own, ChannelPromise promise) {
        flush(own);
        own.close(promise);
    }

    @Override
    public void channelInactive(ChannelHandlerContext own) {
        writeJoined(own); // fails, and tells so to those that wait
        own.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext own) {
        writeJoined(own);
    }
}
