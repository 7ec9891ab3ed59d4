package tern.rpc.load.peer;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import tern.rpc.concurrent.WorkerPool;

/** The 200 daemon threads that run the methods of frameworks that have no thread pool of their own. */
final class Workers {

    static final int THREADS = 200;

    /** The maximum number of queued tasks. The number exceeds the number of callers. */
    private static final int QUEUED = 10_000;

    private static final Duration KEEP_ALIVE = Duration.ofMinutes(1);

    private Workers() {}

    /** Returns the JDK's fixed thread pool with an unbounded queue. */
    static ExecutorService jdk() {
        return Executors.newFixedThreadPool(THREADS, daemons());
    }

    /** Returns Tern's pool, which wakes as few threads as possible. */
    static WorkerPool tern() {
        return new WorkerPool(THREADS, QUEUED, KEEP_ALIVE, daemons());
    }

    private static ThreadFactory daemons() {
        AtomicInteger made = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, "peer-worker-" + made.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }
}
