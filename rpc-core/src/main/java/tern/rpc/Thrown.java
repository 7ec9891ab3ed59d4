package tern.rpc;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads exceptions of unknown classes safely. Application code can override {@code getMessage}, {@code toString} and
 * {@code getCause}. The overridden methods might throw exceptions, or return the exception as its own cause. The
 * methods of this class never throw, because the call must still be completed.
 */
public final class Thrown {

    /** The maximum number of causes that are read. Any other causes are ignored. */
    private static final int MAX_CAUSES = 64;

    /**
     * An exception is long if it consists of more than {@value} exceptions: itself, its causes and its suppressed
     * exceptions.
     */
    static final int MAX_EXCEPTIONS = 64;

    private static final StackTraceElement[] NO_TRACE = {};

    private Thrown() {}

    /** Returns the message; null if the exception has no message or the message cannot be read. */
    public static @Nullable String message(Throwable thrown) {
        try {
            return thrown.getMessage();
        } catch (Throwable unreadable) {
            return null;
        }
    }

    /** Returns the result of {@code toString}; the class name if {@code toString} throws or returns null. */
    public static String text(Throwable thrown) {
        try {
            String text = thrown.toString();
            return text == null ? thrown.getClass().getName() : text;
        } catch (Throwable unreadable) {
            return thrown.getClass().getName();
        }
    }

    /** Returns the stack trace; empty if the stack trace cannot be read. */
    public static StackTraceElement[] trace(Throwable thrown) {
        try {
            StackTraceElement[] trace = thrown.getStackTrace();
            return trace == null ? NO_TRACE : trace;
        } catch (Throwable unreadable) {
            return NO_TRACE;
        }
    }

    /**
     * Returns the cause; null if the exception has no cause, is its own cause, or throws an exception from {@code
     * getCause}.
     */
    public static @Nullable Throwable cause(Throwable thrown) {
        try {
            Throwable cause = thrown.getCause();
            return cause == thrown ? null : cause;
        } catch (Throwable unreadable) {
            return null;
        }
    }

    /** Returns the first instance of the given class among the exception and its causes; null if there is none. */
    public static <T> @Nullable T find(Throwable thrown, Class<T> type) {
        Throwable next = thrown;
        for (int i = 0; next != null && i < MAX_CAUSES; i++) {
            if (type.isInstance(next)) {
                return type.cast(next);
            }
            next = cause(next);
        }
        return null;
    }

    /**
     * Returns whether an exception is long, including its causes and all suppressed exceptions. An exception is long if
     * its messages have more than {@code maxCharacters} characters in total, or if it consists of more than {@value
     * #MAX_EXCEPTIONS} exceptions. A long exception needs a lot of memory.
     *
     * @param maxCharacters the maximum total length of the messages
     */
    public static boolean isLong(Throwable thrown, long maxCharacters) {
        return !new ThrownSize(maxCharacters).fits(thrown);
    }

    /**
     * Writes a log line with the exception, or with a shortened copy if its messages are very long. Loggers call the
     * exception's own methods to get its text. If these methods throw, the line is written again with only the class
     * name and the stack trace.
     */
    public static void log(Throwable thrown, Consumer<Throwable> line) {
        try {
            line.accept(ShortenedException.of(thrown));
        } catch (Throwable unreadable) {
            try {
                Throwable instead =
                        new IllegalStateException(thrown.getClass().getName() + ", whose text cannot be read");
                instead.setStackTrace(thrown.getStackTrace());
                line.accept(instead);
            } catch (Throwable failing) {
                // The logger itself threw an exception. This exception is ignored, because completing the call is more
                // important than the log line.
            }
        }
    }
}
