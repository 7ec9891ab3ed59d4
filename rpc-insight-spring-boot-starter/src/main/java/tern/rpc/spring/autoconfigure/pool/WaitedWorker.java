package tern.rpc.spring.autoconfigure.pool;

/** A thread of a web server that reports how long its request waited for a thread. */
public interface WaitedWorker {

    /**
     * Returns how long the current thread's request waited for the thread; 0 if the wait is unknown or was already
     * returned.
     */
    static long takeNanos() {
        return Thread.currentThread() instanceof WaitedWorker worker ? worker.takeWaitedNanos() : 0;
    }

    /**
     * The first call for the current request returns how long the request waited for this thread; later calls return
     * 0.
     */
    long takeWaitedNanos();
}
