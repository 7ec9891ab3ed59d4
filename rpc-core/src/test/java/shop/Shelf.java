package shop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** A class with one method for each way to block a thread in Java. */
public final class Shelf {

    private final ReentrantLock lock = new ReentrantLock();
    private int taken;

    public ReentrantLock lock() {
        return lock;
    }

    public synchronized int take() {
        return ++taken;
    }

    public int takeLocked() {
        lock.lock();
        try {
            return ++taken;
        } finally {
            lock.unlock();
        }
    }

    public <T> T await(CompletableFuture<T> result) {
        try {
            return result.get();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public void awaitOpening(CountDownLatch opened) {
        try {
            opened.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public int rest() throws InterruptedException {
        TimeUnit.HOURS.sleep(1);
        return taken;
    }

    public int count() {
        while (!Thread.currentThread().isInterrupted()) {
            taken++;
        }
        return taken;
    }
}
