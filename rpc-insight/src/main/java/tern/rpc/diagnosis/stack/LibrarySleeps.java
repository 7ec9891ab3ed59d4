package tern.rpc.diagnosis.stack;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.pool.ApplicationCode;

/** Finds the library that makes a thread sleep, such as an HTTP client that waits before it retries a request. */
final class LibrarySleeps {

    private static final String SLEEP = "sleep";

    private LibrarySleeps() {}

    /**
     * Returns the library's method that sleeps, as simple class name and method name. Returns null if the thread does
     * not sleep, or if the library that the application called directly sleeps itself.
     */
    static @Nullable String of(ThreadSnapshot thread) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        StackTraceElement sleeping = null;
        StackTraceElement called = null;
        boolean sleeps = false;
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (application.test(type)) {
                break;
            }
            if (ThreadSnapshot.isPlatform(type)) {
                sleeps |= called == null && type.equals("java.lang.Thread") && isSleep(frame);
            } else if (sleeps) {
                sleeping = sleeping == null && !isSleep(frame) ? frame : sleeping;
                called = frame;
            } else {
                return null;
            }
        }
        return sleeping == null || called == null || library(sleeping).equals(library(called))
                ? null
                : ApplicationCode.method(sleeping);
    }

    private static boolean isSleep(StackTraceElement frame) {
        return frame.getMethodName().startsWith(SLEEP);
    }

    /** Returns the first two parts of the package's name. */
    private static String library(StackTraceElement frame) {
        String[] parts = frame.getClassName().split("\\.", 3);
        return parts.length < 3 ? frame.getClassName() : parts[0] + "." + parts[1];
    }
}
