package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.apache.tomcat.util.net.AbstractEndpoint;
import org.apache.tomcat.util.threads.TaskQueue;
import org.apache.tomcat.util.threads.TaskThread;
import org.apache.tomcat.util.threads.TaskThreadFactory;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting.Range;
import tern.rpc.pool.PoolSetting.Source;
import tern.rpc.pool.PoolSetting.Use;
import tern.rpc.pool.PoolSnapshot;

/**
 * A thread pool like the pool that Tomcat creates for a connector. The pool also measures how long each request waits
 * for a thread.
 */
final class TomcatWorkers extends ThreadPoolExecutor {

    static final String MAX = "server.tomcat.threads.max";

    private final LongAdder taken = new LongAdder();
    private final LongAdder waitedNanos = new LongAdder();
    private final LongAdder servedNanos = new LongAdder();

    private TomcatWorkers(AbstractEndpoint<?, ?> endpoint, TaskQueue queue) {
        super(
                endpoint.getMinSpareThreads(),
                endpoint.getMaxThreads(),
                endpoint.getThreadsMaxIdleTime(),
                TimeUnit.MILLISECONDS,
                queue,
                new Threads(endpoint.getName() + "-exec-", endpoint.getDaemon(), endpoint.getThreadPriority()));
        queue.setParent(this);
    }

    /** Creates a pool with the same settings as {@link AbstractEndpoint#createExecutor()}. */
    static TomcatWorkers of(AbstractEndpoint<?, ?> endpoint) {
        return new TomcatWorkers(endpoint, new TaskQueue(endpoint.getMaxQueueSize()));
    }

    @Override
    public void execute(Runnable request) {
        super.execute(new Arrived(request));
    }

    PoolSnapshot snapshot(String name, SettingOrigins origins) {
        int active = getActiveCount();
        int waiting = getQueue().size();
        return PoolSnapshot.builder(name, PoolKind.WORKERS, getMaximumPoolSize())
                .now(active, Math.max(0, getMaximumPoolSize() - active), waiting)
                .queueCapacity((int)
                        Math.min(Integer.MAX_VALUE, (long) waiting + getQueue().remainingCapacity()))
                .counts(taken.sum(), 0)
                .sums(Duration.ofNanos(waitedNanos.sum()), Duration.ofNanos(servedNanos.sum()))
                .settings(List.of(origins.setting(MAX, getMaximumPoolSize(), Source.LIBRARY, Use.MAX)
                        .accepting(new Range(1, BusinessPools.MAX_THREADS))))
                .build();
    }

    /** A request waiting for a thread. */
    private final class Arrived implements Runnable {
        private final Runnable request;
        private final long arrived = System.nanoTime();

        Arrived(Runnable request) {
            this.request = request;
        }

        @Override
        public void run() {
            long begun = System.nanoTime();
            taken.increment();
            waitedNanos.add(begun - arrived);
            if (Thread.currentThread() instanceof Worker worker) {
                worker.waitedNanos = begun - arrived;
            }
            try {
                request.run();
            } finally {
                servedNanos.add(System.nanoTime() - begun);
            }
        }
    }

    /** A thread like the threads that Tomcat creates. The thread also stores how long its request waited. */
    private static final class Worker extends TaskThread implements WaitedWorker {
        private long waitedNanos; // Only the thread that this object represents uses the field.

        Worker(ThreadGroup group, Runnable target, String name) {
            super(group, target, name);
        }

        @Override
        public long takeWaitedNanos() {
            long waited = waitedNanos;
            waitedNanos = 0;
            return waited;
        }
    }

    private record Threads(String prefix, boolean daemon, int priority, AtomicInteger next) implements ThreadFactory {

        Threads(String prefix, boolean daemon, int priority) {
            this(prefix, daemon, priority, new AtomicInteger(1));
        }

        @Override
        public Thread newThread(Runnable target) {
            Worker worker =
                    new Worker(Thread.currentThread().getThreadGroup(), target, prefix + next.getAndIncrement());
            worker.setDaemon(daemon);
            worker.setPriority(priority);
            worker.setContextClassLoader(TaskThreadFactory.class.getClassLoader());
            return worker;
        }
    }
}
