package tern.rpc.diagnosis.stack;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes waits for a task from waits for another program. The distinction is based on the JDK method in which
 * application code waits.
 */
public final class TaskWaits {

    /** Matches the methods that wait for a task of an executor. */
    private static final Pattern TASK = Pattern.compile("(FutureTask|ForkJoinTask)\\.(get|join|invoke).*"
            + "|.*Executor(Service)?\\.invoke(All|Any)"
            + "|ForkJoinPool\\.invoke.*"
            + "|ExecutorCompletionService\\.(take|poll)");

    /** Matches the methods that wait for another program. */
    private static final Pattern PROGRAM = Pattern.compile("(Process|ProcessImpl|UNIXProcess)\\..*");

    /** Matches the methods of the JDK that call other code for each element of a collection or stream. */
    private static final Pattern ITERATION = Pattern.compile(
            "java\\.util\\.stream\\..*|java\\.(util|lang)\\..*\\.(forEach|forEachRemaining|tryAdvance)");

    private TaskWaits() {}

    /**
     * Returns whether the code waits for a task of an executor. Other waits, such as for a latch or for an answer from
     * a message broker, say nothing about an executor.
     *
     * @param called the method, with the simple name of its class; null if unknown
     */
    public static boolean isForTask(@Nullable String called) {
        return called != null && TASK.matcher(called).matches();
    }

    /** Returns whether the code waits for a task of an executor, or for a future that a task may complete. */
    public static boolean isForTaskOrFuture(@Nullable String called) {
        return isForTask(called) || (called != null && called.startsWith("CompletableFuture."));
    }

    /** Returns whether the code is waiting for another program rather than for a task. */
    public static boolean isForProgram(@Nullable String called) {
        return called != null && PROGRAM.matcher(called).matches();
    }

    /** Returns whether the frame only calls other code for each element of a collection or stream. */
    static boolean isIteration(StackTraceElement frame) {
        return ITERATION
                .matcher(frame.getClassName() + "." + frame.getMethodName())
                .matches();
    }
}
