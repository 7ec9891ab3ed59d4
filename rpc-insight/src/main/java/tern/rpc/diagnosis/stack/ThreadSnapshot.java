package tern.rpc.diagnosis.stack;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of a thread's state.
 *
 * @param frames the thread's stack frames, the innermost first
 * @param lock the class of the lock or other object that the thread waits for; null if the thread does not wait
 * @param owner the thread that holds the lock; null if the lock is free or its owner is unknown
 * @param cpuNanos the processor time that the thread has used so far; -1 if unknown
 * @param holdsAt the index of the frame that entered the monitor that another thread is waiting for; -1 if unknown or
 *     if this thread owns no such monitor
 * @param carrier whether the thread is a virtual thread that occupies a carrier thread or waits for one
 */
public record ThreadSnapshot(
        String name,
        long id,
        Thread.State state,
        StackTraceElement[] frames,
        @Nullable String lock,
        @Nullable ThreadSnapshot owner,
        long cpuNanos,
        int holdsAt,
        Carrier carrier) {

    /** The relation of a thread to the carrier threads, on which the JVM runs virtual threads. */
    public enum Carrier {
        /** The thread is a platform thread, or a virtual thread that waits without a carrier thread. */
        NONE,
        /** The virtual thread occupies a carrier thread. */
        TAKEN,
        /** The virtual thread is ready to run, but no carrier thread is free. */
        AWAITED;

        /** Returns the relation of the given thread to the carrier threads at this moment. */
        public static Carrier of(Thread thread) {
            // No public method returns the carrier thread, but toString() of a virtual thread contains its name.
            String text = thread.toString();
            String state = text.startsWith("VirtualThread[") ? text.substring(text.lastIndexOf("]/") + 2) : "";
            return state.contains("@") ? TAKEN : state.equals("runnable") ? AWAITED : NONE;
        }
    }

    /** Creates a snapshot of a thread without a carrier thread. */
    public ThreadSnapshot(
            String name,
            long id,
            Thread.State state,
            StackTraceElement[] frames,
            @Nullable String lock,
            @Nullable ThreadSnapshot owner,
            long cpuNanos,
            int holdsAt) {
        this(name, id, state, frames, lock, owner, cpuNanos, holdsAt, Carrier.NONE);
    }

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** Until Java 18, a thread that waits for a task may search for other tasks all the time instead of parking. */
    public ThreadSnapshot {
        state = state == Thread.State.RUNNABLE && ForkJoinWaits.isOne(frames) ? Thread.State.WAITING : state;
    }

    /**
     * Returns whether the thread is in the given JDK method. Only the innermost frames are searched, up to the first
     * frame outside the JDK.
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

    /** Returns whether the innermost frame is a native method. */
    boolean isInNative() {
        return frames.length > 0 && frames[0].isNativeMethod();
    }

    /** Returns whether the thread is running code, as opposed to waiting. */
    public boolean computes() {
        return state == Thread.State.RUNNABLE && !isInNative();
    }

    /**
     * Returns whether the thread runs a task of a fork-join pool, such as items of a parallel stream, although it is
     * not a thread of such a pool.
     */
    public boolean runsForkedTask() {
        boolean runs = false;
        for (StackTraceElement frame : frames) {
            if (frame.getClassName().equals("java.util.concurrent.ForkJoinWorkerThread")) {
                return false;
            }
            runs |= frame.getClassName().equals("java.util.concurrent.ForkJoinTask");
        }
        return runs;
    }

    /** Returns whether the chain of lock owners is a cycle. */
    boolean isDeadlocked() {
        Set<Long> seen = new HashSet<>(Set.of(id));
        for (ThreadSnapshot next = owner; next != null; next = next.owner) {
            // The stacks were read at different times, so the apparent cycle may never have existed.
            if (!seen.add(next.id)) {
                return THREADS.findDeadlockedThreads() != null;
            }
        }
        return false;
    }

    static boolean isPlatform(String type) {
        return type.startsWith("java.") || type.startsWith("jdk.") || type.startsWith("sun.");
    }

    /** Returns the name of a class without its package; {@code an object} if the class is unknown. */
    public static String simple(@Nullable String type) {
        return type == null
                ? "an object"
                : type.substring(type.lastIndexOf('.') + 1).replace('$', '.');
    }
}
