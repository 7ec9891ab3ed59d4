package tern.rpc.diagnosis.stack;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Recognizes pinned virtual threads, which occupy their carrier thread while they wait. */
public final class PinnedCarriers {

    private static final String VIRTUAL = "java.lang.VirtualThread";

    /** Since this version of Java, a virtual thread that waits to enter a synchronized block leaves its carrier. */
    private static final int LEAVES_AT_MONITORS = 24;

    private PinnedCarriers() {}

    /** Returns whether the thread is a virtual thread that occupies its carrier thread while it waits. */
    public static boolean isPinned(ThreadSnapshot thread) {
        return isPinned(thread, Runtime.version().feature());
    }

    /** @param java the version of Java */
    public static boolean isPinned(ThreadSnapshot thread, int java) {
        if (java < LEAVES_AT_MONITORS && thread.state() == Thread.State.BLOCKED && isVirtual(thread)) {
            return true;
        }
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.equals(VIRTUAL) && frame.getMethodName().equals("parkOnCarrierThread")) {
                return true;
            }
            if (!ThreadSnapshot.isPlatform(type)) {
                return false;
            }
        }
        return false;
    }

    private static boolean isVirtual(ThreadSnapshot thread) {
        return Stream.of(thread.frames()).anyMatch(frame -> frame.getClassName().equals(VIRTUAL));
    }

    /**
     * Returns the line where most of the pinned threads were found; null if there was none.
     *
     * @param pinned the line of each thread; null for threads that were not pinned
     */
    public static @Nullable StackTraceElement line(Stream<@Nullable StackTraceElement> pinned) {
        Map<StackTraceElement, Integer> lines = new HashMap<>();
        pinned.filter(Objects::nonNull).forEach(line -> lines.merge(line, 1, Integer::sum));
        return lines.entrySet().stream()
                .max(Map.Entry.<StackTraceElement, Integer>comparingByValue()
                        .thenComparing(entry -> entry.getKey().toString()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }
}
