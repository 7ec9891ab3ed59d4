package tern.rpc.diagnosis.machine;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.pool.ApplicationCode;

/**
 * Code that requests a garbage collection by calling {@code System.gc()}.
 *
 * @param place the application code that calls {@code System.gc()}, or the innermost code outside of {@code java.lang}
 *     if there is none
 * @param thread the common name of the threads that run the code
 */
public record CollectionCaller(String place, String thread, Reason reason) {

    /** The reason why code makes the JVM collect garbage. */
    public enum Reason {
        /** The code calls {@code System.gc()} itself or through a library. */
        CODE,
        /** The memory for direct buffers is exhausted. */
        DIRECT_BUFFERS,
        /** The distributed garbage collector of RMI collects periodically. */
        RMI
    }

    /** Returns the code and its thread for a diagnosis. */
    public String shown() {
        return place + " (thread " + thread + ")";
    }

    /**
     * Returns the caller that the given stack of a requested collection shows; null if the stack is empty.
     *
     * @param frames the frames of the stack, the innermost first
     * @param thread the common name of the threads
     */
    static @Nullable CollectionCaller of(List<StackTraceElement> frames, String thread) {
        StackTraceElement application = ApplicationCode.first(frames.toArray(StackTraceElement[]::new));
        StackTraceElement library = null;
        Reason reason = Reason.CODE;
        for (StackTraceElement frame : frames) {
            String type = frame.getClassName();
            if (type.equals("java.nio.Bits")) {
                reason = Reason.DIRECT_BUFFERS;
            } else if (type.startsWith("sun.rmi.transport.")) {
                reason = Reason.RMI;
            }
            library = library == null && !type.startsWith("java.lang.") ? frame : library;
        }
        StackTraceElement place = application != null ? application : library;
        return place == null ? null : new CollectionCaller(ApplicationCode.shown(place), thread, reason);
    }
}
