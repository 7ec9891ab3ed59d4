package tern.rpc.server;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import tern.rpc.RunningCall;

/**
 * The running calls, for diagnosis. Adding or removing a call takes one compare-and-set operation in a table that has
 * more slots than there are threads. Each thread starts searching at its own slot. A call that finds no free slot does
 * not appear in a diagnosis. All slots can be in use if there are more running asynchronous calls than workers.
 * Thread-safe.
 */
final class RunningCalls {

    /** The result of {@link #add} if no free slot was found. */
    static final int NOWHERE = -1;

    private static final int MAX_TRIES = 8;
    private static final int MIN_SLOTS = 1 << 8;
    private static final int MAX_SLOTS = 1 << 14;

    private final AtomicReferenceArray<ServedCall> places;
    private final int shift;

    /** @param threads the number of threads that run calls */
    RunningCalls(int threads) {
        int wanted = Math.max(MIN_SLOTS, Math.min(MAX_SLOTS, threads * 4));
        int size = Integer.highestOneBit(wanted - 1) << 1;
        this.places = new AtomicReferenceArray<>(size);
        this.shift = Integer.numberOfLeadingZeros(size - 1);
    }

    /**
     * Adds a call to the table.
     *
     * @return the call's slot, which the caller passes to {@link #remove}
     */
    int add(ServedCall call) {
        int place = (int) (Thread.currentThread().getId() * 0x9E3779B9L) >>> shift;
        for (int i = 0; i < MAX_TRIES; i++) {
            if (places.get(place) == null && places.compareAndSet(place, null, call)) {
                return place;
            }
            place = (place + 1) & (places.length() - 1);
        }
        return NOWHERE;
    }

    /** Removes a call from the table. Does nothing if the call is no longer in this slot. */
    void remove(int place, ServedCall call) {
        if (place != NOWHERE) {
            places.compareAndSet(place, call, null);
        }
    }

    /**
     * Returns whether the table contains a call that has ended. Such a call has not been counted in the meters yet, or
     * its worker has not finished.
     */
    boolean hasEndedCall() {
        for (int i = 0; i < places.length(); i++) {
            ServedCall call = places.get(i);
            if (call != null && call.hasEnded()) {
                return true;
            }
        }
        return false;
    }

    /** Returns the running calls, except streams: the application chooses their duration, so they are never late. */
    List<RunningCall> look(long now) {
        List<RunningCall> running = new ArrayList<>();
        for (int i = 0; i < places.length(); i++) {
            ServedCall call = places.get(i);
            if (call != null && !call.isStream()) {
                running.add(call.look(now));
            }
        }
        return running;
    }
}
