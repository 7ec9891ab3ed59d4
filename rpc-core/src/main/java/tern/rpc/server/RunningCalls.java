package tern.rpc.server;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import tern.rpc.RunningCall;

/**
 * The calls that run, for whoever wants to look at them. Joining and leaving is one compare-and-set in a table with room
 * to spare, begun at a place of the thread's own. A call that finds no room is not shown: there are at most that many
 * when asynchronous methods let more calls run than there are workers. Thread-safe.
 */
final class RunningCalls {

    /** What {@link #add} answers when there is no room. */
    static final int NOWHERE = -1;

    private static final int MAX_TRIES = 8;
    private static final int FEWEST = 1 << 8;
    private static final int MOST = 1 << 14;

    private final AtomicReferenceArray<ServedCall> places;
    private final int shift;

    /** @param threads that run calls */
    RunningCalls(int threads) {
        int wanted = Math.max(FEWEST, Math.min(MOST, threads * 4));
        int size = Integer.highestOneBit(wanted - 1) << 1;
        this.places = new AtomicReferenceArray<>(size);
        this.shift = Integer.numberOfLeadingZeros(size - 1);
    }

    /** @return where it is, for {@link #remove} */
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

    /** Does nothing when the call has left already. */
    void remove(int place, ServedCall call) {
        if (place != NOWHERE) {
            places.compareAndSet(place, call, null);
        }
    }

    List<RunningCall> look(long now) {
        List<RunningCall> running = new ArrayList<>();
        for (int i = 0; i < places.length(); i++) {
            ServedCall call = places.get(i);
            if (call != null) {
                running.add(call.look(now));
            }
        }
        return running;
    }
}
