package tern.rpc.netty;

import io.netty.channel.Channel;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * What many threads want to send on one connection: they queue, and the event loop drains all that is there with one
 * flush. The queue is a stack that the event loop takes as a whole and turns round; who finds it empty schedules the
 * drain, so a busy connection costs one task and one system call for many frames. Commands may be queued before the
 * channel is open. Thread-safe; drained by the event loop only.
 */
public class WriteQueue implements Runnable {

    // No atomic objects, since there may be thousands of idle connections.
    private static final AtomicReferenceFieldUpdater<WriteQueue, @Nullable WriteCommand> STACK =
            AtomicReferenceFieldUpdater.newUpdater(WriteQueue.class, WriteCommand.class, "stack");
    private static final AtomicLongFieldUpdater<WriteQueue> QUEUED_BYTES =
            AtomicLongFieldUpdater.newUpdater(WriteQueue.class, "queuedBytes");

    private volatile @Nullable WriteCommand stack; // changed by STACK
    private volatile long queuedBytes; // changed by QUEUED_BYTES
    private volatile @Nullable Channel channel;

    WriteQueue() {}

    /** Bytes have left. Event loop. */
    void lowered() {
        // nothing, unless a subclass cares
    }

    /** Bytes were queued or have left. Any thread. */
    void changed(long before, long after) {
        // nothing, unless a subclass cares
    }

    /** Adds a command; it is dropped if the channel is closed. */
    public void add(WriteCommand command) {
        int bytes = command.bytes();
        long before = QUEUED_BYTES.getAndAdd(this, bytes);
        changed(before, before + bytes);
        WriteCommand top;
        do {
            top = stack;
            command.next = top;
        } while (!STACK.compareAndSet(this, top, command));
        Channel open = channel;
        if (top == null && open != null) {
            open.eventLoop().execute(this);
        }
    }

    /** The channel is open: what was queued before goes first. Event loop only. */
    void start(Channel opened) {
        channel = opened;
        run();
    }

    /** Bytes queued, or handed to the channel and not taken by the socket yet. */
    public long queuedBytes() {
        return queuedBytes;
    }

    /** Bytes that were handed over have been taken by the socket, or were dropped. Event loop only. */
    public void left(long bytes) {
        long before = QUEUED_BYTES.getAndAdd(this, -bytes);
        changed(before, before - bytes);
        lowered();
    }

    /** Writes all that is queued. Event loop only. */
    @Override
    public void run() {
        Channel open = channel;
        if (open == null) {
            return;
        }
        WriteCommand newest = STACK.getAndSet(this, null);
        if (newest == null) {
            return;
        }
        long bytes = 0;
        WriteCommand oldest = null;
        for (WriteCommand command = newest; command != null; ) {
            bytes += command.bytes();
            WriteCommand older = command.next;
            command.next = oldest;
            oldest = command;
            command = older;
        }
        if (open.isActive()) {
            write(open, oldest, bytes);
        } else {
            for (WriteCommand command = oldest; command != null; command = command.next) {
                command.dropped(open);
            }
            left(bytes);
        }
    }

    private void write(Channel open, @Nullable WriteCommand oldest, long bytes) {
        WriteBatch batch = new WriteBatch(open, this);
        batch.begin(bytes);
        try {
            for (WriteCommand command = oldest; command != null; command = command.next) {
                command.write(batch);
            }
            batch.flush();
        } catch (Throwable e) {
            batch.release();
            open.pipeline().fireExceptionCaught(e);
            open.close();
            return;
        }
        for (WriteCommand command = oldest; command != null; command = command.next) {
            command.written();
        }
    }
}
