package tern.rpc.spring.autoconfigure.pool;

import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import tern.rpc.CallLedger;
import tern.rpc.CallTask;
import tern.rpc.Phase;
import tern.rpc.ServerContext;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSetting.Use;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.spring.autoconfigure.pool.RpcPoolsProperties.Rejection;

/**
 * A thread pool for one purpose of the application, with a bounded queue. A task submitted by a served call keeps the
 * call's {@link ServerContext}, and its time is recorded in the call's ledger. Thread-safe.
 */
public final class BusinessPool extends ThreadPoolExecutor {

    private static final long KEEP_ALIVE_SECONDS = 60;
    private static final long STOP_SECONDS = 5;

    private final Settings settings;
    private final SettingOrigins origins;
    private final Borrowings borrowings = new Borrowings();
    private final LongAdder rejected = new LongAdder();
    private final LongAdder callerRuns = new LongAdder();

    /**
     * @param prefix the prefix of the pool's properties
     */
    record Settings(String name, String prefix, int threads, int queueCapacity, Rejection rejection) {}

    BusinessPool(Settings settings, SettingOrigins origins) {
        super(
                settings.threads(),
                settings.threads(),
                KEEP_ALIVE_SECONDS,
                TimeUnit.SECONDS,
                settings.queueCapacity() == 0
                        ? new SynchronousQueue<>()
                        : new LinkedBlockingQueue<>(settings.queueCapacity()));
        this.settings = settings;
        this.origins = origins;
        AtomicInteger count = new AtomicInteger();
        setThreadFactory(task -> new Thread(task, settings.name() + "-" + count.incrementAndGet()));
        setRejectedExecutionHandler((task, pool) -> full((Task) task));
        allowCoreThreadTimeOut(true);
    }

    /** A submitted task that keeps the context and the ledger of the submitting call. */
    private final class Task implements Runnable {
        private final Runnable work;
        private final long askedAt = borrowings.asked();

        Task(Runnable work) {
            this.work = work;
        }

        @Override
        public void run() {
            long startedAt = borrowings.taken(askedAt);
            try {
                work.run();
            } finally {
                borrowings.returned(startedAt);
            }
        }

        void runByCaller() {
            work.run();
        }
    }

    @Override
    public void execute(Runnable task) {
        ServerContext serving = ServerContext.current();
        super.execute(
                new Task(serving == null ? CallTask.of(task, settings.name()) : serving.wrap(task, settings.name())));
    }

    private void full(Task task) {
        borrowings.refused(task.askedAt);
        if (settings.rejection() == Rejection.CALLER_RUNS && !isShutdown()) {
            callerRuns.increment();
            CallLedger ledger = CallLedger.current();
            Phase outer = ledger.enter(Phase.CALLER_RUNS);
            try {
                task.runByCaller();
            } finally {
                ledger.leave(outer);
            }
            return;
        }
        rejected.increment();
        throw new RejectedExecutionException(
                isShutdown()
                        ? "the pool \"" + settings.name() + "\" is shut down"
                        : "the pool \"" + settings.name() + "\" is full: " + getActiveCount() + " of "
                                + settings.threads()
                                + " threads busy, " + getQueue().size() + " of " + settings.queueCapacity()
                                + " tasks waiting (set by " + settings.prefix() + ".threads and "
                                + settings.prefix() + ".queue-capacity)");
    }

    PoolSnapshot snapshot() {
        int active = getActiveCount();
        return borrowings
                .into(PoolSnapshot.builder(settings.name(), PoolKind.EXECUTOR, settings.threads()))
                .now(active, settings.threads() - active, getQueue().size())
                .queueCapacity(settings.queueCapacity())
                .counts(getCompletedTaskCount() + active, rejected.sum())
                .callerRuns(callerRuns.sum())
                .settings(settings())
                .build();
    }

    private List<PoolSetting> settings() {
        return List.of(
                origins.setting(settings.prefix() + ".threads", settings.threads(), PoolSetting.Source.TUNED, Use.MAX)
                        .accepting(new PoolSetting.Range(1, BusinessPools.MAX_THREADS)),
                origins.setting(
                                settings.prefix() + ".queue-capacity",
                                settings.queueCapacity(),
                                PoolSetting.Source.TUNED,
                                Use.QUEUE_CAPACITY)
                        .accepting(new PoolSetting.Range(0, BusinessPools.MAX_QUEUED)),
                origins.setting(
                        settings.prefix() + ".rejection",
                        settings.rejection() == Rejection.ABORT ? "abort" : "caller-runs",
                        PoolSetting.Source.TUNED));
    }

    /** Waits up to 5 seconds for the tasks to end, then interrupts the remaining tasks. */
    void stop() {
        shutdown();
        try {
            if (!awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
                shutdownNow();
            }
        } catch (InterruptedException e) {
            shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
