package tern.rpc.diagnosis.sample;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.evidence.VirtualStacks;

/**
 * Reads the stacks of virtual threads that serve no call. The pause until the next reading is at least a hundred times
 * the processor time of the last reading, and at least 20 times its duration. If no virtual thread runs application
 * code, the next reading follows after a minute, unless virtual threads wait for a carrier thread. Not thread-safe:
 * only one thread uses it.
 */
final class VirtualTasks {

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long LONG_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int COST_FACTOR = 100;
    private static final int WAIT_FACTOR = 20;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** The name under which all unnamed virtual threads are grouped. */
    static final String UNNAMED = "virtual threads";

    private long next; // when the stacks are read next; 0 before the first time

    /**
     * Reads the stacks, or returns an empty list if no reading is due.
     *
     * @param serving the ids of the threads that serve calls
     * @param isSoon whether the next reading follows soon even if no virtual thread runs application code
     */
    List<ThreadSnapshot> read(long now, Set<Long> serving, boolean isSoon) {
        if (!VirtualStacks.isSupported() || (next != 0 && now - next < 0)) {
            return List.of();
        }
        long begun = System.nanoTime();
        long usedBefore = THREADS.getCurrentThreadCpuTime();
        List<ThreadSnapshot> looks = VirtualStacks.read().stream()
                .filter(stack -> !serving.contains(stack.id()))
                .map(VirtualTasks::look)
                .filter(look -> StackReader.first(look) != null)
                .toList();
        long pause = looks.isEmpty() && !isSoon ? LONG_PAUSE_NANOS : PAUSE_NANOS;
        long used = THREADS.getCurrentThreadCpuTime() - usedBefore;
        long took = System.nanoTime() - begun;
        next = now + took + Math.max(pause, Math.max(COST_FACTOR * used, WAIT_FACTOR * took));
        return looks;
    }

    private static ThreadSnapshot look(VirtualStacks.Stack stack) {
        String name = stack.name().isEmpty() ? UNNAMED : stack.name();
        ThreadSnapshot.Carrier carrier = stack.runs() ? ThreadSnapshot.Carrier.TAKEN : ThreadSnapshot.Carrier.NONE;
        return new ThreadSnapshot(name, stack.id(), stack.state(), stack.frames(), null, null, -1, -1, carrier);
    }
}
