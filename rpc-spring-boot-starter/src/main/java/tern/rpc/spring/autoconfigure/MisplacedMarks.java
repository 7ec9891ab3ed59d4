package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import tern.rpc.RpcMethod;
import tern.rpc.settings.RpcStartException;

/**
 * Finds {@link RpcMethod} annotations on methods of classes. The annotation takes effect only on methods of interfaces,
 * because callers have only the interface.
 */
final class MisplacedMarks {

    private MisplacedMarks() {}

    /**
     * Checks the methods of a class and its superclasses. A method passes if the method of the interface has an equal
     * annotation.
     *
     * @param type the class of the bean, not of its proxy
     * @throws RpcStartException if the annotation has no effect; the message names the method of the interface
     */
    static void check(String bean, Class<?> type, Set<Class<?>> services) {
        for (Class<?> owner = type; owner != null && owner != Object.class; owner = owner.getSuperclass()) {
            for (Method method : owner.getDeclaredMethods()) {
                RpcMethod mark = method.getAnnotation(RpcMethod.class);
                // Skips a method for which the compiler has generated a bridge method. The bridge method has the same
                // annotations, and its signature is the signature in the generic interface.
                if (mark != null && !isBridged(method)) {
                    check(bean, method, mark, declaration(method, services));
                }
            }
        }
    }

    private static boolean isBridged(Method method) {
        return !method.isBridge()
                && Arrays.stream(method.getDeclaringClass().getDeclaredMethods())
                        .anyMatch(other -> other.isBridge()
                                && other.getName().equals(method.getName())
                                && other.getParameterCount() == method.getParameterCount());
    }

    private static @Nullable Method declaration(Method method, Set<Class<?>> services) {
        return services.stream()
                .map(service -> ClassUtils.getMethodIfAvailable(service, method.getName(), method.getParameterTypes()))
                .filter(found -> found != null)
                .findFirst()
                .orElse(null);
    }

    private static void check(String bean, Method method, RpcMethod mark, @Nullable Method declaration) {
        if (declaration != null && mark.equals(declaration.getAnnotation(RpcMethod.class))) {
            return;
        }
        String place = method.getDeclaringClass().getName() + "." + described(method);
        String found =
                "@RpcMethod is on the method " + place + " of the class of bean '" + bean + "', where it has no effect";
        if (declaration == null) {
            throw new RpcStartException(
                    found + "; no service interface of the bean has this method",
                    "Remove the annotation, or add the method to the interface and annotate it there.",
                    null);
        }
        throw new RpcStartException(
                found,
                "Move the annotation to the method of the interface, "
                        + declaration.getDeclaringClass().getName() + "." + described(declaration) + ".",
                null);
    }

    private static String described(Method method) {
        return method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }
}
