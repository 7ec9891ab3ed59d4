package tern.rpc.waiting;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A thread at one moment.
 *
 * @param state as the JVM has it: a thread that reads from a socket is RUNNABLE
 * @param lock class of the object that it waits for; null when the JVM does not know any
 * @param frames innermost first; the outermost ones may be missing
 * @param serving whether it works on a call that this process serves
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

    /** Whether it stands still: for a lock, a time, a signal, or for the system to read or write. */
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

    /** Whether some frame is of such a class, or of one nested in it, and of such a method. */
    public boolean isIn(String className, String method) {
        return frames.stream()
                .anyMatch(frame -> frame.getMethodName().equals(method) && isOf(frame.getClassName(), className));
    }

    /** Whether some frame is of a class whose name begins so. */
    public boolean isIn(String classPrefix) {
        return frames.stream().anyMatch(frame -> frame.getClassName().startsWith(classPrefix));
    }

    private static boolean isOf(String type, String className) {
        return type.startsWith(className)
                && (type.length() == className.length() || type.charAt(className.length()) == '$');
    }
}
