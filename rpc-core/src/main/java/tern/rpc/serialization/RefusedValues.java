package tern.rpc.serialization;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.PeerText;
import tern.rpc.SeldomWarning;
import tern.rpc.Thrown;

/**
 * Describes an exception that an application's constructor threw because of the values in a message. The description
 * omits the exception's message, because it may contain the values. The message is logged under an id that the
 * description contains. The number of log lines is limited, because the sender of a message chooses it.
 */
public final class RefusedValues {

    private static final SeldomWarning LOG =
            new SeldomWarning(LoggerFactory.getLogger(RefusedValues.class), NanoClock.SYSTEM);

    /** The packages of code that calls constructors. Exceptions from this code may contain values of the message. */
    private static final List<String> CALLERS =
            List.of("tools.jackson.", "tern.rpc.serialization.", "java.lang.reflect.", "java.lang.invoke.", "jdk.");

    private RefusedValues() {}

    /**
     * Returns the class name of the exception, with the id of the logged message if a constructor threw the exception and
     * the message was logged.
     *
     * @param where names the value that cannot be read, for the log message
     */
    public static String described(String where, Throwable thrown) {
        String name = thrown.getClass().getName();
        String message = Thrown.message(thrown);
        if (message == null || !isFromConstructor(thrown)) {
            return name;
        }
        String id = String.format("%08x", ThreadLocalRandom.current().nextInt());
        boolean logged =
                LOG.warn(() -> where + " could not be read (" + id + "): " + name + ": " + PeerText.name(message));
        return logged ? name + " (its message is logged as " + id + ")" : name;
    }

    private static boolean isFromConstructor(Throwable thrown) {
        for (StackTraceElement frame : Thrown.trace(thrown)) {
            String owner = frame.getClassName();
            if (CALLERS.stream().anyMatch(owner::startsWith)) {
                return false;
            }
            if (frame.getMethodName().equals("<init>") && !owner.startsWith("java")) {
                return true;
            }
        }
        return false;
    }
}
