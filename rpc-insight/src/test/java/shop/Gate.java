package shop;

import java.util.concurrent.CountDownLatch;

/** Makes a static initializer wait until a test opens the gate. */
public final class Gate {

    private static volatile CountDownLatch open = new CountDownLatch(0);

    private Gate() {}

    public static void close(CountDownLatch until) {
        open = until;
    }

    public static void pass() {
        try {
            open.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
