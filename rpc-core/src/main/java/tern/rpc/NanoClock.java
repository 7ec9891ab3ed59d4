package tern.rpc;

/** A monotonic clock in nanoseconds. Only differences are meaningful. Tests use a clock that they set themselves. */
@FunctionalInterface
public interface NanoClock {

    /** {@link System#nanoTime()}. */
    NanoClock SYSTEM = System::nanoTime;

    long nanoTime();
}
