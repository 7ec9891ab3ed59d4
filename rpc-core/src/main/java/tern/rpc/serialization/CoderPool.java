package tern.rpc.serialization;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Keeps a few {@link Coder}s for reuse by any thread. Thread-safe and bounded: when all are taken a new one is made,
 * and those that find no place on return are dropped. Striped by thread instead of thread-local, so that ten thousand
 * virtual threads do not own ten thousand buffers.
 */
public final class CoderPool {

    private static final int PROBES = 4;

    private final Serializer serializer;
    private final AtomicReferenceArray<Coder> slots;
    private final int mask;

    public CoderPool(Serializer serializer) {
        this.serializer = serializer;
        int processors = Runtime.getRuntime().availableProcessors();
        int size = Integer.highestOneBit(Math.max(8, processors * 4) * 2 - 1);
        this.slots = new AtomicReferenceArray<>(size);
        this.mask = size - 1;
    }

    public Serializer serializer() {
        return serializer;
    }

    public Coder take() {
        int first = stripe();
        for (int i = 0; i < PROBES; i++) {
            int slot = (first + i) & mask;
            if (slots.getPlain(slot) != null) {
                Coder coder = slots.getAndSet(slot, null);
                if (coder != null) {
                    return coder;
                }
            }
        }
        return new Coder(serializer);
    }

    /** Only after success: a coder that threw in the middle of a message is dropped instead. */
    public void giveBack(Coder coder) {
        coder.forget();
        int first = stripe();
        for (int i = 0; i < PROBES; i++) {
            int slot = (first + i) & mask;
            if (slots.getPlain(slot) == null && slots.compareAndSet(slot, null, coder)) {
                return;
            }
        }
    }

    private static int stripe() {
        long id = Thread.currentThread().getId();
        return (int) (id ^ id >>> 4);
    }
}
