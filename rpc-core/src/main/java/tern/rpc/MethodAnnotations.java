package tern.rpc;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds annotations on the methods of service interfaces. */
final class MethodAnnotations {

    private static final Pattern NAME = Pattern.compile("[^\\s\\p{Cntrl}/?#]+");

    private MethodAnnotations() {}

    /**
     * Returns the annotation of the method. If the method has no annotation, returns the annotation of the overridden
     * method in a super-interface, because redeclaring a method does not change its meaning.
     */
    static <A extends Annotation> @Nullable A of(Method method, Class<A> annotation) {
        A own = method.getAnnotation(annotation);
        return own != null ? own : inherited(method.getDeclaringClass(), method, annotation);
    }

    private static <A extends Annotation> @Nullable A inherited(Class<?> type, Method method, Class<A> annotation) {
        for (Class<?> parent : type.getInterfaces()) {
            A found = declared(parent, method, annotation);
            if (found == null) {
                found = inherited(parent, method, annotation);
            }
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private static <A extends Annotation> @Nullable A declared(Class<?> type, Method method, Class<A> annotation) {
        try {
            return type.getDeclaredMethod(method.getName(), method.getParameterTypes())
                    .getAnnotation(annotation);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    /**
     * Checks that a name on the wire can be part of a path.
     *
     * @param where the interface or method, for the error message
     * @throws IllegalArgumentException if the name is empty, or contains a space or a character that separates the
     *     parts of a path
     */
    static void check(@Nullable WireName name, String where) {
        if (name != null && !NAME.matcher(name.value()).matches()) {
            throw new IllegalArgumentException("@WireName of " + where + " is '" + name.value()
                    + "'; expected a name without spaces and slashes, as in a .proto file");
        }
    }

    /**
     * Checks that {@link RpcMethod} is used only on methods that can be called remotely.
     *
     * @throws IllegalArgumentException if a static or private method of the interface has the annotation
     */
    static void check(Class<?> service) {
        for (Method method : service.getDeclaredMethods()) {
            boolean isCalled = (method.getModifiers() & (Modifier.STATIC | Modifier.PRIVATE)) == 0;
            if (!isCalled && method.isAnnotationPresent(RpcMethod.class)) {
                throw new IllegalArgumentException(service.getSimpleName() + "." + method.getName() + " is "
                        + (Modifier.isStatic(method.getModifiers()) ? "static" : "private")
                        + ", so it is never called remotely, and @RpcMethod has no effect; remove the annotation");
            }
        }
        for (Class<?> parent : service.getInterfaces()) {
            check(parent);
        }
    }
}
