package shop;

import java.util.concurrent.CountDownLatch;

/** A gate at which a static initializer waits. */
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
