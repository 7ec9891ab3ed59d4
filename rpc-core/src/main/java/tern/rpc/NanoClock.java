package tern.rpc;

/**
 * A monotonic clock in nanoseconds. Only differences between its values are meaningful. Tests can use a clock that only
 * the test advances.
 */
@FunctionalInterface
public interface NanoClock {

    /** The clock {@link System#nanoTime()}. */
    NanoClock SYSTEM = System::nanoTime;

    long nanoTime();
}
