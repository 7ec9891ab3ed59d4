package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Joins the frames that the event loop takes from the write queue in one step, so that the socket gets a few large
 * writes. Confined to the event loop.
 */
public final class WriteBatch {

    /**
     * The maximum size of a joined write. Larger writes are not faster. The allocator does not reuse larger buffers,
     * and the JVM clears newly allocated memory each time.
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

    /**
     * @param bytes the expected number of bytes to append
     */
    void begin(long bytes) {
        unwritten = bytes;
    }

    /** Appends a copy of the bytes. */
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

    /**
     * Called by a command that has written its bytes directly to the channel. The write queue stops counting these
     * bytes.
     */
    public void handedOver(int bytes) {
        unwritten -= bytes;
        queue.left(bytes);
    }

    /**
     * Called by a command that has written its bytes directly to the channel. The write queue counts these bytes until
     * the future completes.
     */
    public void handedOver(int bytes, Future<?> taken) {
        handedOn(bytes);
        taken.addListener(done -> queue.left(bytes));
    }

    /**
     * Called by a command that has written its bytes directly to the channel. The write queue counts these bytes until
     * the command calls {@link WriteQueue#left}.
     */
    public void handedOn(int bytes) {
        unwritten -= bytes;
    }

    /** Returns the channel, for protocols that write their frames themselves. */
    public Channel channel() {
        return channel;
    }

    void flush() {
        write();
        if (unwritten > 0) {
            // a command whose call has ended writes fewer bytes than it announced; the queue must stop counting the
            // unwritten bytes
            queue.left(unwritten);
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

    /** Releases the joined bytes after a failure, without sending them. */
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
