package shop;

import java.util.concurrent.Semaphore;

/** Code that holds a permit while it waits before it repeats a request. */
public final class Partner {

    private Partner() {}

    public static void pass(Semaphore permits) {
        try {
            permits.acquire();
            try {
                pause();
            } finally {
                permits.release();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sleeps as retries do. The test interrupts the thread. */
    private static void pause() throws InterruptedException {
        Thread.sleep(60_000);
    }
}
