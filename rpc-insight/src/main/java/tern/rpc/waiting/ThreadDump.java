package tern.rpc.waiting;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import tern.rpc.RunningCall;

/** Reads the stacks of all platform threads; virtual threads are in no dump. Pauses the JVM for some milliseconds. */
public final class ThreadDump {

    /** Sufficient for proxies and filters between a wait and the service's method. */
    private static final int MAX_FRAMES = 128;

    private static final String SERVED_CALL = "tern.rpc.server.ServedCall";
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private ThreadDump() {}

    /**
     * Reads all threads except the calling one.
     *
     * @param running shows which threads serve calls; threads without a ledger are recognized by their stacks
     */
    public static List<ThreadStack> take(List<RunningCall> running) {
        Set<Long> serving = running.stream().map(RunningCall::threadId).collect(Collectors.toSet());
        long self = Thread.currentThread().getId();
        List<ThreadStack> stacks = new ArrayList<>();
        for (ThreadInfo info : THREADS.dumpAllThreads(false, false, MAX_FRAMES)) {
            if (info.getThreadId() != self) {
                stacks.add(stack(info, serving));
            }
        }
        return stacks;
    }

    private static ThreadStack stack(ThreadInfo info, Set<Long> serving) {
        LockInfo lock = info.getLockInfo();
        List<StackTraceElement> frames = List.of(info.getStackTrace());
        return new ThreadStack(
                info.getThreadName(),
                info.getThreadId(),
                info.getThreadState(),
                lock == null ? null : lock.getClassName(),
                frames,
                serving.contains(info.getThreadId())
                        || frames.stream()
                                .anyMatch(frame -> frame.getClassName().equals(SERVED_CALL)));
    }
}
