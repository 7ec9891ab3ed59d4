package tern.rpc;

/** A monotonic clock in nanoseconds; only differences mean something. Tests pass one that they move by hand. */
@FunctionalInterface
public interface NanoClock {

    /** {@link System#nanoTime()}. */
    NanoClock SYSTEM = System::nanoTime;

    long nanoTime();
}
