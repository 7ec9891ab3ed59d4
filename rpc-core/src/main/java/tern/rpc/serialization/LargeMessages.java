package tern.rpc.serialization;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Lets two threads for each processor write large messages at a time. While a message is written its bytes are there up to
 * three times: 200 workers that write answers of 8 MiB would need almost 5 GB, and are not quicker than four. A thread waits
 * for a second at the most and then writes all the same, so that nothing hangs. Thread-safe.
 */
final class LargeMessages {

    /** Arrays up to this size need no turn. */
    static final int LARGE_BYTES = 1 << 20;

    private static final int THREADS_PER_PROCESSOR = 2;
    private static final long PATIENCE_MILLIS = 1_000;

    private static final Semaphore TURNS =
            new Semaphore(THREADS_PER_PROCESSOR * Runtime.getRuntime().availableProcessors());

    private LargeMessages() {}

    /** Turns that are free; for tests. */
    static int free() {
        return TURNS.availablePermits();
    }

    /** @return whether {@link #leave} has to be called */
    static boolean enter() {
        try {
            return TURNS.tryAcquire(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    static void leave() {
        TURNS.release();
    }
}
