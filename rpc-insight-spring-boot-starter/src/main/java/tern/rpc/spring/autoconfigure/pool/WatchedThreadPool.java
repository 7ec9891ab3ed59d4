package tern.rpc.spring.autoconfigure.pool;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import tern.rpc.CallTask;

/**
 * Wraps one of the application's thread pools, and records its tasks for the calls that submit them. All methods
 * delegate to the pool that the application created. The inherited pool never has any threads. Thread-safe.
 */
final class WatchedThreadPool extends ThreadPoolExecutor {

    private final ThreadPoolExecutor pool;
    private final String name;
    private final TaskTimes times;

    WatchedThreadPool(ThreadPoolExecutor pool, String name, TaskTimes times) {
        super(0, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(1));
        super.shutdown();
        this.pool = pool;
        this.name = name;
        this.times = times;
    }

    /**
     * A submitted task. The task equals the application's own task object, so that the application can remove the task
     * from the queue.
     */
    private record Submitted(Runnable task, Runnable measured) implements Runnable {

        @Override
        public void run() {
            measured.run();
        }
    }

    /** Returns the pool that the application created. */
    ThreadPoolExecutor pool() {
        return pool;
    }

    @Override
    public void execute(Runnable task) {
        try {
            pool.execute(new Submitted(task, CallTask.of(times.measured(task), name)));
        } catch (RejectedExecutionException e) {
            times.rejected();
            throw e;
        }
    }

    @Override
    public boolean remove(Runnable task) {
        return pool.remove(task)
                || pool.getQueue().removeIf(queued -> queued instanceof Submitted submitted && submitted.task == task);
    }

    @Override
    public List<Runnable> shutdownNow() {
        return pool.shutdownNow().stream()
                .map(task -> task instanceof Submitted submitted ? submitted.task : task)
                .toList();
    }

    @Override
    public void shutdown() {
        pool.shutdown();
    }

    @Override
    public boolean isShutdown() {
        return pool.isShutdown();
    }

    @Override
    public boolean isTerminating() {
        return pool.isTerminating();
    }

    @Override
    public boolean isTerminated() {
        return pool.isTerminated();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return pool.awaitTermination(timeout, unit);
    }

    @Override
    public void setThreadFactory(ThreadFactory factory) {
        pool.setThreadFactory(factory);
    }

    @Override
    public ThreadFactory getThreadFactory() {
        return pool.getThreadFactory();
    }

    @Override
    public void setRejectedExecutionHandler(RejectedExecutionHandler handler) {
        pool.setRejectedExecutionHandler(handler);
    }

    @Override
    public RejectedExecutionHandler getRejectedExecutionHandler() {
        return pool.getRejectedExecutionHandler();
    }

    @Override
    public void setCorePoolSize(int size) {
        pool.setCorePoolSize(size);
    }

    @Override
    public int getCorePoolSize() {
        return pool.getCorePoolSize();
    }

    @Override
    public boolean prestartCoreThread() {
        return pool.prestartCoreThread();
    }

    @Override
    public int prestartAllCoreThreads() {
        return pool.prestartAllCoreThreads();
    }

    @Override
    public boolean allowsCoreThreadTimeOut() {
        return pool.allowsCoreThreadTimeOut();
    }

    @Override
    public void allowCoreThreadTimeOut(boolean value) {
        pool.allowCoreThreadTimeOut(value);
    }

    @Override
    public void setMaximumPoolSize(int size) {
        pool.setMaximumPoolSize(size);
    }

    @Override
    public int getMaximumPoolSize() {
        return pool.getMaximumPoolSize();
    }

    @Override
    public void setKeepAliveTime(long time, TimeUnit unit) {
        pool.setKeepAliveTime(time, unit);
    }

    @Override
    public long getKeepAliveTime(TimeUnit unit) {
        return pool.getKeepAliveTime(unit);
    }

    @Override
    public BlockingQueue<Runnable> getQueue() {
        return pool.getQueue();
    }

    @Override
    public void purge() {
        pool.purge();
    }

    @Override
    public int getPoolSize() {
        return pool.getPoolSize();
    }

    @Override
    public int getActiveCount() {
        return pool.getActiveCount();
    }

    @Override
    public int getLargestPoolSize() {
        return pool.getLargestPoolSize();
    }

    @Override
    public long getTaskCount() {
        return pool.getTaskCount();
    }

    @Override
    public long getCompletedTaskCount() {
        return pool.getCompletedTaskCount();
    }

    @Override
    public String toString() {
        return pool.toString();
    }
}
