package tern.rpc.server;

import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

/**
 * Which exceptions of a method leave as they are: declared ones, those of the interface's own packages, and Java's
 * standard ones, since callers surely have their classes. All others are told in words; arguments that Bean Validation
 * refuses are told with the code INVALID_ARGUMENT.
 */
final class ExceptionPolicy {

    private static final List<String> STANDARD_PACKAGES = List.of("java.", "javax.", "jakarta.");

    /** What Bean Validation throws; it holds the validated object, and callers need no more than the sentence. */
    private static final String CONSTRAINT_VIOLATION = "jakarta.validation.ConstraintViolationException";

    private ExceptionPolicy() {}

    /** What the caller is to see of this failure. */
    static Throwable outgoing(MethodDescriptor method, Throwable failure) {
        Throwable cause = unwrapped(failure);
        if (cause.getClass().getName().equals(CONSTRAINT_VIOLATION)) {
            return new RpcException(StatusCode.INVALID_ARGUMENT, String.valueOf(cause.getMessage()));
        }
        if (cause instanceof RpcException || travels(method, cause)) {
            return cause;
        }
        RuntimeException told = new RuntimeException(cause.toString());
        told.setStackTrace(cause.getStackTrace());
        return told;
    }

    /** Without what futures wrap around it. */
    static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    static boolean travels(MethodDescriptor method, Throwable failure) {
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
