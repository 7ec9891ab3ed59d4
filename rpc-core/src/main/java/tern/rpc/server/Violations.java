package tern.rpc.server;

import java.lang.reflect.Method;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;

/**
 * Converts violations reported by Bean Validation. If the arguments violate constraints, the caller has made a mistake.
 * If the result violates constraints, the server has made a mistake. The exceptions contain the validated objects, so
 * callers get only the messages of the exceptions. The classes are read by reflection, because Bean Validation is not
 * on every class path.
 */
final class Violations {

    /** Bean Validation's exception class. */
    private static final String VIOLATED = "jakarta.validation.ConstraintViolationException";

    /** Spring's exception class if {@code spring.validation.method.adapt-constraint-violations} is set. */
    private static final String ADAPTED = "org.springframework.validation.method.MethodValidationException";

    private static final String PACKAGE = "jakarta.validation.";

    private Violations() {}

    /** Returns whether Bean Validation reported a violation. */
    static boolean isViolation(Throwable cause) {
        String name = cause.getClass().getName();
        return name.equals(VIOLATED) || name.equals(ADAPTED);
    }

    /** Returns the failure for the caller. The code is INTERNAL if a result violates its constraints. */
    static RpcException refusal(MethodDescriptor method, Throwable cause) {
        String text = String.valueOf(Thrown.message(cause));
        return switch (place(method, cause)) {
            case ARGUMENTS -> RpcException.refusal(StatusCode.INVALID_ARGUMENT, text, Executed.NO);
            case RESULT ->
                RpcException.refusal(
                        StatusCode.INTERNAL,
                        method + " returned a value that violates its constraints: " + text,
                        Executed.YES);
            case INSIDE -> RpcException.refusal(StatusCode.INVALID_ARGUMENT, text, Executed.YES);
        };
    }

    private enum Place {
        /** The arguments of the called method, which has not run. */
        ARGUMENTS,
        /** The result of a method that has run. */
        RESULT,
        /** Another value, or the arguments of another method. These were validated while the called method ran. */
        INSIDE
    }

    private static Place place(MethodDescriptor method, Throwable cause) {
        try {
            if (cause.getClass().getName().equals(ADAPTED)) {
                boolean isResult = Boolean.TRUE.equals(call(cause.getClass(), "isForReturnValue", cause));
                Object target = call(cause.getClass(), "getTarget", cause);
                Method validated = (Method) call(cause.getClass(), "getMethod", cause);
                return isResult
                        ? Place.RESULT
                        : place(method, target == null ? null : target.getClass(), name(validated));
            }
            Set<?> violations = (Set<?>) required(call(cause.getClass(), "getConstraintViolations", cause));
            if (!violations.isEmpty()) { // All violations in one exception are of the same kind.
                Object first = violations.iterator().next();
                return place(method, cause.getClass().getClassLoader(), first);
            }
            // The exception class does not have the expected methods, for example in an unknown version of Bean
            // Validation.
        } catch (ReflectiveOperationException | RuntimeException e) {
            return Place.INSIDE;
        }
        return Place.INSIDE; // The application has created the exception itself, without violations.
    }

    /**
     * Returns the place of a violation. The path of a violation begins with the method, followed by the parameter or
     * the result.
     */
    private static Place place(MethodDescriptor method, @Nullable ClassLoader loader, Object violation)
            throws ReflectiveOperationException {
        Class<?> type = Class.forName(PACKAGE + "ConstraintViolation", false, loader);
        Class<?> node = Class.forName(PACKAGE + "Path$Node", false, loader);
        Class<?> root = (Class<?>) call(type, "getRootBeanClass", violation);
        String called = "";
        for (Object each : (Iterable<?>) required(call(type, "getPropertyPath", violation))) {
            switch (String.valueOf(call(node, "getKind", each))) {
                case "METHOD" -> called = String.valueOf(call(node, "getName", each));
                case "RETURN_VALUE" -> {
                    return Place.RESULT;
                }
                default -> {
                    return place(method, root, called);
                }
            }
        }
        return Place.INSIDE;
    }

    private static Place place(MethodDescriptor method, @Nullable Class<?> validated, String called) {
        Class<?> service = method.service().type();
        Method declared = method.javaMethod();
        boolean isCalled = service != null
                && declared != null
                && validated != null
                && service.isAssignableFrom(validated)
                && declared.getName().equals(called);
        return isCalled ? Place.ARGUMENTS : Place.INSIDE;
    }

    private static String name(@Nullable Method method) {
        return method == null ? "" : method.getName();
    }

    private static Object required(@Nullable Object value) {
        if (value == null) {
            throw new IllegalStateException("null");
        }
        return value;
    }

    private static @Nullable Object call(Class<?> type, String method, Object target)
            throws ReflectiveOperationException {
        return type.getMethod(method).invoke(target);
    }
}
