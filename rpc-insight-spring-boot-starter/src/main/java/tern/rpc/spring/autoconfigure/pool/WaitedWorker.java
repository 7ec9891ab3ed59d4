package tern.rpc.spring.autoconfigure.pool;

/** A thread of a web server that knows how long its request waited for it. */
public interface WaitedWorker {

    /**
     * Returns the wait of the request that the current thread serves. It is 0 if it is unknown or was already taken.
     */
    static long takeNanos() {
        return Thread.currentThread() instanceof WaitedWorker worker ? worker.takeWaitedNanos() : 0;
    }

    /** Returns the wait of the current request at the first call, and 0 afterwards. */
    long takeWaitedNanos();
}
