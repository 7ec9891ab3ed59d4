package tern.rpc.transport;

import org.jspecify.annotations.Nullable;
import tern.rpc.Thrown;
import tern.rpc.WireName;

/**
 * The failure of a generic call. The exception contains only text, because generic callers do not have the exception
 * classes. On the dubbo protocol, the exception has the class name that Dubbo uses (docs/wire-protocol.md 1.9).
 */
@WireName(GenericException.WIRE_NAME)
public final class GenericException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The class name by which messages identify this exception. */
    public static final String WIRE_NAME = "com.alibaba.dubbo.rpc.service.GenericException";

    private final String exceptionClass;
    private final @Nullable String exceptionMessage;

    public GenericException(Throwable failure) {
        super(failure.getClass().getName() + ": " + Thrown.message(failure), null, false, false);
        this.exceptionClass = failure.getClass().getName();
        this.exceptionMessage = Thrown.message(failure);
    }

    public String exceptionClass() {
        return exceptionClass;
    }

    public @Nullable String exceptionMessage() {
        return exceptionMessage;
    }
}
