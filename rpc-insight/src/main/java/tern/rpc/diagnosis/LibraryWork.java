package tern.rpc.diagnosis;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.Part.Kind;
import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes what a library or the JDK does for the application's code while the thread waits, if the wait itself would
 * mislead: a logger that waits for its lock, its queue or its file, and a class loader that waits for its lock.
 */
final class LibraryWork {

    /** The end of the name of a part in which the queue of a logger is full. */
    static final String FULL_QUEUE = ", whose queue is full";

    private static final List<String> LOGGERS = List.of(
            "org.apache.logging.log4j.",
            "org.apache.log4j.",
            "ch.qos.logback.",
            "ch.qos.reload4j.",
            "java.util.logging.",
            "org.jboss.logmanager.");

    /** Matches methods that wait until a queue has room. */
    static final Pattern FILLS = Pattern.compile("(?:(?:Queue|Deque)\\.(?:put|offer|transfer)(?:First|Last)?"
            + "|(?:RingBuffer|Sequencer)\\.(?:next|publishEvent)"
            // Of the threads that log to a full ring of Log4j, one waits for room, and the others for its lock.
            + "|AsyncLogger(?:Disruptor)?\\.enqueueLogMessageWhenQueueFull|AsyncLoggerConfigDisruptor\\.enqueue)$");

    private LibraryWork() {}

    /**
     * Returns what a library does for the code of the application; null if its wait does not mislead.
     *
     * @param at the application's innermost method
     */
    static @Nullable Part of(ThreadLook thread, String at) {
        if (thread.computes()) {
            return null;
        }
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        boolean isFull = false;
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            // Valves and filters of loggers are outside of the code that a request runs.
            boolean isServer = type.startsWith("org.apache.catalina.")
                    || frame.getMethodName().startsWith("doFilter");
            if (isServer || application.test(type)) {
                return null;
            }
            isFull |= FILLS.matcher(StackReader.simple(type) + "." + frame.getMethodName())
                    .find();
            if (LOGGERS.stream().anyMatch(type::startsWith)) {
                return new Part(Kind.LOG, StackReader.CALLED + at + (isFull ? FULL_QUEUE : ""));
            }
            boolean loads = type.equals("java.lang.ClassLoader")
                    && frame.getMethodName().equals("loadClass");
            if (loads && thread.state() == Thread.State.BLOCKED && !thread.isDeadlocked()) {
                return new Part(Kind.CLASS_LOADING, at);
            }
        }
        return null;
    }
}
