package tern.rpc.netty;

import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The room for messages of streams in the write queue of a client's connection. The streams of a connection share its
 * write queue, so many streams can fill it although each of them has few unsent bytes. A stream waits while the queue is
 * full, and is notified when the queue has room again. Thread-safe.
 */
public final class QueueRoom {

    private final WriteQueue queue;
    private final long maxQueuedBytes;
    private final Set<Runnable> waiting = ConcurrentHashMap.newKeySet();

    QueueRoom(WriteQueue queue, long maxQueuedBytes) {
        this.queue = queue;
        this.maxQueuedBytes = maxQueuedBytes;
    }

    /**
     * Returns whether the queue has room for a message. If not, the task runs when the queue has room again.
     *
     * @param whenRoom the task of one stream, always the same object; runs on the event loop and must not block
     */
    public boolean isThere(Runnable whenRoom) {
        if (hasRoom()) {
            return true;
        }
        waiting.add(whenRoom);
        if (!hasRoom()) {
            return false;
        }
        waiting.remove(whenRoom); // bytes left the queue before the task was added
        return true;
    }

    private boolean hasRoom() {
        return queue.queuedBytes() <= maxQueuedBytes;
    }

    /** Called when bytes have left the queue. Must run on the event loop. */
    void lowered() {
        if (waiting.isEmpty() || !hasRoom()) {
            return;
        }
        for (Iterator<Runnable> tasks = waiting.iterator(); tasks.hasNext(); ) {
            Runnable task = tasks.next();
            tasks.remove();
            task.run();
        }
    }
}
