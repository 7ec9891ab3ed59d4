package tern.rpc.server;

import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.transport.RemoteFailures;

/**
 * Decides which exceptions of a method are sent with their type: declared exceptions, exceptions from the interface's
 * package, and Java's standard exceptions, because callers have these classes. For any other exception, the caller gets
 * only the class name. Refusals by Spring Security become PERMISSION_DENIED and UNAUTHENTICATED. {@link Violations}
 * converts the violations that Bean Validation reports.
 */
final class ExceptionPolicy {

    private static final List<String> STANDARD_PACKAGES = List.of("java.", "javax.", "jakarta.");

    /**
     * Spring Security's exception classes. Class names and messages of subclasses can contain the violated rule or the
     * credentials.
     */
    private static final String ACCESS_DENIED = "org.springframework.security.access.AccessDeniedException";

    private static final String NOT_AUTHENTICATED = "org.springframework.security.core.AuthenticationException";

    /** The authentication system has failed, which is not the caller's fault. */
    private static final String AUTHENTICATION_FAILED =
            "org.springframework.security.authentication.AuthenticationServiceException";

    /**
     * The maximum number of wrappers to remove. A longer chain is probably circular, because each stage of a future
     * adds only one wrapper.
     */
    private static final int MAX_WRAPPERS = 64;

    private ExceptionPolicy() {}

    /**
     * Returns the answer to a caller whom Spring Security refused, for example because of {@code @PreAuthorize}; null
     * for any other failure. The answer omits the exception's message.
     */
    static @Nullable RpcException securityRefusal(MethodDescriptor method, Throwable cause) {
        for (Class<?> type = cause.getClass(); type != null; type = type.getSuperclass()) {
            switch (type.getName()) {
                case ACCESS_DENIED -> {
                    return RpcException.refusal(
                            StatusCode.PERMISSION_DENIED, method + " is not allowed for this caller", Executed.YES);
                }
                case NOT_AUTHENTICATED -> {
                    return RpcException.refusal(
                            StatusCode.UNAUTHENTICATED, method + " needs an authenticated caller", Executed.YES);
                }
                case AUTHENTICATION_FAILED -> {
                    return null;
                }
                default -> {}
            }
        }
        return null;
    }

    /**
     * Returns the replacement for an exception whose class is unknown to callers.
     *
     * @param withText whether the exception's message, which may contain SQL or other internals, is sent
     * @param id the id of the original exception in the log
     */
    static RuntimeException foreign(Throwable cause, boolean withText, int id) {
        RuntimeException replacement = new RuntimeException(RemoteFailures.foreignText(
                withText ? Thrown.text(cause) : cause.getClass().getName(), id));
        replacement.setStackTrace(cause.getStackTrace());
        return replacement;
    }

    /**
     * Returns advice for the server's log. The advice tells the reader how callers can get the exception's type or, if
     * answers contain no types, the exception's text. Returns an empty string for an {@link Error}, which is never
     * sent.
     */
    static String remedy(MethodDescriptor method, Throwable cause, boolean typed) {
        if (cause instanceof Error) {
            return "";
        }
        if (!typed) {
            return ". To send a text, throw an RpcException such as new RpcException(StatusCode.INVALID_ARGUMENT, text),"
                    + " or declare the exception";
        }
        String own = method.service().packageName();
        String declare = "declare it with throws in " + method.service().simpleName() + "." + method.name();
        if (!isOfApplication(method, cause)) {
            return ". To tell callers more, throw an RpcException with a code instead, such as new"
                    + " RpcException(StatusCode.NOT_FOUND, text), or " + declare + " if callers have its class";
        }
        return ". To send it with its type, " + declare
                + (own.isEmpty() ? "" : ", or move its class to the package " + own + " or below");
    }

    /**
     * Returns whether the exception's class probably belongs to the application, so that the developer could move the
     * class. Such a class name begins with the first two segments of the interface's package, such as
     * {@code com.example}.
     */
    private static boolean isOfApplication(MethodDescriptor method, Throwable cause) {
        String own = method.service().packageName();
        int second = own.indexOf('.', own.indexOf('.') + 1);
        String root = second < 0 ? own : own.substring(0, second);
        return cause.getClass().getName().startsWith(root + ".");
    }

    /** Returns the original failure, without the exceptions that futures wrap around it. */
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

    /**
     * Returns whether the failure is sent with its type or, if answers contain no types, with its text. An
     * {@link Error} is not sent, because an error describes a problem in the server process.
     */
    static boolean travels(MethodDescriptor method, Throwable failure, boolean typed) {
        if (failure instanceof Error) {
            return false;
        }
        String name = failure.getClass().getName();
        if (typed && STANDARD_PACKAGES.stream().anyMatch(name::startsWith)) {
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
