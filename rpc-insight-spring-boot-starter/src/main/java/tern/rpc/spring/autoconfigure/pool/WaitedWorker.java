package tern.rpc.spring.autoconfigure.pool;

/** A thread of a web server that knows for how long its request waited for a thread. */
public interface WaitedWorker {

    /** The wait of the request that the current thread serves; 0 if it is unknown or was asked for before. */
    static long takeNanos() {
        return Thread.currentThread() instanceof WaitedWorker worker ? worker.takeWaitedNanos() : 0;
    }

    /** The wait of the current request, once. */
    long takeWaitedNanos();
}
