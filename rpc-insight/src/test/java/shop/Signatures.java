package shop;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Application code that holds locks while a method of another class waits. */
public final class Signatures {

    private final Lock lock = new ReentrantLock();

    public synchronized void sign(CountDownLatch end) {
        Naps.until(end);
    }

    public void number(CountDownLatch end) {
        lock.lock();
        try {
            Naps.until(end);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Parks the current thread for an hour. Rate limiters park their callers in the same way, but for a shorter time.
     */
    public void admitted() {
        LockSupport.parkNanos(TimeUnit.HOURS.toNanos(1));
    }

    /** Locks the monitor of this object first, then the monitor of {@code other}. */
    public synchronized void signBoth(Signatures other, CountDownLatch bothHoldOne) {
        bothHoldOne.countDown();
        Naps.until(bothHoldOne);
        other.sign(new CountDownLatch(0));
    }

    /** A helper class that is called by many methods. */
    static final class Naps {

        private Naps() {}

        static void until(CountDownLatch end) {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
