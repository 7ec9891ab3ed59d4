package tern.rpc.transport;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/**
 * The cost of work, measured on its thread: CPU time and allocated bytes, but no wall time.
 *
 * @param cpuNanos CPU time of the thread
 * @param allocatedBytes bytes that the thread allocated, including garbage
 */
public record Cost(long cpuNanos, long allocatedBytes) {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long CPU_NANOS_PER_MIB = 100_000_000;
    private static final long MIB = 1 << 20;

    /** The factor by which a normal build may exceed the promised time, because other processes share its machine. */
    private static final int SLACK = Boolean.getBoolean("tern.strict") ? 1 : 10;

    public static Cost of(Runnable work) {
        long allocated = THREADS.getCurrentThreadAllocatedBytes();
        long cpu = THREADS.getCurrentThreadCpuTime();
        work.run();
        return new Cost(THREADS.getCurrentThreadCpuTime() - cpu, THREADS.getCurrentThreadAllocatedBytes() - allocated);
    }

    /** Returns the minimum of several runs, because the first runs are interpreted code. */
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
     * Returns CPU time divided by the limit for a message of this size. Messages below 1 MiB have the limit of 1 MiB.
     */
    public double cpuShare(int messageBytes) {
        return cpuNanos / (CPU_NANOS_PER_MIB * Math.max(1.0, messageBytes / (double) MIB));
    }

    /** Returns allocation divided by its limit: four times the size plus 1 MiB. */
    public double heapShare(int messageBytes) {
        return allocatedBytes / (4.0 * messageBytes + MIB);
    }

    /**
     * Returns whether the time is within the limit. Without {@code -Dtern.strict} the limit is larger, because the
     * machine may be shared.
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
