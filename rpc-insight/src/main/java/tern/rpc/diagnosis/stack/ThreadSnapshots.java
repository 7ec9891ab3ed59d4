package tern.rpc.diagnosis.stack;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.evidence.EndedThreads;
import tern.rpc.pool.ApplicationCode;

/** Reads the stacks of platform threads, usually with at most {@value #MAX_FRAMES} frames each. */
public final class ThreadSnapshots {

    private static final int MAX_THREADS = 32; // the maximum number of lock owners to read at once
    public static final int MAX_FRAMES = 256;
    private static final int MAX_DEEP_FRAMES = 8_192;
    private static final int MAX_OWNERS = 4;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final EndedThreads ENDED = new EndedThreads();

    private ThreadSnapshots() {}

    /**
     * Reads the current stacks of the given platform threads. If the threads wait for locks, also reads the stacks of
     * the locks' owners.
     */
    public static Map<Long, ThreadSnapshot> of(long[] ids) {
        Map<Long, ThreadInfo> infos = new HashMap<>();
        long[] wanted = ids;
        for (int depth = 0; depth <= MAX_OWNERS && wanted.length > 0; depth++) {
            List<Long> owners = new ArrayList<>();
            // Locked monitors are queried only for threads that own locks, to find the frames that entered the
            // monitors.
            boolean monitors = depth > 0;
            for (ThreadInfo info : THREADS.getThreadInfo(wanted, monitors, false, MAX_FRAMES)) {
                if (info != null) {
                    infos.put(info.getThreadId(), info);
                    long owner = info.getLockOwnerId();
                    if (owner >= 0 && !infos.containsKey(owner) && !owners.contains(owner)) {
                        owners.add(owner);
                    }
                }
            }
            wanted = owners.stream()
                    .mapToLong(Long::longValue)
                    .limit(MAX_THREADS)
                    .toArray();
        }
        Map<Long, ThreadSnapshot> looks = new HashMap<>();
        for (long id : ids) {
            ThreadInfo info = infos.get(id);
            if (info != null) {
                looks.put(id, look(info, infos, MAX_OWNERS, null));
            }
        }
        return looks;
    }

    /** @param held the lock that this thread holds while another thread waits for it; null if there is none */
    private static ThreadSnapshot look(
            ThreadInfo info, Map<Long, ThreadInfo> infos, int depth, @Nullable LockInfo held) {
        LockInfo lock = info.getLockInfo();
        ThreadInfo owner = depth == 0 ? null : infos.get(info.getLockOwnerId());
        return new ThreadSnapshot(
                info.getThreadName(),
                info.getThreadId(),
                info.getThreadState(),
                held == null ? frames(info) : info.getStackTrace(),
                lock == null ? null : lock.getClassName(),
                owner == null || owner == info ? ended(info, depth) : look(owner, infos, depth - 1, lock),
                cpuNanos(info.getThreadId()),
                held == null ? -1 : holdsAt(info, held));
    }

    /**
     * Returns the frames of the thread. If the innermost {@value #MAX_FRAMES} frames do not show what the thread is
     * working on, as in a deep recursion in a library, reads the stack again with more frames.
     */
    private static StackTraceElement[] frames(ThreadInfo info) {
        StackTraceElement[] frames = info.getStackTrace();
        boolean isCut = frames.length == MAX_FRAMES
                && ApplicationCode.first(frames) == null
                && FrameworkWork.indexIn(frames) < 0;
        ThreadInfo deep = isCut ? THREADS.getThreadInfo(info.getThreadId(), MAX_DEEP_FRAMES) : null;
        return deep == null ? frames : deep.getStackTrace();
    }

    /**
     * Returns the owner of the lock that the thread waits for, if the owner has ended without releasing the lock; null
     * otherwise.
     */
    private static @Nullable ThreadSnapshot ended(ThreadInfo info, int depth) {
        long id = info.getLockOwnerId();
        boolean isMissing = depth > 0 && id >= 0 && id != info.getThreadId() && THREADS.getThreadInfo(id) == null;
        if (!isMissing || !ENDED.contains(id)) {
            return null;
        }
        return new ThreadSnapshot(
                info.getLockOwnerName(), id, Thread.State.TERMINATED, new StackTraceElement[0], null, null, -1, -1);
    }

    /**
     * Returns the index of the frame that entered the given monitor; -1 if the lock is not a monitor or is no longer
     * held.
     */
    private static int holdsAt(ThreadInfo owner, LockInfo held) {
        for (MonitorInfo monitor : owner.getLockedMonitors()) {
            if (monitor.getIdentityHashCode() == held.getIdentityHashCode()
                    && monitor.getClassName().equals(held.getClassName())) {
                return monitor.getLockedStackDepth();
            }
        }
        return -1;
    }

    private static long cpuNanos(long id) {
        try {
            return THREADS.getThreadCpuTime(id);
        } catch (UnsupportedOperationException e) {
            return -1;
        }
    }
}
