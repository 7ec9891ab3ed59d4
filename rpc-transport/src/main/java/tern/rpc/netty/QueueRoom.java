package tern.rpc.netty;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The free space for stream messages in the write queue of a client's connection. The streams of a connection share its
 * write queue, so many streams can fill the queue although each of them has few unsent bytes. A stream waits while the
 * queue is full, and is notified when the queue has room again.
 *
 * <p>Waiting streams are notified in the order in which they began to wait. Only as many streams are notified at the
 * same time as the queue has room for. Otherwise, thousands of threads would wake up although there is space for only a
 * single message, and most of them would wait again. A notified stream might send nothing, or might send later on
 * another thread. The room is therefore checked again shortly afterwards, until no stream waits or the queue is full.
 * Thread-safe.
 */
public final class QueueRoom {

    /**
     * The number of bytes that a notified stream is expected to send. When a stream has this many unsent bytes, it is
     * no longer ready.
     */
    static final long BYTES_PER_TURN = 32 << 10;

    /** The time until the next check if streams still wait although the queue has room. */
    static final long BETWEEN_TURNS_MILLIS = 1;

    private final WriteQueue queue;
    private final long maxQueuedBytes;
    // the tasks of the waiting streams, in the order in which the streams began to wait; guarded by the lock of this
    // set
    private final Set<BooleanSupplier> waiting = new LinkedHashSet<>();
    // true while the set "waiting" is not empty; changed only while holding the lock on that set
    private volatile boolean anyWaits;
    private boolean lookingAgain; // true if another check is scheduled; confined to the event loop

    QueueRoom(WriteQueue queue, long maxQueuedBytes) {
        this.queue = queue;
        this.maxQueuedBytes = maxQueuedBytes;
    }

    /**
     * Returns whether the queue has room for a message. If not, the task runs when the queue has room again.
     *
     * @param whenRoom the task of a stream, the same object in every call for that stream; runs on the event loop and
     *     must not block. Returns false if the stream has ended; another stream is then notified instead
     */
    public boolean isThere(BooleanSupplier whenRoom) {
        if (hasRoom()) {
            return true;
        }
        synchronized (waiting) {
            waiting.add(whenRoom);
            anyWaits = true;
            if (!hasRoom()) {
                return false;
            }
            waiting.remove(whenRoom); // bytes might have left the queue just before the task was added
            anyWaits = !waiting.isEmpty();
        }
        return true;
    }

    private boolean hasRoom() {
        return queue.queuedBytes() <= maxQueuedBytes;
    }

    /**
     * Called when bytes have left the queue. Must run on the event loop.
     *
     * @param loop the event loop
     */
    void lowered(ScheduledExecutorService loop) {
        if (anyWaits && !lookingAgain && hasRoom()) {
            notifyNext(loop);
        }
    }

    private void notifyNext(ScheduledExecutorService loop) {
        long turns = 1 + (maxQueuedBytes - queue.queuedBytes()) / BYTES_PER_TURN;
        while (turns > 0 && hasRoom()) {
            BooleanSupplier next = next();
            if (next == null) {
                return;
            }
            if (next.getAsBoolean()) {
                turns--;
            }
        }
        if (anyWaits && hasRoom()) {
            lookAgainLater(loop);
        }
    }

    private void lookAgainLater(ScheduledExecutorService loop) {
        try {
            loop.schedule(
                    () -> {
                        lookingAgain = false;
                        lowered(loop);
                    },
                    BETWEEN_TURNS_MILLIS,
                    TimeUnit.MILLISECONDS);
            lookingAgain = true;
        } catch (RejectedExecutionException e) {
            // the event loops have terminated, so the connection is closed and its streams have ended
        }
    }

    /** Removes and returns the task that has waited the longest; null if none waits. */
    private @Nullable BooleanSupplier next() {
        synchronized (waiting) {
            Iterator<BooleanSupplier> tasks = waiting.iterator();
            if (!tasks.hasNext()) {
                return null;
            }
            BooleanSupplier first = tasks.next();
            tasks.remove();
            anyWaits = tasks.hasNext();
            return first;
        }
    }
}
