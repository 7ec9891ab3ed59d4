package tern.rpc.evidence;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes virtual threads from platform threads. Java 17 has no virtual threads and no method that checks for
 * them.
 */
final class VirtualThreads {

    private static final @Nullable MethodHandle IS_VIRTUAL = find();

    private VirtualThreads() {}

    static boolean isVirtual(Thread thread) {
        if (IS_VIRTUAL == null) {
            return false;
        }
        try {
            return (boolean) IS_VIRTUAL.invokeExact(thread);
        } catch (Throwable e) {
            throw new IllegalStateException("Thread.isVirtual failed", e);
        }
    }

    /** Returns the name of the carrier thread on which the given virtual thread runs; null if it does not run. */
    static @Nullable String carrierOf(Thread thread) {
        // No public method returns the carrier thread, but the text of a virtual thread contains its name.
        String text = thread.toString();
        int end = text.lastIndexOf("]/");
        int at = text.indexOf('@', Math.max(0, end));
        return end < 0 || at < 0 ? null : text.substring(at + 1);
    }

    private static @Nullable MethodHandle find() {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (NoSuchMethodException | IllegalAccessException e) {
            return null; // The method Thread.isVirtual does not exist before Java 21.
        }
    }
}
