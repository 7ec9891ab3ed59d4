package tern.rpc.diagnosis.sample;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records what other threads were doing whenever the threads that serve calls were sampled. Each sample of a call is
 * matched with the state of the other threads at the same time. Only the last {@value #MAX_MOMENTS} sampling times are
 * kept. Not thread-safe: only one thread uses it.
 */
public final class SampledMoments {

    private static final int MAX_MOMENTS = 1_024;

    private final Map<Long, Moment> byTime = new HashMap<>();
    private final Deque<Long> times = new ArrayDeque<>(); // the times of the samples that are kept, oldest first

    /**
     * The state of the other threads when calls were sampled.
     *
     * @param isCommonPoolFull whether all threads of the common pool were busy while other tasks waited for them
     * @param work the work of threads that serve no call; null if these threads were not sampled
     */
    private record Moment(
            boolean isCommonPoolFull, @Nullable Work work) {}

    /**
     * A snapshot of what the threads that serve no call are doing.
     *
     * @param busy the common names of the groups of threads in which at least one thread worked
     * @param incomplete the common names of the groups of threads in which some threads were not sampled
     */
    public record Work(Set<String> busy, Set<String> incomplete) {

        /** Returns whether one of the threads with the given name was working when the snapshot was taken. */
        public boolean isBusy(String threads) {
            return busy.contains(threads);
        }

        /**
         * Returns whether the samples are sufficient to decide if threads with the given name were working: one of them
         * was found working, or all of them were sampled.
         */
        public boolean isKnown(String threads) {
            return isBusy(threads) || !incomplete.contains(threads);
        }
    }

    /** Records that calls were sampled at the given time. The work of the threads that serve no call is added later. */
    public void add(long time, boolean isCommonPoolFull) {
        if (byTime.put(time, new Moment(isCommonPoolFull, null)) == null) {
            times.addLast(time);
        }
        if (times.size() > MAX_MOMENTS) {
            byTime.remove(times.removeFirst());
        }
    }

    /** Adds the work of the threads that serve no call. */
    public void add(long time, Work work) {
        boolean isFull = isCommonPoolFull(time);
        add(time, isFull);
        byTime.put(time, new Moment(isFull, work));
    }

    /** Returns whether the common pool had no free thread at the given time; false if this is unknown. */
    public boolean isCommonPoolFull(long time) {
        Moment known = byTime.get(time);
        return known != null && known.isCommonPoolFull;
    }

    /** Returns the sample of the threads that serve no call at the given time; null if they were not sampled then. */
    @Nullable
    public Work workAt(long time) {
        Moment known = byTime.get(time);
        return known == null ? null : known.work;
    }

    void clear() {
        byTime.clear();
        times.clear();
    }
}
