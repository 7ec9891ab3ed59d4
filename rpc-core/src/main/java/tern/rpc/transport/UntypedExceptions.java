package tern.rpc.transport;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;
import tern.rpc.Thrown;

/**
 * Warns if an exception that a method has thrown cannot be encoded. The caller then gets an exception of another class
 * with the same text. A caller that catches the declared class does not catch this exception.
 */
public final class UntypedExceptions {

    private static final Logger LOG = LoggerFactory.getLogger(UntypedExceptions.class);
    private static final SeldomWarning WARNING = new SeldomWarning(LOG, NanoClock.SYSTEM);

    private UntypedExceptions() {}

    /**
     * @param failure the exception that the method has thrown
     * @param reason why the exception cannot be encoded
     */
    public static void warn(Throwable failure, Throwable reason) {
        WARNING.warn(() -> "Callers do not get " + failure.getClass().getName()
                + " but another class, because the exception cannot be sent: " + Thrown.message(reason)
                + ". Mark fields that contain no data transient, and do not throw anonymous or inner classes");
    }
}
