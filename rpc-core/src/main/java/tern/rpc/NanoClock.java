package tern.rpc;

/**
 * A monotonic clock in nanoseconds. Only differences between its values are meaningful. Tests use a clock that they
 * advance themselves.
 */
@FunctionalInterface
public interface NanoClock {

    /** The clock {@link System#nanoTime()}. */
    NanoClock SYSTEM = System::nanoTime;

    long nanoTime();
}
