package tern.rpc.diagnosis;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A thread at one moment.
 *
 * @param frames its frames, the innermost first
 * @param lock the class of the object that it waits for; null if there is none
 * @param owner the thread that holds the lock; null if it is free or unknown
 * @param cpuNanos the processor time of the thread so far; -1 if unknown
 * @param holdsAt if this thread owns a monitor that another thread waits for: the index of the frame that entered it;
 *     -1 if unknown
 */
record ThreadLook(
        String name,
        long id,
        Thread.State state,
        StackTraceElement[] frames,
        @Nullable String lock,
        @Nullable ThreadLook owner,
        long cpuNanos,
        int holdsAt) {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /**
     * Whether the thread is in this method of the platform. Only the innermost frames of platform classes are searched.
     */
    boolean waitsIn(String className, String method) {
        for (StackTraceElement frame : frames) {
            String type = frame.getClassName();
            if (type.equals(className)
                    && (method.isEmpty() || frame.getMethodName().startsWith(method))) {
                return true;
            }
            if (!isPlatform(type)) {
                return false;
            }
        }
        return false;
    }

    /** Whether the innermost frame is native code of the platform. */
    boolean isInNative() {
        return frames.length > 0 && frames[0].isNativeMethod();
    }

    /** Whether the thread runs code and does not wait. */
    boolean computes() {
        return state == Thread.State.RUNNABLE && !isInNative();
    }

    /** Whether the chain of lock owners is a circle. */
    boolean isDeadlocked() {
        Set<Long> seen = new HashSet<>(Set.of(id));
        for (ThreadLook next = owner; next != null; next = next.owner) {
            if (!seen.add(next.id)) { // two looks may have made a circle that never was one
                return THREADS.findDeadlockedThreads() != null;
            }
        }
        return false;
    }

    static boolean isPlatform(String type) {
        return type.startsWith("java.") || type.startsWith("jdk.") || type.startsWith("sun.");
    }
}
