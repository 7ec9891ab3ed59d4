package tern.rpc;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A copy of an exception for the log, with the same stack traces and shorter messages. An exception message often
 * contains an argument chosen by the caller, and can be several MiB long. A logger writes the messages of all causes
 * and suppressed exceptions, and can need several times as much memory as these messages occupy.
 *
 * <p>The copy's message begins with the class name of the original exception.
 */
final class ShortenedException extends Exception {

    private static final long serialVersionUID = 1L;

    /** An exception is copied if its messages have more than {@value} characters in total. */
    static final int MAX_CHARACTERS = 64 << 10;

    private ShortenedException(String text, @Nullable Throwable cause) {
        super(text, cause, true, true);
    }

    /**
     * Returns the exception itself. If the messages of the exception and its causes are too long for the log, returns a
     * shortened copy.
     */
    static Throwable of(Throwable thrown) {
        return Thrown.isLong(thrown, MAX_CHARACTERS) ? new Copy().of(thrown) : thrown;
    }

    /**
     * Copies an exception, its causes and its suppressed exceptions, until the limit on characters or exceptions is
     * reached.
     */
    private static final class Copy {
        private final Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        private int characters = MAX_CHARACTERS;

        Throwable of(Throwable thrown) {
            seen.add(thrown);
            String text = PeerText.text(Thrown.text(thrown));
            if (text.length() > characters) {
                text = PeerText.name(thrown.getClass().getName()) + " (message omitted)";
            }
            characters -= text.length();
            Throwable cause = Thrown.cause(thrown);
            ShortenedException copy = new ShortenedException(text, cause != null && hasRoom(cause) ? of(cause) : null);
            copy.setStackTrace(Thrown.trace(thrown));
            for (Throwable suppressed : thrown.getSuppressed()) {
                if (hasRoom(suppressed)) {
                    copy.addSuppressed(of(suppressed));
                }
            }
            return copy;
        }

        private boolean hasRoom(Throwable next) {
            return characters > 0 && seen.size() < Thrown.MAX_EXCEPTIONS && !seen.contains(next);
        }
    }
}
