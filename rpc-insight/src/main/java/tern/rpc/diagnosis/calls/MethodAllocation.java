package tern.rpc.diagnosis.calls;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.pool.BodySizes;

/**
 * The memory that the threads of a method's calls allocate.
 *
 * @param bytesPerSecond the allocated bytes per second, for all calls to the method
 * @param bytesPerCall the mean number of bytes that one call allocates
 * @param usualBytesPerCall the usual value of {@code bytesPerCall}; -1 if unknown
 */
public record MethodAllocation(String method, double bytesPerSecond, double bytesPerCall, double usualBytesPerCall) {

    /** A method is named only if its calls allocate at least {@value} of the memory in question. */
    private static final double MUCH = 0.5;

    /** Calls allocate more than usual if one call allocates at least {@value} times its usual number of bytes. */
    private static final double MORE = 2;

    /** Returns whether one call allocates much more memory than usual. Returns false if the usual value is unknown. */
    public boolean hasGrown() {
        return usualBytesPerCall >= 0 && bytesPerCall >= MORE * Math.max(1, usualBytesPerCall);
    }

    /**
     * Returns the only method whose calls can allocate the given memory and allocate more than usual; null if there is
     * none, or if there are several.
     *
     * @param bytesPerSecond the memory in question
     */
    public static @Nullable MethodAllocation grown(List<MethodAllocation> all, double bytesPerSecond) {
        List<MethodAllocation> grown = all.stream()
                .filter(each -> each.hasGrown() && each.bytesPerSecond >= MUCH * bytesPerSecond)
                .toList();
        return grown.size() == 1 ? grown.get(0) : null;
    }

    /**
     * Returns the method whose calls allocate the objects that fill the heap; null if it is unknown. The allocation of a
     * method does not show whether its objects stay. A method is therefore returned only if its calls allocate much more
     * than usual, or if no other calls allocate enough.
     *
     * @param keptPerSecond the number of bytes that stay per second
     */
    public static @Nullable MethodAllocation keeping(List<MethodAllocation> all, double keptPerSecond) {
        MethodAllocation grown = grown(all, keptPerSecond);
        List<MethodAllocation> possible = all.stream()
                .filter(each -> each.bytesPerSecond >= MUCH * keptPerSecond)
                .toList();
        return grown == null && possible.size() == 1 ? possible.get(0) : grown;
    }

    /** Returns the numbers as text. */
    public String text() {
        return String.format(
                Locale.ROOT,
                "its calls allocate %.0f MB/s, %s each%s",
                bytesPerSecond / 1e6,
                BodySizes.text(bytesPerCall),
                usualBytesPerCall < 0 ? "" : ", usually " + BodySizes.text(usualBytesPerCall));
    }
}
