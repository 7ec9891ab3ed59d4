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
 * The pending calls on one connection, by request id. The low bits of an id are the index of its slot in a fixed-size
 * table. An id is skipped if another call still occupies its slot. The table avoids hashing, boxing and a node per
 * call. This class also limits the number of calls in flight, stores the number of calls that the server serves at the
 * same time, and counts calls that end without an answer. Thread-safe.
 */
public final class PendingCalls {

    private final AtomicReferenceArray<@Nullable PendingCall> slots;
    private final int mask;
    private final int limit;
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong nextId;
    private final AtomicLong unanswered = new AtomicLong();
    private final AtomicLong lateAnswers = new AtomicLong();
    private volatile int served = Integer.MAX_VALUE; // the number of calls that the server serves at the same time
    private volatile int oneWay; // the number of one-way calls that the server runs, which are not in the table

    /** @param limit the maximum number of calls in flight */
    PendingCalls(int limit) {
        this(limit, ThreadLocalRandom.current().nextLong());
    }

    PendingCalls(int limit, long firstId) {
        this.nextId = new AtomicLong(firstId);
        // The table has at least twice as many slots as there can be calls, so add() finds a free slot after at most
        // two attempts on average.
        int size = Integer.highestOneBit(Math.max(8, limit * 2 - 1)) * 2;
        this.slots = new AtomicReferenceArray<>(size);
        this.mask = size - 1;
        this.limit = limit;
    }

    /**
     * Adds a call and sets its id.
     *
     * @return false if the maximum number of calls in flight is reached
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

    /** Sets the number of calls that the server serves at the same time on this connection. Additional calls wait. */
    public void served(int calls) {
        served = calls;
    }

    /**
     * Returns the number of additional calls that the server would serve immediately. The number is negative if calls
     * wait for the server. For a server without a limit, the number is only an upper bound.
     */
    public int free() {
        int most = served;
        return most == Integer.MAX_VALUE ? most : most - running();
    }

    /** Sets the number of one-way calls that have been sent and that the server has not answered. */
    void oneWay(int calls) {
        oneWay = calls;
    }

    /** Returns the number of calls that the server might still run, including one-way calls. */
    int running() {
        return count.get() + oneWay;
    }

    /** Returns an unused id for a frame that does not belong to a call. */
    public long newId() {
        return nextId.getAndIncrement();
    }

    /** Removes and returns the call with this id; returns null if no call has the id. */
    @Nullable
    PendingCall remove(long id) {
        int slot = (int) id & mask;
        PendingCall call = slots.get(slot);
        return call != null && call.id() == id && remove(slot, call) ? call : null;
    }

    /**
     * Counts a call that has ended without an answer, and removes it from the table. The server might still answer it.
     */
    void abandon(long id) {
        // the counter is incremented before the call is removed, so that a late answer always finds either the call or
        // the incremented counter
        unanswered.incrementAndGet();
        remove(id);
    }

    /** Removes and returns the answered call. If no call has the id, counts a late answer and returns null. */
    @Nullable
    PendingCall removeAnswered(long id) {
        PendingCall call = remove(id);
        if (call == null) {
            lateAnswers.incrementAndGet();
        }
        return call;
    }

    /** Returns the number of {@linkplain #abandon abandoned} calls. */
    public long unanswered() {
        return unanswered.get();
    }

    /** Returns the number of answers whose call was not found. */
    long lateAnswers() {
        return lateAnswers.get();
    }

    private boolean remove(int slot, PendingCall call) {
        if (slots.compareAndSet(slot, call, null)) {
            count.decrementAndGet();
            return true;
        }
        return false;
    }

    public boolean contains(long id) {
        PendingCall call = slots.get((int) id & mask);
        return call != null && call.id() == id;
    }

    int size() {
        return count.get();
    }

    /** Removes every call that is complete or past its deadline, and passes the expired calls to the consumer. */
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

    /** Passes every call to the action. */
    void forEach(Consumer<PendingCall> action) {
        for (int slot = 0; slot <= mask; slot++) {
            PendingCall call = slots.get(slot);
            if (call != null) {
                action.accept(call);
            }
        }
    }

    /** Removes every call and passes it to the consumer. */
    void clear(Consumer<PendingCall> lost) {
        clear(call -> true, lost);
    }

    /** Removes the calls that meet the condition, and passes them to the consumer. */
    void clear(Predicate<PendingCall> which, Consumer<PendingCall> lost) {
        for (int slot = 0; slot <= mask; slot++) {
            PendingCall call = slots.get(slot);
            if (call != null && which.test(call) && remove(slot, call)) {
                lost.accept(call);
            }
        }
    }
}
