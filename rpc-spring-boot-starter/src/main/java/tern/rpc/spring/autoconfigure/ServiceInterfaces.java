package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import tern.rpc.settings.RpcStartException;

/** Finds the interfaces of a bean that are services. */
final class ServiceInterfaces {

    /**
     * The prefixes of packages whose interfaces are never exported. Libraries that generate classes, such as mocks and
     * proxies, add their own interfaces to these classes.
     */
    private static final Set<String> FOREIGN = Set.of(
            "java",
            "javax",
            "jakarta",
            "jdk",
            "org.springframework",
            "kotlin",
            "groovy",
            "org.mockito",
            "org.easymock",
            "io.mockk",
            "net.bytebuddy",
            "net.sf.cglib",
            "javassist",
            "org.aopalliance",
            "org.aspectj");

    /**
     * The package prefixes of libraries. Library interfaces, such as {@code reactor.core.Disposable}, are exported only
     * if the annotation or the {@code @Bean} method names them, or if the bean's class has the same prefix.
     */
    private static final Set<String> LIBRARIES = Set.of(
            "com.fasterxml",
            "com.google",
            "io.grpc",
            "io.micrometer",
            "io.netty",
            "io.opentelemetry",
            "org.apache",
            "org.hibernate",
            "org.quartz",
            "org.reactivestreams",
            "org.slf4j",
            "reactor",
            "tools.jackson");

    /**
     * The package prefixes of sample applications. The interfaces in these packages are treated like the interfaces of
     * any application.
     */
    private static final Set<String> SAMPLES = Set.of("org.apache.dubbo", "org.springframework.samples");

    private ServiceInterfaces() {}

    /**
     * Returns the interfaces that the annotation of a bean names.
     *
     * @param own the bean's class
     */
    static Set<Class<?>> named(String name, Class<?> own, Class<?>[] named) {
        for (Class<?> service : named) {
            if (!service.isAssignableFrom(own)) {
                throw new RpcStartException(
                        "@RpcService of bean '" + name + "' names " + service.getName() + ", which " + own.getName()
                                + " does not implement",
                        "Implement the interface, or remove it from interfaces.",
                        null);
            }
        }
        // The set removes duplicates, because the annotation can name an interface twice.
        return new LinkedHashSet<>(Arrays.asList(named));
    }

    /**
     * Returns all interfaces of a bean that are services.
     *
     * @param own the bean's class
     * @param declared the type that the {@code @Bean} method declares; if this type is a library interface, it is
     *     exported
     */
    static Set<Class<?>> all(String name, Class<?> own, @Nullable Class<?> declared) {
        Set<Class<?>> services =
                // The set from ClassUtils might be immutable, so it is copied.
                new LinkedHashSet<>(ClassUtils.getAllInterfacesForClassAsSet(own));
        services.removeIf(
                type -> isForeign(type) || (isOfLibrary(type, own) && !type.equals(declared)) || !hasMethods(type));
        services.removeAll(services.stream()
                .filter(type -> isGenericBase(type, own, services))
                .toList());
        if (services.isEmpty()) {
            throw new RpcStartException(
                    "Bean '" + name + "' is an @RpcService, but " + own.getName() + " implements no service interface",
                    "Implement an interface of your own, or name an interface of a library in @RpcService(interfaces)."
                            + " If a @Bean method returns another type, let it return the class.",
                    null);
        }
        return services;
    }

    /** Returns whether the type belongs to Java or to a framework and is therefore not a service of the application. */
    static boolean isForeign(Class<?> type) {
        return !isSample(type) && FOREIGN.stream().anyMatch(root -> isIn(root, type));
    }

    private static boolean isOfLibrary(Class<?> type, Class<?> own) {
        return !isSample(type) && LIBRARIES.stream().anyMatch(root -> isIn(root, type) && !isIn(root, own));
    }

    private static boolean isSample(Class<?> type) {
        return SAMPLES.stream().anyMatch(root -> isIn(root, type));
    }

    /** Returns whether the type belongs to the package or to a package below it. */
    static boolean isIn(String root, Class<?> type) {
        return type.getName().startsWith(root + ".");
    }

    /**
     * Returns true if a superclass implements the generic interface and another service interface of the bean extends
     * it. In this case, the generic interface is not exported: only the other interface sets the type parameter, and a
     * second bean with the same superclass would export the generic interface again.
     */
    private static boolean isGenericBase(Class<?> type, Class<?> own, Set<Class<?>> services) {
        return type.getTypeParameters().length > 0
                && !Arrays.asList(own.getInterfaces()).contains(type)
                && services.stream().anyMatch(other -> other != type && type.isAssignableFrom(other));
    }

    /** Returns whether the interface has methods. Marker interfaces have no methods and are not exported. */
    private static boolean hasMethods(Class<?> type) {
        return Arrays.stream(type.getMethods()).anyMatch(method -> !Modifier.isStatic(method.getModifiers()));
    }
}
