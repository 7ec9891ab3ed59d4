package shop;

import feign.Peer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Keeps its write lock while it waits for a peer. */
public final class Fares {

    private final ReadWriteLock lock = new ReentrantReadWriteLock();

    /** Holds the write lock until the peer answers, at the end of the test. */
    public void reload(CountDownLatch held, CompletableFuture<String> answer) {
        lock.writeLock().lock();
        try {
            held.countDown();
            Peer.ask(answer);
        } finally {
            lock.writeLock().unlock();
        }
    }

    public int fare() {
        lock.readLock().lock();
        try {
            return 1;
        } finally {
            lock.readLock().unlock();
        }
    }
}
