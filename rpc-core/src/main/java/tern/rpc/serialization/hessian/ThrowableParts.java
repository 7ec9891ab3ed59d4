package tern.rpc.serialization.hessian;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The fields of {@code Throwable} while an exception is read. Not thread-safe. */
final class ThrowableParts {

    /** In this order they come first among the names of a shape. */
    static final List<String> NAMES = List.of("detailMessage", "cause", "stackTrace", "suppressedExceptions");

    private @Nullable String message;
    private @Nullable Throwable cause;
    private StackTraceElement[] frames = {};
    private List<Throwable> suppressed = List.of();

    void read(int place, LinkedThrowables throwables) {
        switch (place) {
            case 0 -> message = throwables.readMessage();
            case 1 -> cause = throwables.readLinked();
            case 2 -> frames = throwables.readFrames();
            default -> suppressed = throwables.readSuppressed();
        }
    }

    @Nullable
    String message() {
        return message;
    }

    @Nullable
    Throwable cause() {
        return cause;
    }

    /** The frames are those that came, be it none: those of the reading thread say nothing. */
    <T extends Throwable> T addTo(T throwable) {
        if (cause != null && throwable.getCause() == null) {
            initCause(throwable, cause);
        }
        throwable.setStackTrace(frames);
        suppressed.stream().filter(one -> one != throwable).forEach(throwable::addSuppressed);
        return throwable;
    }

    private static void initCause(Throwable throwable, Throwable cause) {
        try {
            throwable.initCause(cause);
        } catch (IllegalStateException | IllegalArgumentException fixed) {
            // Its class determines the cause itself.
            throwable.addSuppressed(cause);
        }
    }
}
