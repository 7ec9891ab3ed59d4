package tern.rpc.waiting;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Classifies threads that wait in unknown code, by the waiting class and method. Locks and monitors always count. Waits
 * for a signal, a result or a time count only while the thread serves a call, because they are normal in background
 * threads.
 */
final class CodeThatWaits implements StackClassifier {

    private static final List<String> PLATFORM = List.of("java.", "javax.", "jdk.", "sun.", "com.sun.", "tern.rpc.");

    private static final Set<String> LOCKING = Set.of(
            "java.util.concurrent.locks.ReentrantLock",
            "java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock",
            "java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock",
            "java.util.concurrent.locks.StampedLock",
            "java.util.concurrent.Semaphore");

    private static final String HOLD_SHORTER = "the code that holds it: for less time, or not at all";

    @Override
    public @Nullable Wait classify(ThreadStack thread) {
        StackTraceElement place = firstOutsidePlatform(thread);
        if (place == null || !thread.isWaiting()) {
            return null;
        }
        String where = place.getClassName() + "." + place.getMethodName();
        if (thread.state() == Thread.State.BLOCKED) {
            return new Wait("monitor of " + simple(thread.lock()) + " in " + where, HOLD_SHORTER);
        }
        String lock = lockOf(thread);
        if (lock != null) {
            return new Wait("lock " + lock + " in " + where, HOLD_SHORTER);
        }
        if (!thread.serving()) {
            return null;
        }
        if (thread.isIn("java.lang.Thread", "sleep")) {
            return new Wait("sleep in " + where, "the code: a call should not sleep");
        }
        return thread.state() == Thread.State.RUNNABLE
                ? new Wait("system call in " + where, "the code, or what it reads and writes")
                : new Wait("signal or result awaited in " + where, "the code, or what works on the result");
    }

    /** The lock for which the thread waits in code outside the platform; null if there is none. */
    private static @Nullable String lockOf(ThreadStack thread) {
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (LOCKING.contains(type)) {
                return simple(type);
            }
            if (!isPlatform(type)) {
                return null;
            }
        }
        return null;
    }

    private static @Nullable StackTraceElement firstOutsidePlatform(ThreadStack thread) {
        return thread.frames().stream()
                .filter(frame -> !isPlatform(frame.getClassName()))
                .findFirst()
                .orElse(null);
    }

    private static boolean isPlatform(String type) {
        return PLATFORM.stream().anyMatch(type::startsWith);
    }

    private static String simple(@Nullable String type) {
        return type == null ? "an object" : type.substring(type.lastIndexOf('.') + 1);
    }
}
