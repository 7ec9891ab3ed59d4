package tern.rpc.diagnosis;

/** The times in which the whole process stood still. Thread-safe. */
@FunctionalInterface
interface PauseTimes {

    /** No pauses are known. */
    PauseTimes NONE = (from, to) -> new Times();

    /**
     * The pauses within this time, by {@link Part.Kind#COLLECTOR}, {@link Part.Kind#JVM_PAUSE} and {@link
     * Part.Kind#OUTSIDE}.
     *
     * @param fromNanos on the clock of {@link System#nanoTime()}, like the end
     */
    Times between(long fromNanos, long toNanos);
}
