package tern.rpc.registry.zookeeper;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits for a condition, and fails the test if the condition does not become true. */
final class Await {

    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** A condition that may throw an exception. An exception means that the condition is still false. */
    interface Condition {
        boolean holds() throws Exception;
    }

    private Await() {}

    static void until(String what, Condition condition) {
        long end = System.nanoTime() + LONGEST_NANOS;
        Exception last = null;
        while (System.nanoTime() - end < 0) {
            try {
                if (condition.holds()) {
                    return;
                }
                last = null;
            } catch (Exception e) {
                last = e;
            }
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
        }
        throw new AssertionError("did not happen: " + what, last);
    }
}
