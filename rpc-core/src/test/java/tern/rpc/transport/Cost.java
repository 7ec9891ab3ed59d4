package tern.rpc.transport;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/**
 * What a piece of work costs its thread: processor time and allocated bytes, never wall time.
 *
 * @param cpuNanos of the thread
 * @param allocatedBytes by the thread, whether or not they are garbage by now
 */
public record Cost(long cpuNanos, long allocatedBytes) {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long CPU_NANOS_PER_MIB = 100_000_000;
    private static final long MIB = 1 << 20;

    /** How much slower than promised a build may be, as other processes share its machine. */
    private static final int SLACK = Boolean.getBoolean("tern.strict") ? 1 : 10;

    public static Cost of(Runnable work) {
        long allocated = THREADS.getCurrentThreadAllocatedBytes();
        long cpu = THREADS.getCurrentThreadCpuTime();
        work.run();
        return new Cost(THREADS.getCurrentThreadCpuTime() - cpu, THREADS.getCurrentThreadAllocatedBytes() - allocated);
    }

    /** The least of several runs, since the first ones are interpreted. */
    public static Cost least(int runs, Runnable work) {
        Cost least = of(work);
        for (int i = 1; i < runs; i++) {
            Cost again = of(work);
            least = new Cost(
                    Math.min(least.cpuNanos, again.cpuNanos), Math.min(least.allocatedBytes, again.allocatedBytes));
        }
        return least;
    }

    /** Processor time against the promise for a message of this size; 1 is just kept. A small one may cost what a MiB may. */
    public double cpuShare(int messageBytes) {
        return cpuNanos / (CPU_NANOS_PER_MIB * Math.max(1.0, messageBytes / (double) MIB));
    }

    /** Allocation against four times the size and a MiB. */
    public double heapShare(int messageBytes) {
        return allocatedBytes / (4.0 * messageBytes + MIB);
    }

    /** Whether the time is within the promise, with the slack of a shared machine unless {@code -Dtern.strict}. */
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
