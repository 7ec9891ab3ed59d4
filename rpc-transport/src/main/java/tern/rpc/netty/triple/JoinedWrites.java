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
 * Joins the small buffers of HTTP/2 frames, so that a flush passes one buffer to the socket instead of many. For
 * example, a unary answer has three frames in five buffers. Large buffers are passed on unchanged. Code that encodes
 * complete frames can write them directly into the joined buffer. Confined to the event loop.
 */
final class JoinedWrites extends ChannelDuplexHandler {

    /**
     * The maximum size of a buffer that is copied. Copying a larger buffer costs more than passing it on separately.
     */
    private static final int SMALL_BYTES = 4 << 10;

    private static final int JOINED_BYTES = 32 << 10;

    /** The maximum number of bytes that {@link #room} can provide. */
    static final int MAX_ROOM_BYTES = JOINED_BYTES / 2;

    private static final int FEW = 4;

    /** The memory that a joined buffer occupies in addition to its capacity: its objects in the channel. */
    private static final int OBJECT_BYTES = 256;

    private final IntConsumer taken;
    private final IntConsumer spareChanged;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ByteBuf joined;
    // the expected size of the next flush, in bytes; equal to the size of the previous flush
    private int expectedBytes = SMALL_BYTES;
    private int countedBytes; // the sum of the numbers that were passed to counted() for the bytes in the joined buffer

    // the promises that complete when the joined buffer has been written
    private @Nullable List<ChannelPromise> promises;

    private int spareBytes; // the memory of the buffers that wait for the socket, in addition to their bytes
    private int reportedSpareBytes; // the value of spareBytes at the last report to spareChanged

    JoinedWrites() {
        this(bytes -> {});
    }

    /**
     * @param taken receives the number of bytes reported to {@link #counted} once the socket has accepted or dropped
     *     them
     */
    JoinedWrites(IntConsumer taken) {
        this(taken, bytes -> {});
    }

    /**
     * @param taken receives the number of bytes reported to {@link #counted} once the socket has accepted or dropped
     *     them
     * @param spareChanged receives changes in the unused capacity of the buffers that wait for the socket, and in the
     *     memory of their objects. This memory matters if the buffers contain only small answers
     */
    JoinedWrites(IntConsumer taken, IntConsumer spareChanged) {
        this.taken = taken;
        this.spareChanged = spareChanged;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    /**
     * Returns the buffer for the next bytes. The caller must write its bytes before any other bytes are written.
     *
     * @param bytes the maximum number of bytes to write; at most {@link #MAX_ROOM_BYTES}
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

    /**
     * Adds to the number that {@code taken} receives when the socket has accepted or dropped the joined buffer.
     *
     * @param bytes the number to add, which can differ from the number of bytes written to {@link #room}
     */
    void counted(int bytes) {
        countedBytes += bytes;
    }

    /**
     * Adds a promise. The promise completes when the socket has accepted or dropped all bytes that have been written to
     * {@link #room}.
     */
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
        if (spareBytes > reportedSpareBytes) {
            reportSpare();
        }
    }

    private void reportSpare() {
        int change = spareBytes - reportedSpareBytes;
        // The change is reported as the last step of this method, because the receiver of the report can close the
        // connection.
        reportedSpareBytes = spareBytes;
        spareChanged.accept(change);
    }

    private void spare(int change) {
        spareBytes += change;
        if (spareBytes < reportedSpareBytes) {
            reportSpare();
        }
    }

    private void writeJoined(ChannelHandlerContext own) {
        ByteBuf full = joined;
        if (full == null) {
            return;
        }
        joined = null;
        int counted = countedBytes;
        countedBytes = 0;
        int spare = full.capacity() - full.readableBytes() + OBJECT_BYTES;
        spare(spare);
        ChannelFuture written = own.write(full);
        List<ChannelPromise> completed = promises == null ? List.of() : promises;
        // the new list gets the size of the old list as its capacity, because the next flush will probably have a
        // similar number of promises
        promises = completed.size() > FEW ? new ArrayList<>(completed.size()) : null;
        written.addListener((ChannelFutureListener) done -> {
            spare(-spare);
            complete(completed, done);
            taken.accept(counted);
        });
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
        writeJoined(own); // the channel is closed, so the write fails and the promises fail with it
        own.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext own) {
        writeJoined(own);
    }
}
