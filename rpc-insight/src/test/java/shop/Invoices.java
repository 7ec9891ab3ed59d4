package shop;

import java.io.PrintStream;
import java.util.concurrent.locks.Lock;

/** Application code that forgets to release a lock, or prints. */
public final class Invoices {

    private final Lock lock;

    public Invoices(Lock lock) {
        this.lock = lock;
    }

    /** Fails with the lock held. */
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
