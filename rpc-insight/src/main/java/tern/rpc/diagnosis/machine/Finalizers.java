package tern.rpc.diagnosis.machine;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.stack.ThreadSnapshots;
import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes objects that fill the heap because they wait for their finalizers. One thread of the JVM runs all
 * finalizers, so a single slow finalizer delays the release of all objects with finalizers.
 */
public final class Finalizers {

    public static final String CHANGE = "close objects with try-with-resources or a Cleaner instead of finalize(): ";

    /** Finalizers are mentioned only if at least {@value} objects are waiting to be finalized. */
    private static final int MANY = 10_000;

    private static final String THREAD = "Finalizer";

    private Finalizers() {}

    /** Returns text about the objects that wait for their finalizers; empty if only a few objects wait. */
    public static String pending() {
        return pending(ManagementFactory.getMemoryMXBean().getObjectPendingFinalizationCount(), Finalizers::place);
    }

    /**
     * @param count the number of objects that wait for their finalizers
     * @param thread returns the application code that the finalizer thread runs; null if it runs none
     */
    public static String pending(int count, Supplier<@Nullable String> thread) {
        if (count < MANY) {
            return "";
        }
        String place = thread.get();
        return count + " objects wait for their finalizers" + (place == null ? "" : ", whose thread is in " + place);
    }

    private static @Nullable String place() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().equals(THREAD)) {
                ThreadInfo stack = threads.getThreadInfo(thread.getThreadId(), ThreadSnapshots.MAX_FRAMES);
                StackTraceElement own = stack == null ? null : ApplicationCode.first(stack.getStackTrace());
                return own == null ? null : ApplicationCode.shown(own);
            }
        }
        return null;
    }
}
