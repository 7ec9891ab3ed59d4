package tern.rpc.load.peer;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A client that uses the floor protocol, a minimal protocol that shows the lowest possible cost of a call. A table maps
 * call ids to waiting callers. Thread-safe.
 */
final class FloorClient extends FloorConnection {

    /** The number of slots in the table, which far exceeds the number of callers. Must be a power of two. */
    private static final int SLOTS = 8_192;

    private final AtomicReferenceArray<@Nullable FloorWaiter> waiting = new AtomicReferenceArray<>(SLOTS);
    private final AtomicLong ids = new AtomicLong();

    /** Sends a payload and blocks until its answer arrives. */
    byte[] call(byte[] payload) {
        FloorWaiter waiter = enter();
        send(waiter.id(), payload);
        return waiter.await();
    }

    private FloorWaiter enter() {
        while (true) {
            FloorWaiter waiter = new FloorWaiter(ids.getAndIncrement());
            if (waiting.compareAndSet(slot(waiter.id()), null, waiter)) {
                return waiter;
            }
        }
    }

    private static int slot(long id) {
        return (int) id & SLOTS - 1;
    }

    @Override
    void received(long id, byte[] payload) {
        FloorWaiter waiter = waiting.getAndSet(slot(id), null);
        if (waiter == null || waiter.id() != id) {
            throw new IllegalStateException("the floor's answer " + id + " has nobody waiting for it");
        }
        waiter.answer(payload);
    }
}
