package tern.rpc.diagnosis.stack;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes waits in loggers and class loaders. A logger may wait for its lock, its queue or its file, and a class
 * loader for its lock. Reporting such a wait as a wait for an application lock would be misleading.
 */
public final class LibraryWork {

    /** The name suffix of waits for a logger's full queue. */
    public static final String FULL_QUEUE = ", whose queue is full";

    private static final List<String> LOGGERS = List.of(
            "org.apache.logging.log4j.",
            "org.apache.log4j.",
            "ch.qos.logback.",
            "ch.qos.reload4j.",
            "java.util.logging.",
            "org.jboss.logmanager.");

    /** Matches methods that wait until a queue has a free slot. */
    static final Pattern FILLS = Pattern.compile("(?:(?:Queue|Deque)\\.(?:put|offer|transfer)(?:First|Last)?"
            + "|(?:RingBuffer|Sequencer)\\.(?:next|publishEvent)"
            // If Log4j's ring buffer is full, one thread waits for a free slot while it holds a lock. The other threads
            // wait for this lock.
            + "|AsyncLogger(?:Disruptor)?\\.enqueueLogMessageWhenQueueFull|AsyncLoggerConfigDisruptor\\.enqueue)$");

    /** Matches the classes of loggers that write to a file, the console or a network. */
    private static final Pattern WRITES = Pattern.compile("(?:Appender|Manager|Handler|AppenderBase)$");

    /** Matches the classes of loggers that search a stack for the line that logs. */
    private static final Pattern LOCATIONS = Pattern.compile("\\.(?:StackLocator(?:Util)?|CallerData)$");

    private LibraryWork() {}

    /**
     * Returns the class of the logger that writes the lines of the given thread, such as {@code TcpSocketManager}. If
     * the thread is waiting for a lock of a logger, this is the class of the lock. Otherwise it is the innermost such
     * class on the stack. Returns null if there is none.
     */
    public static @Nullable String appender(ThreadSnapshot thread) {
        if (thread.lock() != null && isLogger(thread.lock())) {
            return ThreadSnapshot.simple(thread.lock());
        }
        for (StackTraceElement frame : thread.frames()) {
            String type = ThreadSnapshot.simple(frame.getClassName());
            if (isLogger(frame.getClassName()) && WRITES.matcher(type).find()) {
                return type;
            }
        }
        return null;
    }

    /**
     * Returns whether a logger searches the stack of the thread for the line that logs. A logger searches the stack
     * only if the pattern of an appender contains the class, the method or the line.
     */
    public static boolean findsLocation(ThreadSnapshot thread) {
        for (StackTraceElement frame : thread.frames()) {
            if (LOCATIONS.matcher(frame.getClassName()).find()) {
                return true;
            }
            if (ApplicationCode.owns(frame.getClassName())) {
                return false;
            }
        }
        return false;
    }

    private static boolean isLogger(String type) {
        return LOGGERS.stream().anyMatch(type::startsWith);
    }

    /**
     * Returns the thread's wait in a logger or a class loader; null if the thread does not wait in one.
     *
     * @param at the application's innermost method
     */
    static @Nullable Part of(ThreadSnapshot thread, String at) {
        if (thread.computes()) {
            return null;
        }
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        boolean isFull = false;
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            // A servlet filter or Tomcat valve of a logging library calls the code that handles the request. A thread
            // inside this code does not wait for the logger.
            boolean isServer = type.startsWith("org.apache.catalina.")
                    || frame.getMethodName().startsWith("doFilter");
            if (isServer || application.test(type)) {
                return null;
            }
            isFull |= FILLS.matcher(ThreadSnapshot.simple(type) + "." + frame.getMethodName())
                    .find();
            if (isLogger(type)) {
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
