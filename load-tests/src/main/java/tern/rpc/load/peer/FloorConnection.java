package tern.rpc.load.peer;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection that uses the floor protocol, whose frames contain only length, id and payload. Threads add
 * frames to a queue, and the event loop writes all queued frames in one flush. {@link #send} is thread-safe; all other
 * methods are confined to the event loop.
 */
abstract class FloorConnection extends ByteToMessageDecoder implements Runnable {

    /**
     * The size of the length and id fields of a frame, which precede the payload. The value of the length field does
     * not include the field's own size.
     */
    static final int HEAD_BYTES = Integer.BYTES + Long.BYTES;

    /** The maximum total size of the frames that are copied into one buffer. */
    private static final int BATCH_BYTES = 64 * 1_024;

    private final Queue<Frame> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private volatile @Nullable ChannelHandlerContext context;

    private record Frame(long id, byte[] payload) {
        int bytes() {
            return HEAD_BYTES + payload.length;
        }
    }

    /** Called on the event loop when a frame is received. */
    abstract void received(long id, byte[] payload);

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    void send(long id, byte[] payload) {
        queue.add(new Frame(id, payload));
        if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
            Objects.requireNonNull(context).executor().execute(this);
        }
    }

    /** Writes all queued frames in one flush. */
    @Override
    public void run() {
        scheduled.set(false); // The field "scheduled" is reset before the queue is read, so that no frame is missed.
        Frame frame = queue.poll();
        if (frame == null) {
            return;
        }
        ChannelHandlerContext open = Objects.requireNonNull(context);
        ByteBuf batch = open.alloc().directBuffer(Math.max(BATCH_BYTES, frame.bytes()));
        do {
            if (batch.isReadable() && batch.readableBytes() + frame.bytes() > BATCH_BYTES) {
                open.write(batch, open.voidPromise());
                batch = open.alloc().directBuffer(Math.max(BATCH_BYTES, frame.bytes()));
            }
            batch.writeInt(Long.BYTES + frame.payload.length);
            batch.writeLong(frame.id);
            batch.writeBytes(frame.payload);
            frame = queue.poll();
        } while (frame != null);
        open.writeAndFlush(batch, open.voidPromise());
    }

    @Override
    protected void decode(ChannelHandlerContext ignored, ByteBuf in, List<Object> out) {
        if (in.readableBytes() < HEAD_BYTES) {
            return;
        }
        int length = in.getInt(in.readerIndex());
        if (in.readableBytes() < Integer.BYTES + length) {
            return;
        }
        in.skipBytes(Integer.BYTES);
        long id = in.readLong();
        byte[] payload = new byte[length - Long.BYTES];
        in.readBytes(payload);
        received(id, payload);
    }
}
