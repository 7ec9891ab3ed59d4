package tern.rpc;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/** Adds up the text lengths of an exception, its causes and all suppressed exceptions. Not thread-safe. */
final class ThrownSize {

    private final Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private long charactersLeft;

    ThrownSize(long maxCharacters) {
        this.charactersLeft = maxCharacters;
    }

    /** Adds an exception. Returns false if the messages are too long, or if there are too many exceptions. */
    boolean fits(Throwable thrown) {
        Throwable next = thrown;
        while (next != null && seen.add(next)) {
            charactersLeft -= length(next);
            if (charactersLeft < 0 || seen.size() > Thrown.MAX_EXCEPTIONS) {
                return false;
            }
            for (Throwable suppressed : next.getSuppressed()) {
                if (!fits(suppressed)) {
                    return false;
                }
            }
            next = Thrown.cause(next);
        }
        return true;
    }

    /** Returns the length of the exception's message, or of the result of {@code toString} if this result is longer. */
    private long length(Throwable thrown) {
        String message = Thrown.message(thrown);
        int length = message == null ? 0 : message.length();
        // The result of toString usually contains the message. A very long message is not copied, because only its
        // length is needed.
        return length > charactersLeft
                ? length
                : Math.max(length, Thrown.text(thrown).length());
    }
}
