package tern.rpc.waiting;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A thread at one moment.
 *
 * @param state the state in the JVM: a thread that reads from a socket is RUNNABLE
 * @param lock the class of the object for which it waits; null if the JVM knows none
 * @param frames the innermost first; the outermost ones may be missing
 * @param serving whether it works on a call served by this process
 */
public record ThreadStack(
        String name,
        long id,
        Thread.State state,
        @Nullable String lock,
        List<StackTraceElement> frames,
        boolean serving) {

    public ThreadStack {
        frames = List.copyOf(frames);
    }

    /** Whether the thread waits: for a lock, a time, a signal, or for the system to read or write. */
    public boolean isWaiting() {
        return state != Thread.State.RUNNABLE || isInSystemCall();
    }

    private boolean isInSystemCall() {
        if (frames.isEmpty() || !frames.get(0).isNativeMethod()) {
            return false;
        }
        String type = frames.get(0).getClassName();
        return type.startsWith("sun.nio.ch.") || type.startsWith("java.net.") || type.startsWith("java.io.");
    }

    /** Whether a frame has this class, or a nested one, and this method. */
    public boolean isIn(String className, String method) {
        return frames.stream()
                .anyMatch(frame -> frame.getMethodName().equals(method) && isOf(frame.getClassName(), className));
    }

    /** Whether a frame has a class whose name begins with the prefix. */
    public boolean isIn(String classPrefix) {
        return frames.stream().anyMatch(frame -> frame.getClassName().startsWith(classPrefix));
    }

    private static boolean isOf(String type, String className) {
        return type.startsWith(className)
                && (type.length() == className.length() || type.charAt(className.length()) == '$');
    }
}
