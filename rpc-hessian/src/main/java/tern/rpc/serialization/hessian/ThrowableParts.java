package tern.rpc.serialization.hessian;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects the fields of {@code Throwable} while an exception is read. Not thread-safe. */
final class ThrowableParts {

    /** The field names of {@code Throwable}. A {@link Shape} for an exception class lists them first, in this order. */
    static final List<String> NAMES = List.of("detailMessage", "cause", "stackTrace", "suppressedExceptions");

    private @Nullable String message;
    private @Nullable Throwable cause;
    private StackTraceElement[] frames = {};
    private List<Throwable> suppressed = List.of();

    /** Reads the values of the fields of {@code Throwable} from a message. */
    interface Source {
        @Nullable
        String readMessage();

        @Nullable
        Throwable readLinked();

        StackTraceElement[] readFrames();

        List<Throwable> readSuppressed();
    }

    void read(int place, Source source) {
        switch (place) {
            case 0 -> message = source.readMessage();
            case 1 -> cause = source.readLinked();
            case 2 -> frames = source.readFrames();
            default -> suppressed = source.readSuppressed();
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

    /**
     * Sets the received fields in an exception. The received stack trace, even if it is empty, replaces the exception's
     * own stack trace, which shows only the reading thread.
     */
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
            // The exception class sets its cause itself, so the received cause becomes a suppressed exception.
            throwable.addSuppressed(cause);
        }
    }
}
