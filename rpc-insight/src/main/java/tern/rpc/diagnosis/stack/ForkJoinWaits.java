package tern.rpc.diagnosis.stack;

import java.util.Set;

/**
 * Recognizes threads that wait for a task of a fork-join pool, such as the items of a parallel stream. While a thread
 * waits, it runs other items of the same stream. On Java 17, a thread that finds no item does not park: it searches
 * again and again until the last item has ended. Its state is then RUNNABLE, and it uses processor time.
 */
public final class ForkJoinWaits {

    private static final String POOL = "java.util.concurrent.ForkJoinPool";
    private static final String TASK = "java.util.concurrent.ForkJoinTask";

    /** The methods in which a waiting thread searches for other tasks. */
    private static final Set<String> SEARCHES = Set.of(
            "awaitDone",
            "awaitJoin",
            "externalAwaitDone",
            "helpComplete",
            "externalHelpComplete",
            "helpJoin",
            "helpAsyncBlocker");

    private ForkJoinWaits() {}

    /**
     * Returns whether a thread with the given frames waits for a task, and uses processor time to search for other
     * tasks. A thread that has parked does not search.
     */
    public static boolean isOne(StackTraceElement[] frames) {
        for (StackTraceElement frame : frames) {
            String type = frame.getClassName();
            boolean isOfPool = type.equals(POOL) || type.startsWith(POOL + "$") || type.equals(TASK);
            if (isOfPool && SEARCHES.contains(frame.getMethodName())) {
                return true;
            }
            if (!isOfPool && !isBelowSearch(frame)) {
                return false;
            }
        }
        return false;
    }

    /**
     * Returns whether the frame can be on the stack during a search for tasks, because the search reads a field or
     * gives a spin hint.
     */
    private static boolean isBelowSearch(StackTraceElement frame) {
        String type = frame.getClassName();
        return type.startsWith("java.lang.invoke.")
                || type.equals("jdk.internal.misc.Unsafe")
                || type.equals("java.lang.Thread");
    }
}
