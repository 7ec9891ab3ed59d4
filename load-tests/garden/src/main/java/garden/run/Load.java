package garden.run;

import garden.shop.OrderService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Calls the shop at a constant rate, whether or not it answers. */
final class Load implements AutoCloseable {

    private static final int MAX_CALLERS = 400;

    private final OrderService orders;
    private final ExecutorService callers = new ThreadPoolExecutor(
            0, MAX_CALLERS, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), Load::thread, (task, pool) -> {});
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(Load::thread);
    private final AtomicInteger next = new AtomicInteger();
    final LongAdder calls = new LongAdder();
    final LongAdder bad = new LongAdder();
    private volatile int factor = 1;

    Load(OrderService orders, int perSecond) {
        this.orders = orders;
        clock.scheduleAtFixedRate(this::tick, 0, 1_000_000 / perSecond, TimeUnit.MICROSECONDS);
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "load");
        thread.setDaemon(true);
        return thread;
    }

    void factor(int times) {
        factor = times;
    }

    private void tick() {
        for (int i = 0; i < factor; i++) {
            int id = next.getAndIncrement();
            callers.execute(() -> call(id));
        }
    }

    private void call(int id) {
        long start = System.nanoTime();
        boolean ended = false;
        try {
            if (id % 4 == 0) {
                orders.view(id);
            } else {
                orders.place(id);
            }
            ended = true;
        } catch (RuntimeException e) {
            // counted as a failure below
        }
        calls.increment();
        if (!ended || System.nanoTime() - start > 100_000_000) {
            bad.increment();
        }
    }

    @Override
    public void close() {
        clock.shutdownNow();
        callers.shutdownNow();
    }
}
