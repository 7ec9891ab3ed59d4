package shop;

import java.io.PrintStream;
import java.util.concurrent.locks.Lock;

/** Application code that does not release a lock, or that prints. */
public final class Invoices {

    private final Lock lock;

    public Invoices(Lock lock) {
        this.lock = lock;
    }

    /** Throws an exception while the lock is held. */
    public void fail() {
        lock.lock();
    }

    public void number() {
        lock.lock();
        try {
            Thread.onSpinWait();
        } finally {
            lock.unlock();
        }
    }

    public static void print(PrintStream out) {
        out.println("invoice");
    }
}
