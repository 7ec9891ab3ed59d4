package tern.rpc.diagnosis;

/** The times in which the whole process stood still. Thread-safe. */
@FunctionalInterface
interface PauseTimes {

    /** The value if no pauses are known. */
    PauseTimes NONE = (from, to) -> new Times();

    /**
     * The pauses within this time, by {@link Part.Kind#COLLECTOR}, {@link Part.Kind#JVM_PAUSE} and {@link
     * Part.Kind#OUTSIDE}.
     *
     * @param fromNanos the beginning, on the clock of {@link System#nanoTime()}
     * @param toNanos the end, on the same clock
     */
    Times between(long fromNanos, long toNanos);
}
