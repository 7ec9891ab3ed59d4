package tern.rpc.diagnosis.account;

import java.util.Map;

/** The periods in which the whole process was paused. Thread-safe. */
@FunctionalInterface
public interface PauseTimes {

    /** An instance without pauses, for use if no pauses are known. */
    PauseTimes NONE = (from, to) -> new Times();

    /**
     * Returns the pauses within the given period, divided into {@link Part.Kind#COLLECTOR}, {@link Part.Kind#JVM_PAUSE}
     * and {@link Part.Kind#OUTSIDE}.
     *
     * @param fromNanos the beginning of the period, on the clock of {@link System#nanoTime()}
     * @param toNanos the end of the period, on the same clock
     */
    Times between(long fromNanos, long toNanos);

    /**
     * Returns how long the collector ran within the given period, in cycles that began because threads waited for
     * memory. The result is an upper bound on the time that a thread waited.
     */
    default double stalledNanos(long fromNanos, long toNanos) {
        return 0;
    }

    /**
     * Returns how long each operation of the JVM has recently stopped all threads, in nanoseconds by operation name.
     * Collections are not included.
     */
    default Map<String, Double> operations() {
        return Map.of();
    }

    /** Returns the code that allocates the objects that stay in the heap, as text; empty if it is unknown. */
    default String keptObjects() {
        return "";
    }

    /** Returns the code that allocates most of the memory, as text; empty if it is unknown. */
    default String allocatedObjects() {
        return "";
    }

    /** Returns whether the start of a flight recording has recently requested the given operation of the JVM. */
    default boolean isOfRecording(String operation) {
        return false;
    }
}
