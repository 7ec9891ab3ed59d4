package tern.rpc.diagnosis.machine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.machine.HeapGrowth.Old;
import tern.rpc.diagnosis.machine.HeapGrowth.Use;

/**
 * The least memory that was used after a garbage collection in each of the last minutes. Shows whether the heap fills
 * up slowly. Not thread-safe.
 */
final class LeastUses {

    private static final int MAX_MINUTES = 20;
    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

    /**
     * Garbage collections are assumed to free as many objects as they can if they stop the process for at least
     * {@value} of the time.
     */
    private static final double MUCH_PAUSED = 0.1;

    private final Deque<Minute> minutes = new ArrayDeque<>();

    private static final class Minute {
        final long fromNanos;
        Use least;
        boolean frees; // whether a garbage collection has freed or marked unused old objects

        Minute(Use first) {
            fromNanos = first.atNanos();
            least = first;
        }
    }

    void add(Use use) {
        if (use.old() == Old.KEEPS && !use.major()) {
            return; // ignored, because a young collection does not free unused old objects
        }
        Minute last = minutes.peekLast();
        if (last == null || use.atNanos() - last.fromNanos >= MINUTE_NANOS) {
            last = new Minute(use);
            minutes.addLast(last);
            if (minutes.size() > MAX_MINUTES) {
                minutes.removeFirst();
            }
        }
        last.least = use.bytes() < last.least.bytes() ? use : last.least;
        last.frees |= use.major() || use.old() == Old.MARKS || use.old() == Old.FREES;
    }

    /**
     * Returns the growth over the last minutes; null if the heap is not filling up.
     *
     * @param paused the fraction of time that the process currently spends in pauses of the collector
     */
    @Nullable
    HeapGrowth growth(long now, double heapBytes, double paused) {
        List<Minute> known = minutes.stream()
                .filter(minute -> now - minute.fromNanos <= MAX_MINUTES * MINUTE_NANOS)
                .toList();
        Minute last = minutes.peekLast();
        if (last == null || now - last.fromNanos > 2 * MINUTE_NANOS) {
            return null;
        }
        List<Use> least = known.stream().map(minute -> minute.least).toList();
        // A garbage collection that freed old objects before most of the growth does not show whether the newer objects
        // are in use.
        int middle = (HeapGrowth.least(least) + least.size()) / 2;
        boolean areFreed = paused >= MUCH_PAUSED
                || known.subList(middle, known.size()).stream().anyMatch(minute -> minute.frees);
        return HeapGrowth.ofMinutes(least, heapBytes, areFreed);
    }
}
