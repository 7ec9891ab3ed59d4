package tern.rpc.serialization.hessian;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.PeerText;
import tern.rpc.SeldomWarning;
import tern.rpc.Thrown;

/**
 * Describes causes and suppressed exceptions whose classes are unknown to callers. The description omits the message,
 * because the message may contain SQL or other internals. The exception is logged together with an id, and the
 * description contains this id.
 */
final class ForeignCauses {

    private static final Logger LOG = LoggerFactory.getLogger(ForeignCauses.class);

    /**
     * Logs causes with their stack traces, at a limited rate, because logging a stack trace costs more than most calls.
     */
    private static final SeldomWarning TRACED = new SeldomWarning(LOG, NanoClock.SYSTEM, Duration.ofMillis(250));

    private static final SeldomWarning UNTRACED = new SeldomWarning(LOG, NanoClock.SYSTEM);

    private ForeignCauses() {}

    /** Returns the text to send: the class name, and the id of the log line if one was written. */
    static String described(Throwable cause) {
        String name = cause.getClass().getName();
        String traced = name
                + String.format(
                        " (logged by the server as %08x)",
                        ThreadLocalRandom.current().nextInt());
        String line = "An exception that is sent has a cause that callers do not know, so callers get " + traced;
        boolean logged = TRACED.warn(() -> line, cause)
                || UNTRACED.warn(() -> line + ": " + PeerText.name(String.valueOf(Thrown.message(cause))));
        return logged ? traced : name;
    }
}
