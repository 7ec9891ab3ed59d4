package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Joins the frames of one drain into few large writes. Event loop only. */
public final class WriteBatch {

    /**
     * Frames are joined up to this size. Handing over more at once gains nothing, and larger buffers make the allocator
     * give memory back and ask for it again, which the JVM clears each time.
     */
    private static final int JOINED_BYTES = 64 << 10;

    private final Channel channel;
    private final WriteQueue queue;
    private @Nullable ByteBuf joined;
    private long unwritten;

    WriteBatch(Channel channel, WriteQueue queue) {
        this.channel = channel;
        this.queue = queue;
    }

    /** @param bytes that are going to be appended, as far as known */
    void begin(long bytes) {
        unwritten = bytes;
    }

    /** Copies the bytes behind those appended before. */
    public void append(byte[] bytes, int length) {
        ByteBuf target = joined;
        if (target == null || target.writableBytes() < length) {
            write();
            target = channel.alloc().directBuffer((int) Math.max(length, Math.min(unwritten, JOINED_BYTES)));
            joined = target;
        }
        target.writeBytes(bytes, 0, length);
        unwritten -= length;
    }

    /** A command wrote its bytes to the channel in a way of its own, which counts them from here on. */
    public void handedOver(int bytes) {
        unwritten -= bytes;
        queue.left(bytes);
    }

    /** The same, where the bytes count until the channel has taken them. */
    public void handedOver(int bytes, Future<?> taken) {
        handedOn(bytes);
        taken.addListener(done -> queue.left(bytes));
    }

    /** The same, where the command sees to it that {@link WriteQueue#left} is told. */
    public void handedOn(int bytes) {
        unwritten -= bytes;
    }

    /** For protocols whose frames are written in a way of their own. */
    public Channel channel() {
        return channel;
    }

    void flush() {
        write();
        if (unwritten > 0) {
            queue.left(unwritten); // of calls that were over before their turn came
        }
        channel.flush();
    }

    private void write() {
        ByteBuf full = joined;
        if (full != null) {
            joined = null;
            int bytes = full.readableBytes();
            channel.write(full).addListener((ChannelFutureListener) done -> queue.left(bytes));
        }
    }

    /** After a failure: what was joined is not sent. */
    void release() {
        ByteBuf full = joined;
        if (full != null) {
            joined = null;
            queue.left(full.readableBytes());
            full.release();
        }
        queue.left(unwritten);
        unwritten = 0;
    }
}
