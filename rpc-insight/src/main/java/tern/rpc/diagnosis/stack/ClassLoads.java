package tern.rpc.diagnosis.stack;

import java.util.function.Predicate;
import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes running threads that load a class, on behalf of the application or of a library that it has called. A
 * lookup of a class that is already loaded does not count.
 */
public final class ClassLoads {

    private ClassLoads() {}

    /** Returns whether the thread runs and is loading a class, below the application's innermost code. */
    public static boolean isOne(ThreadSnapshot thread) {
        if (thread.state() != Thread.State.RUNNABLE) {
            return false;
        }
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        for (StackTraceElement frame : thread.frames()) {
            if (application.test(frame.getClassName())) {
                return false;
            }
            String method = frame.getMethodName();
            if (ThreadSnapshot.isPlatform(frame.getClassName())
                    && (method.startsWith("defineClass") || method.equals("findClass"))) {
                return true;
            }
        }
        return false;
    }
}
