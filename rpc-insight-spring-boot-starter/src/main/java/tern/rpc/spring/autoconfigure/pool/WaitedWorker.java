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

    /**
     * Returns how long the current request waited for this thread. Returns 0 if this method has already been called for
     * the request.
     */
    long takeWaitedNanos();
}
