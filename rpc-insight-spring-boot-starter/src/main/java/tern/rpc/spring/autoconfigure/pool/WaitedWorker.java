package tern.rpc.spring.autoconfigure.pool;

/** A thread of a web server that reports how long its request waited for a thread. */
public interface WaitedWorker {

    /**
     * Returns how long the current thread's request waited for the thread; 0 if the wait is unknown or has already been
     * returned.
     */
    static long takeNanos() {
        return Thread.currentThread() instanceof WaitedWorker worker ? worker.takeWaitedNanos() : 0;
    }

    /** Returns how long the current request waited for this thread. Later calls for the same request return 0. */
    long takeWaitedNanos();
}
