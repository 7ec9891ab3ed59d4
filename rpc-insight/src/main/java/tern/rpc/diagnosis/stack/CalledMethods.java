package tern.rpc.diagnosis.stack;

import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.ApplicationFrames;

/**
 * Reads from a stack which method the application calls, and whether it calls the method directly or through a library.
 */
public final class CalledMethods {

    private static final String CLIENT = "tern.rpc.client.";
    private static final String REFERENCE = CLIENT + "ServiceProxy";

    private CalledMethods() {}

    /**
     * Returns the method called by the application's innermost frame, as simple class name and method name. Returns
     * null if that frame does not call a method, or if the stack contains no frame of the application and no known work
     * of a framework. If there is specific advice for a method further inside, returns that method. Such a method says
     * more about the cause than the method that the application calls directly, which often serves several purposes. If
     * the stack shows work of a framework and no application code, any advice for computing code is sufficient. If
     * there is no advice, returns the first method that does more than pass the work on. If the
     * thread waits while it iterates over a collection or a stream, returns the method that is called for the element.
     */
    public static @Nullable String of(ThreadSnapshot thread) {
        StackTraceElement[] frames = thread.frames();
        ApplicationFrames application = ApplicationFrames.of(frames);
        int work = application.firstIndex() < 0 ? FrameworkWork.indexIn(frames) : -1;
        boolean isFrameworks = work >= 0 && !FrameworkWork.isOfBody(frames[work]);
        String sleeping = LibrarySleeps.of(thread);
        String direct = null;
        String advised = null;
        String inner = null;
        String iterating = null;
        for (int i = Math.max(work, application.firstIndex()) - 1; i >= 0; i--) {
            String type = frames[i].getClassName();
            if (!application.owns(i) && !isHidden(type)) {
                String called = ApplicationCode.method(frames[i]);
                if (Hints.isTelling(called)) {
                    return called;
                }
                if (!thread.computes() && TaskWaits.isIteration(frames[i])) {
                    iterating = iterating == null ? called : iterating;
                    continue;
                }
                direct = direct == null ? called : direct;
                boolean isAdvised = isFrameworks
                        && thread.computes()
                        && !Hints.computing(called).isEmpty();
                advised = advised == null && isAdvised ? called : advised;
                inner = inner == null && isFrameworks && !FrameworkWork.isGlue(type) ? called : inner;
            }
        }
        String outer = Stream.of(advised, inner, direct, iterating)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
        return sleeping == null || outer == null ? outer : sleeping;
    }

    /**
     * Returns the remote method that the thread calls through a Tern reference. Returns an empty string if the thread
     * is waiting for the future of an asynchronous method, and null if it calls no remote method.
     */
    public static @Nullable String remote(ThreadSnapshot thread) {
        StackTraceElement[] frames = thread.frames();
        for (int i = 1; i < frames.length; i++) {
            if (frames[i - 1].getClassName().equals(REFERENCE)
                    && !frames[i].getClassName().equals(REFERENCE)) {
                return frames[i].getMethodName(); // the proxy's method has the same name as the remote method
            }
        }
        Predicate<String> application = ApplicationCode.ownerIn(frames);
        return Stream.of(frames)
                        .map(StackTraceElement::getClassName)
                        .takeWhile(application.negate())
                        .anyMatch(type -> type.startsWith(CLIENT))
                ? ""
                : null;
    }

    /** Returns whether the application's innermost frame calls the JDK directly, without a library in between. */
    public static boolean waitsByItself(ThreadSnapshot thread) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (application.test(type)) {
                return true;
            }
            if (!ThreadSnapshot.isPlatform(type) && !isHidden(type)) {
                return false;
            }
        }
        return false;
    }

    /**
     * Returns whether a frame between the application and a library carries no information, such as a frame of a proxy,
     * a lambda form or reflection. The class {@code Proxy} itself is on a stack only while it makes a proxy class.
     */
    private static boolean isHidden(String type) {
        return type.contains("$$")
                || type.contains("CGLIB")
                || type.startsWith("jdk.internal.reflect.")
                || (type.startsWith("java.lang.reflect.") && !type.equals("java.lang.reflect.Proxy"))
                || type.startsWith("java.lang.invoke.")
                || type.startsWith("org.springframework.aop.")
                || type.startsWith("jdk.proxy")
                || type.startsWith("com.sun.proxy.");
    }
}
