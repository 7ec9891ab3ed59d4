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

/** Calls the shop application at a steady rate, even if the application does not respond. Thread-safe. */
public final class Load implements AutoCloseable {

    private static final int MAX_CALLERS = 300;
    private static final int TICK_MILLIS = 25;
    private static final long TARGET_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final OrderService orders;
    private final ExecutorService callers = new ThreadPoolExecutor(
            0, MAX_CALLERS, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), Load::thread, (task, pool) -> {});
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(Load::thread);
    private final AtomicInteger next = new AtomicInteger();
    private final LongAdder calls = new LongAdder();
    private final LongAdder bad = new LongAdder();
    private volatile int documentBytes;
    private volatile double perTick = 1;
    private volatile double wave;
    private double due; // Only the thread of "clock" uses this field.
    private long ticks; // Only the thread of "clock" uses this field.

    Load(OrderService orders) {
        this.orders = orders;
        clock.scheduleAtFixedRate(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(null, task, "load", 256 * 1_024);
        thread.setDaemon(true);
        return thread;
    }

    /** Sets the rate to {@code times} times the usual 40 calls per second. */
    public void factor(double times) {
        perTick = times;
    }

    /**
     * Makes the rate of the calls rise and fall in cycles of eight seconds.
     *
     * @param share the maximum deviation from the normal rate, as a share of that rate
     */
    public void wave(double share) {
        wave = share;
    }

    /** Makes every fourth call send a document of {@code bytes} bytes instead of an order. */
    public void documents(int bytes) {
        documentBytes = bytes;
    }

    void usual() {
        perTick = 1;
        wave = 0;
        documentBytes = 0;
    }

    long calls() {
        return calls.sum();
    }

    /** Returns the number of calls that failed or took longer than the target. */
    long bad() {
        return bad.sum();
    }

    private void tick() {
        ticks++;
        due += perTick * (1 + wave * Math.sin(ticks * TICK_MILLIS * 2 * Math.PI / 8_000));
        for (; due >= 1; due--) {
            int id = next.getAndIncrement();
            callers.execute(() -> call(id));
        }
    }

    private void call(int id) {
        long start = System.nanoTime();
        boolean ended = false;
        try {
            send(id, id % 20);
            ended = true;
        } catch (RuntimeException e) {
            // The code after the try block counts a call that has thrown an exception as late or failed.
        }
        calls.increment();
        if (!ended || System.nanoTime() - start > TARGET_NANOS) {
            bad.increment();
        }
    }

    private void send(int id, int kind) {
        int bytes = documentBytes;
        if (bytes > 0 && kind % 4 == 0) {
            orders.attach(new byte[bytes]);
        } else if (kind < 12) {
            orders.place(id);
        } else if (kind < 17) {
            orders.view(id);
        } else {
            orders.history(id);
        }
    }

    @Override
    public void close() {
        clock.shutdownNow();
        callers.shutdownNow();
    }
}
