package tern.rpc.serialization;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a limited number of expensive objects for reuse by any thread. If no slot is free, a returned object is
 * dropped. The pool has a few slots for each group of threads. Thread-local objects would not be limited: ten thousand
 * virtual threads would own ten thousand buffers. Thread-safe.
 */
public final class StripedPool<T> {

    private static final int PROBES = 4;
    private static final int MIN_SLOTS = 8;
    private static final int SLOTS_PER_PROCESSOR = 4;

    private final AtomicReferenceArray<@Nullable T> slots;
    private final int mask;

    public StripedPool() {
        int wanted = Math.max(MIN_SLOTS, Runtime.getRuntime().availableProcessors() * SLOTS_PER_PROCESSOR);
        int size = Integer.highestOneBit(wanted * 2 - 1);
        this.slots = new AtomicReferenceArray<>(size);
        this.mask = size - 1;
    }

    /** Takes an object out of the pool. Returns null if the four slots that the calling thread searches are empty. */
    public @Nullable T take() {
        int first = stripe();
        for (int i = 0; i < PROBES; i++) {
            int slot = (first + i) & mask;
            if (slots.getPlain(slot) != null) {
                T taken = slots.getAndSet(slot, null);
                if (taken != null) {
                    return taken;
                }
            }
        }
        return null;
    }

    public void giveBack(T used) {
        int first = stripe();
        for (int i = 0; i < PROBES; i++) {
            int slot = (first + i) & mask;
            if (slots.getPlain(slot) == null && slots.compareAndSet(slot, null, used)) {
                return;
            }
        }
    }

    private static int stripe() {
        long id = Thread.currentThread().getId();
        return (int) (id ^ id >>> 4);
    }
}
