package tern.rpc;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks at what the application has thrown. Its class may override {@code getMessage}, {@code toString} and {@code
 * getCause}, and these may throw or name the exception as its own cause. None of that may keep a call from its end, so
 * nothing here throws.
 */
public final class Thrown {

    /** Longer chains of causes are not followed. */
    private static final int MAX_CAUSES = 64;

    private static final StackTraceElement[] NO_TRACE = {};

    private Thrown() {}

    /** Its message; null if it has none, or none that can be read. */
    public static @Nullable String message(Throwable thrown) {
        try {
            return thrown.getMessage();
        } catch (Throwable unreadable) {
            return null;
        }
    }

    /** As its {@code toString}; the name of its class if that fails. */
    public static String text(Throwable thrown) {
        try {
            String text = thrown.toString();
            return text == null ? thrown.getClass().getName() : text;
        } catch (Throwable unreadable) {
            return thrown.getClass().getName();
        }
    }

    /** Its stack trace; empty if it cannot be read. */
    public static StackTraceElement[] trace(Throwable thrown) {
        try {
            StackTraceElement[] trace = thrown.getStackTrace();
            return trace == null ? NO_TRACE : trace;
        } catch (Throwable unreadable) {
            return NO_TRACE;
        }
    }

    /** Its cause; null if it has none but itself, or none that can be read. */
    public static @Nullable Throwable cause(Throwable thrown) {
        try {
            Throwable cause = thrown.getCause();
            return cause == thrown ? null : cause;
        } catch (Throwable unreadable) {
            return null;
        }
    }

    /** The first of this class among the exception and its causes; null if there is none. */
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
     * Writes a line of a log with the exception. Where that fails, since loggers ask the exception for its text, the line
     * is written with the name of its class and its trace instead.
     */
    public static void log(Throwable thrown, Consumer<Throwable> line) {
        try {
            line.accept(thrown);
        } catch (Throwable unreadable) {
            try {
                Throwable instead =
                        new IllegalStateException(thrown.getClass().getName() + ", which has no text that can be read");
                instead.setStackTrace(thrown.getStackTrace());
                line.accept(instead);
            } catch (Throwable failing) {
                // the log itself fails; what has to be done for the call is more important
            }
        }
    }
}
