package tern.rpc.spring.autoconfigure.pool;

/** A thread of a web server that reports how long its request waited for a thread. */
public interface WaitedWorker {

    /**
     * Returns the wait of the request that the current thread serves; 0 if the wait is unknown or was already returned.
     */
    static long takeNanos() {
        return Thread.currentThread() instanceof WaitedWorker worker ? worker.takeWaitedNanos() : 0;
    }

    /** Returns the wait of the current request at the first call; 0 at later calls. */
    long takeWaitedNanos();
}
