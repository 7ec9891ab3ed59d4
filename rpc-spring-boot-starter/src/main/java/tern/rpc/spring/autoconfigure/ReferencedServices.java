package tern.rpc.spring.autoconfigure;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ReflectionUtils;
import tern.rpc.spring.RpcReference;

/**
 * Finds the references of a bean, without creating the bean. Type variables in superclasses are resolved with the
 * bean's class. An {@code Optional} or provider that contains a service counts as the service.
 */
final class ReferencedServices {

    /** The types that the bean factory unwraps. The class of the last type might be missing from the class path. */
    private static final Set<String> WRAPPERS = Set.of(
            "java.util.Optional",
            "org.springframework.beans.factory.ObjectFactory",
            "org.springframework.beans.factory.ObjectProvider",
            "jakarta.inject.Provider");

    /**
     * An injection point of a bean.
     *
     * @param service the service's interface
     */
    record Reference(Class<?> service, RpcReference annotation) {}

    private final Class<?> bean;
    private final Set<Reference> references = new LinkedHashSet<>();

    private ReferencedServices(Class<?> bean) {
        this.bean = bean;
    }

    /**
     * Returns the service interfaces of a bean's references. Omits types that {@link RpcReferences} rejects.
     *
     * @param factory the {@code @Bean} method of the bean; null if there is none
     */
    static Set<Class<?>> of(Class<?> bean, @Nullable Method factory) {
        return references(bean, factory).stream()
                .map(Reference::service)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /**
     * Returns the references of a bean. Omits types that {@link RpcReferences} rejects.
     *
     * @param factory the {@code @Bean} method of the bean; null if there is none
     */
    static Set<Reference> references(Class<?> bean, @Nullable Method factory) {
        ReferencedServices found = new ReferencedServices(bean);
        ReflectionUtils.doWithFields(
                bean, field -> found.add(ResolvableType.forField(field, bean), field), ReferencedServices::isReference);
        ReflectionUtils.doWithMethods(bean, found::addParameters);
        for (Constructor<?> constructor : bean.getDeclaredConstructors()) {
            found.addParameters(constructor);
        }
        if (factory != null) {
            found.addParameters(factory);
        }
        return found.references;
    }

    /**
     * Returns the service interface that an injection point's type refers to; null if the type does not refer to a
     * single service.
     */
    static @Nullable Class<?> service(ResolvableType type) {
        ResolvableType service = type;
        while (WRAPPERS.contains(service.toClass().getName())) {
            service = service.getGeneric();
        }
        Class<?> raw = service.resolve();
        return raw == null || !raw.isInterface() || isContainer(raw) || ServiceInterfaces.isForeign(raw) ? null : raw;
    }

    /** Returns whether the type holds several objects. The bean factory injects all matching beans into such a type. */
    static boolean isContainer(Class<?> type) {
        return type.isArray() || Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
    }

    private void addParameters(Executable called) {
        boolean all = called instanceof Method method && method.getReturnType() == void.class && isReference(method);
        for (int i = 0; i < called.getParameterCount(); i++) {
            AnnotatedElement annotated = all ? called : called.getParameters()[i];
            if (isReference(annotated)) {
                MethodParameter parameter = MethodParameter.forExecutable(called, i);
                boolean isOfBean = called.getDeclaringClass().isAssignableFrom(bean);
                add(
                        ResolvableType.forMethodParameter(isOfBean ? parameter.withContainingClass(bean) : parameter),
                        annotated);
            }
        }
    }

    private void add(ResolvableType type, AnnotatedElement annotated) {
        RpcReference annotation = AnnotatedElementUtils.findMergedAnnotation(annotated, RpcReference.class);
        Class<?> service = annotation == null ? null : service(type);
        if (annotation != null && service != null) {
            references.add(new Reference(service, annotation));
        }
    }

    private static boolean isReference(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, RpcReference.class);
    }
}
