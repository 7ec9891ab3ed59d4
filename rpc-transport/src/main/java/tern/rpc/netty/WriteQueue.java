package tern.rpc.netty;

import io.netty.channel.Channel;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The write queue of one connection. Many threads add commands, and the event loop writes all of them with one flush.
 * The queue is implemented as a stack, which the event loop takes as a whole and reverses. Only a thread that finds the
 * queue empty schedules a write, so a busy connection needs one task and one system call for many frames. Commands can
 * be queued before the channel is open. Thread-safe; only the event loop removes commands.
 */
public class WriteQueue implements Runnable {

    // Atomic field updaters are used instead of atomic objects to save memory, because there can be thousands of idle
    // connections.
    private static final AtomicReferenceFieldUpdater<WriteQueue, @Nullable WriteCommand> STACK =
            AtomicReferenceFieldUpdater.newUpdater(WriteQueue.class, WriteCommand.class, "stack");
    private static final AtomicLongFieldUpdater<WriteQueue> QUEUED_BYTES =
            AtomicLongFieldUpdater.newUpdater(WriteQueue.class, "queuedBytes");

    // the newest queued command; updated atomically by the field updater STACK
    private volatile @Nullable WriteCommand stack;
    // bytes in the queue and in the channel; updated atomically by the field updater QUEUED_BYTES
    private volatile long queuedBytes;
    private volatile @Nullable Channel channel;

    WriteQueue() {}

    /** Called when bytes have left the queue. Runs on the event loop. */
    void lowered() {
        // By default, nothing needs to be done when bytes have left the queue.
    }

    /** Called when the number of queued bytes has changed. Any thread may call this method. */
    void changed(long before, long after) {
        // By default, nothing needs to be done when the number of queued bytes has changed.
    }

    /** Adds a command. If the channel is closed, the event loop drops the command. */
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

    /**
     * Called when the channel is open. Writes the commands that have been queued so far. Must run on the event loop.
     */
    void start(Channel opened) {
        channel = opened;
        run();
    }

    /**
     * Returns the number of bytes that are in the queue, or in the channel but not yet accepted by the socket.
     */
    public long queuedBytes() {
        return queuedBytes;
    }

    /**
     * Called when bytes passed to the channel have been accepted by the socket or dropped. Must
     * run on the event loop.
     */
    public void left(long bytes) {
        long before = QUEUED_BYTES.getAndAdd(this, -bytes);
        changed(before, before - bytes);
        lowered();
    }

    /** Writes all queued commands. Must run on the event loop. */
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
        for (WriteCommand command = oldest; command != null; ) {
            WriteCommand newer = command.next;
            // a written command might be kept for a long time, so its link must not keep later commands in memory
            command.next = null;
            command.written();
            command = newer;
        }
    }
}
