package tern.rpc.load.micro;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The cost of executing an operation once.
 *
 * @param cpuNanos the CPU time of the executing thread in nanoseconds; other processes hardly affect this time
 * @param bytes the number of allocated bytes
 */
record Cost(double cpuNanos, double bytes) {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int BATCH = 20;

    /**
     * Measures an operation by repeating it for {@code millis} milliseconds, after a warm-up of a quarter of that time.
     */
    static Cost of(Supplier<?> operation, int millis) {
        run(operation, millis / 4);
        long cpu = THREADS.getCurrentThreadCpuTime();
        long bytes = THREADS.getCurrentThreadAllocatedBytes();
        long count = run(operation, millis);
        return new Cost(
                (double) (THREADS.getCurrentThreadCpuTime() - cpu) / count,
                (double) (THREADS.getCurrentThreadAllocatedBytes() - bytes) / count);
    }

    private static long run(Supplier<?> operation, int millis) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        long count = 0;
        while (System.nanoTime() < end) {
            for (int i = 0; i < BATCH; i++) {
                if (operation.get() == null) {
                    throw new IllegalStateException("nothing was read or written");
                }
            }
            count += BATCH;
        }
        return count;
    }
}
