package tern.rpc.netty.peer;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a condition and fails the test if it does not become true. */
public final class Await {

    private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long LOOK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private Await() {}

    /** @param what the description of the condition in the failure message */
    public static void until(String what, BooleanSupplier happened) {
        long end = System.nanoTime() + MAX_NANOS;
        while (!happened.getAsBoolean()) {
            if (System.nanoTime() - end >= 0) {
                throw new AssertionError("did not happen: " + what);
            }
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
        }
    }
}
