package tern.rpc.server;

import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.transport.RemoteFailures;

/**
 * Which exceptions of a method leave as they are: declared ones, those of the interface's own packages, and Java's
 * standard ones, since callers surely have their classes. Of all others the name of the class is told; arguments that
 * Bean Validation refuses are told with the code INVALID_ARGUMENT.
 */
final class ExceptionPolicy {

    private static final List<String> STANDARD_PACKAGES = List.of("java.", "javax.", "jakarta.");

    /** What Bean Validation throws; it holds the validated object, and callers need no more than the sentence. */
    private static final String CONSTRAINT_VIOLATION = "jakarta.validation.ConstraintViolationException";

    /** A stage adds one; more than so many are wrapped around each other in a circle. */
    private static final int MAX_WRAPPERS = 64;

    private ExceptionPolicy() {}

    /** Whether Bean Validation refused an argument or a result, which is the caller's matter. */
    static boolean isViolation(Throwable cause) {
        return cause.getClass().getName().equals(CONSTRAINT_VIOLATION);
    }

    static RpcException violation(Throwable cause) {
        return RpcException.refusal(StatusCode.INVALID_ARGUMENT, String.valueOf(Thrown.message(cause)), Executed.YES);
    }

    /**
     * What stands on the wire for an exception that callers have no class of.
     *
     * @param withText whether its text travels, which may hold SQL or the like
     * @param id under which it is logged
     */
    static RuntimeException foreign(Throwable cause, boolean withText, int id) {
        RuntimeException told = new RuntimeException(RemoteFailures.foreignText(
                withText ? Thrown.text(cause) : cause.getClass().getName(), id));
        told.setStackTrace(cause.getStackTrace());
        return told;
    }

    /** Without what futures wrap around it. */
    static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; i < MAX_WRAPPERS && isWrapper(cause); i++) {
            Throwable inner = Thrown.cause(cause);
            if (inner == null) {
                return cause;
            }
            cause = inner;
        }
        return cause;
    }

    private static boolean isWrapper(Throwable failure) {
        return failure instanceof CompletionException || failure instanceof ExecutionException;
    }

    /** Errors do not: what is wrong with this process is not wrong with that of the caller. */
    static boolean travels(MethodDescriptor method, Throwable failure) {
        if (failure instanceof Error) {
            return false;
        }
        String name = failure.getClass().getName();
        if (STANDARD_PACKAGES.stream().anyMatch(name::startsWith)) {
            return true;
        }
        for (Class<?> declared : method.exceptions()) {
            if (declared != Exception.class && declared != Throwable.class && declared.isInstance(failure)) {
                return true;
            }
        }
        String own = method.service().packageName();
        return !own.isEmpty() && name.startsWith(own + ".");
    }
}
