package tern.rpc.spring.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import tern.rpc.RpcMethod;
import tern.rpc.WireName;
import tern.rpc.settings.RpcStartException;

/**
 * Finds {@link RpcMethod} and {@link WireName} annotations on the classes of services and their methods. These
 * annotations take effect only on interfaces and their methods, because callers have only the interface.
 */
final class MisplacedMarks {

    private static final List<Class<? extends Annotation>> OF_METHODS = List.of(RpcMethod.class, WireName.class);

    private MisplacedMarks() {}

    /**
     * Checks the annotations of a class, its superclasses and their methods. An annotation is accepted if the interface
     * or its method has an equal annotation.
     *
     * @param type the bean's own class, not the class of its proxy
     * @throws RpcStartException if the annotation has no effect; the message names the method of the interface
     */
    static void check(String bean, Class<?> type, Set<Class<?>> services) {
        for (Class<?> owner = type; owner != null && owner != Object.class; owner = owner.getSuperclass()) {
            checkName(bean, owner, services);
            for (Method method : owner.getDeclaredMethods()) {
                for (Class<? extends Annotation> annotation : OF_METHODS) {
                    Annotation mark = method.getAnnotation(annotation);
                    // Skips a method if the compiler has generated a bridge method for it. The bridge method is checked
                    // instead: it has the same annotations, and its signature is the signature in the generic
                    // interface.
                    if (mark != null && !isBridged(method)) {
                        check(bean, method, mark, declaration(method, services));
                    }
                }
            }
        }
    }

    private static void checkName(String bean, Class<?> owner, Set<Class<?>> services) {
        WireName name = owner.getAnnotation(WireName.class);
        if (name == null
                || services.isEmpty()
                || services.stream().anyMatch(service -> name.equals(service.getAnnotation(WireName.class)))) {
            return;
        }
        throw new RpcStartException(
                "@WireName is on the class " + owner.getName() + " of bean '" + bean + "', where it has no effect",
                "Move the annotation to the interface, "
                        + services.stream().map(Class::getName).collect(Collectors.joining(" or ")) + ".",
                null);
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

    private static void check(String bean, Method method, Annotation mark, @Nullable Method declaration) {
        if (declaration != null && mark.equals(declaration.getAnnotation(mark.annotationType()))) {
            return;
        }
        String place = method.getDeclaringClass().getName() + "." + described(method);
        String found = "@" + mark.annotationType().getSimpleName() + " is on the method " + place
                + " of the class of bean '" + bean + "', where it has no effect";
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
