package tern.rpc.diagnosis;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Recognizes virtual threads that keep their carrier thread while they wait, because they cannot leave it. */
final class PinnedCarriers {

    private static final String VIRTUAL = "java.lang.VirtualThread";

    private PinnedCarriers() {}

    /** Returns whether the thread is a virtual thread that waits on its carrier. */
    static boolean isPinned(ThreadLook thread) {
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.equals(VIRTUAL) && frame.getMethodName().equals("parkOnCarrierThread")) {
                return true;
            }
            if (!ThreadLook.isPlatform(type)) {
                return false;
            }
        }
        return false;
    }

    /** Returns the line at which most of the pinned threads were found; null if there was none. */
    static @Nullable StackTraceElement line(Collection<Sampler.Samples> all) {
        Map<StackTraceElement, Integer> lines = new HashMap<>();
        for (Sampler.Samples samples : all) {
            if (samples.pinnedAt != null) {
                lines.merge(samples.pinnedAt, 1, Integer::sum);
            }
        }
        return lines.entrySet().stream()
                .max(Map.Entry.<StackTraceElement, Integer>comparingByValue()
                        .thenComparing(entry -> entry.getKey().toString()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }
}
