package shop;

import java.io.PrintStream;
import java.util.concurrent.locks.Lock;

/** Application code that does not release a lock, or that prints text. */
public final class Invoices {

    private final Lock lock;

    public Invoices(Lock lock) {
        this.lock = lock;
    }

    /** Takes the lock and does not release it. */
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
