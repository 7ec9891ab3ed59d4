package tern.rpc.transport;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/**
 * The cost of work on one thread, measured as CPU time and allocated bytes, not as elapsed time.
 *
 * @param cpuNanos the CPU time of the thread in nanoseconds
 * @param allocatedBytes the bytes that the thread allocated, including garbage
 */
public record Cost(long cpuNanos, long allocatedBytes) {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long CPU_NANOS_PER_MIB = 100_000_000;
    private static final long MIB = 1 << 20;

    /**
     * In a normal build, the CPU time may exceed the promised limit by this factor, because other processes share the
     * machine.
     */
    private static final int SLACK = Boolean.getBoolean("tern.strict") ? 1 : 10;

    public static Cost of(Runnable work) {
        long allocated = THREADS.getCurrentThreadAllocatedBytes();
        long cpu = THREADS.getCurrentThreadCpuTime();
        work.run();
        return new Cost(THREADS.getCurrentThreadCpuTime() - cpu, THREADS.getCurrentThreadAllocatedBytes() - allocated);
    }

    /** Returns the minimum cost of several runs, because the first runs execute interpreted code and are slower. */
    public static Cost least(int runs, Runnable work) {
        Cost least = of(work);
        for (int i = 1; i < runs; i++) {
            Cost again = of(work);
            least = new Cost(
                    Math.min(least.cpuNanos, again.cpuNanos), Math.min(least.allocatedBytes, again.allocatedBytes));
        }
        return least;
    }

    /**
     * Returns the CPU time divided by the limit for a message of the given size. Smaller messages have the same limit
     * as a message of 1 MiB.
     */
    public double cpuShare(int messageBytes) {
        return cpuNanos / (CPU_NANOS_PER_MIB * Math.max(1.0, messageBytes / (double) MIB));
    }

    /** Returns the allocated bytes divided by their limit, which is four times the message size plus 1 MiB. */
    public double heapShare(int messageBytes) {
        return allocatedBytes / (4.0 * messageBytes + MIB);
    }

    /**
     * Returns whether the CPU time is within its limit. Without {@code -Dtern.strict}, the limit is ten times as high,
     * because other processes may share the machine.
     */
    public boolean isTimely(int messageBytes) {
        return cpuShare(messageBytes) <= SLACK;
    }

    public String toString(int messageBytes) {
        return String.format(
                Locale.ROOT,
                "%d bytes: %.1f ms CPU, %.1f MiB allocated",
                messageBytes,
                cpuNanos / 1e6,
                allocatedBytes / (double) MIB);
    }
}
