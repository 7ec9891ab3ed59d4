package shop;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.StampedLock;

/** Protects prices with a lock whose owner the JVM does not report. */
public final class PriceBook {

    private final StampedLock lock = new StampedLock();

    /** Holds the lock until the end of the test. */
    public void reload(CountDownLatch held, CountDownLatch end) {
        long stamp = lock.writeLock();
        try {
            held.countDown();
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    /** Waits for a partner without holding the lock. */
    public void ask(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sleeps without holding the lock, like a loop that reloads the prices at intervals. */
    public void pauseUntil(CountDownLatch end) {
        while (end.getCount() > 0) {
            LockSupport.parkNanos(TimeUnit.HOURS.toNanos(1));
        }
    }

    public void price() {
        lock.unlockRead(lock.readLock());
    }
}
