package tern.rpc.netty;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.PendingCall;

/**
 * The calls of one connection that wait for an answer, by request id. An id's low bits are its slot in a fixed table; an
 * id whose slot is still held by an older call is passed over. So there is no hashing, no boxing, no node per call, and
 * the number of calls in flight is bounded by construction. Thread-safe.
 */
final class PendingCalls {

    private final AtomicReferenceArray<@Nullable PendingCall> slots;
    private final int mask;
    private final int limit;
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong nextId;

    /** @param limit most calls in flight */
    PendingCalls(int limit) {
        this(limit, ThreadLocalRandom.current().nextLong());
    }

    PendingCalls(int limit, long firstId) {
        this.nextId = new AtomicLong(firstId);
        // Twice as many slots as calls, so that a free one is found after two looks on average.
        int size = Integer.highestOneBit(Math.max(8, limit * 2 - 1)) * 2;
        this.slots = new AtomicReferenceArray<>(size);
        this.mask = size - 1;
        this.limit = limit;
    }

    /**
     * Enters a call and gives it its id.
     *
     * @return false if as many calls as allowed are in flight
     */
    boolean add(PendingCall call) {
        if (count.incrementAndGet() > limit) {
            count.decrementAndGet();
            return false;
        }
        while (true) {
            long id = nextId.getAndIncrement();
            call.id(id);
            if (slots.compareAndSet((int) id & mask, null, call)) {
                return true;
            }
        }
    }

    /** An id for something that is not a call. */
    long newId() {
        return nextId.getAndIncrement();
    }

    /** Takes out the call with this id; null if there is none any more. */
    @Nullable
    PendingCall remove(long id) {
        int slot = (int) id & mask;
        PendingCall call = slots.get(slot);
        return call != null && call.id() == id && remove(slot, call) ? call : null;
    }

    private boolean remove(int slot, PendingCall call) {
        if (slots.compareAndSet(slot, call, null)) {
            count.decrementAndGet();
            return true;
        }
        return false;
    }

    boolean contains(long id) {
        PendingCall call = slots.get((int) id & mask);
        return call != null && call.id() == id;
    }

    int size() {
        return count.get();
    }

    int limit() {
        return limit;
    }

    /** Takes out every call that is over or late and hands over the late ones. */
    void sweep(long now, Consumer<PendingCall> late) {
        for (int slot = 0; slot <= mask; slot++) {
            PendingCall call = slots.get(slot);
            if (call == null) {
                continue;
            }
            if (call.isDone()) {
                remove(slot, call);
            } else if (call.call().deadline().isExpired(now) && remove(slot, call)) {
                late.accept(call);
            }
        }
    }

    /** Takes out and hands over every call. */
    void clear(Consumer<PendingCall> lost) {
        clear(call -> true, lost);
    }

    /** Takes out and hands over those calls. */
    void clear(Predicate<PendingCall> which, Consumer<PendingCall> lost) {
        for (int slot = 0; slot <= mask; slot++) {
            PendingCall call = slots.get(slot);
            if (call != null && which.test(call) && remove(slot, call)) {
                lost.accept(call);
            }
        }
    }
}
