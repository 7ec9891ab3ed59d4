package shop;

import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import java.util.function.Consumer;

/** Takes locks in some of its methods. Each method passes its stack frame to the given consumer. */
public final class TollRoad {

    private final ReentrantLock lock = new ReentrantLock();
    private final ReentrantLock other = new ReentrantLock();
    private final ReadWriteLock both = new ReentrantReadWriteLock();
    private final Semaphore permits = new Semaphore(1);
    private final StampedLock stamped = new StampedLock();

    private static void show(Consumer<StackTraceElement> frames) {
        frames.accept(new Throwable().getStackTrace()[1]);
    }

    public void assign(Consumer<StackTraceElement> frames) {
        show(frames);
        lock.lock();
        try {
            show(frames);
        } finally {
            lock.unlock();
        }
        show(frames);
    }

    public void reload(Consumer<StackTraceElement> frames) {
        lock.lock();
        try {
            show(frames);
        } finally {
            lock.unlock();
        }
    }

    public void audit(Consumer<StackTraceElement> frames) {
        other.lock();
        try {
            show(frames);
        } finally {
            other.unlock();
        }
    }

    public void price(Consumer<StackTraceElement> frames) {
        long stamp = stamped.writeLock();
        try {
            switch ("toll".length()) {
                case 1, 2, 3 -> throw new IllegalStateException();
                case 400 -> frames.accept(null);
                default -> show(frames);
            }
        } finally {
            stamped.unlockWrite(stamp);
        }
    }

    public void list(Consumer<StackTraceElement> frames) {
        both.readLock().lock();
        try {
            show(frames);
        } finally {
            both.readLock().unlock();
        }
        show(frames);
    }

    /** Returns the permit that another thread has taken. */
    public void finish(Consumer<StackTraceElement> frames) {
        try {
            show(frames);
        } finally {
            permits.release();
        }
        show(frames);
    }

    public synchronized void count(Consumer<StackTraceElement> frames) {
        show(frames);
    }

    public void ask(Consumer<StackTraceElement> frames) {
        show(frames);
    }
}
