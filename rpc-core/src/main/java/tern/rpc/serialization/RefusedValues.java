package tern.rpc.serialization;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.PeerText;
import tern.rpc.SeldomWarning;
import tern.rpc.Thrown;

/**
 * Describes an exception that application code, such as a constructor, a setter or a getter, threw while a message was
 * being read or written. The description omits the exception's message, because the message may contain values. The
 * message is logged together with an id, and the description contains this id. The number of log lines is limited,
 * because senders determine how often such exceptions occur.
 */
public final class RefusedValues {

    private static final SeldomWarning LOG =
            new SeldomWarning(LoggerFactory.getLogger(RefusedValues.class), NanoClock.SYSTEM);

    /**
     * The packages of libraries that call application code. The messages of exceptions thrown by these libraries are
     * not logged, because they may contain values.
     */
    private static final List<String> CALLERS =
            List.of("tools.jackson.", "tern.rpc.serialization.", "java.lang.reflect.", "java.lang.invoke.", "jdk.");

    /** Hibernate's exception for an association that is read after its session has ended. */
    private static final String LAZY = "LazyInitializationException";

    private static final String NOT_LOADED =
            ", because a lazy association is not loaded; load it, for example with JOIN"
                    + " FETCH, or send a record of your own";

    private RefusedValues() {}

    /**
     * Returns the class name of the exception. If application code threw the exception and its message was logged, the
     * result also contains the id of the log entry.
     *
     * @param prefix the start of the log message: it contains the name of the value that could not be read or written
     */
    public static String described(String prefix, Throwable thrown) {
        String name = thrown.getClass().getName();
        if (LAZY.equals(thrown.getClass().getSimpleName())) {
            return name + NOT_LOADED; // Hibernate's message contains no more than the path to the value.
        }
        String message = Thrown.message(thrown);
        if (message == null || !isFromApplication(thrown)) {
            return name;
        }
        String id = String.format("%08x", ThreadLocalRandom.current().nextInt());
        boolean logged = LOG.warn(() -> prefix + " (" + id + "): " + name + ": " + PeerText.name(message));
        return logged ? name + " (its message is logged as " + id + ")" : name;
    }

    private static boolean isFromApplication(Throwable thrown) {
        for (StackTraceElement frame : Thrown.trace(thrown)) {
            String owner = frame.getClassName();
            if (CALLERS.stream().anyMatch(owner::startsWith)) {
                return false;
            }
            if (!owner.startsWith("java")) {
                return true;
            }
        }
        return false;
    }
}
