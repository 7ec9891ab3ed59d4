package tern.rpc.spring.autoconfigure;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcFallback;

/** Finds the beans with {@link RpcFallback} without creating them, and excludes them from injection. */
final class FallbackBeans {

    private FallbackBeans() {}

    /**
     * Checks the fallbacks, and excludes them from injection.
     *
     * @throws RpcStartException if a fallback does not implement its interface, or if two fallbacks are declared for
     *     the same service
     */
    static void prepare(ConfigurableListableBeanFactory beans) {
        Map<ServiceKey, String> names = new HashMap<>();
        for (String name : beans.getBeanDefinitionNames()) {
            RpcFallback annotation = beans.findAnnotationOnBean(name, RpcFallback.class, false);
            if (annotation == null) {
                continue;
            }
            check(name, annotation, beans.getType(name, false));
            String other = names.putIfAbsent(key(beans, name, annotation), name);
            if (other != null) {
                throw new RpcStartException(
                        "the beans '" + other + "' and '" + name + "' are both an @RpcFallback for "
                                + key(beans, name, annotation),
                        "Give one of the two another group or version, or remove it.",
                        null);
            }
            beans.getBeanDefinition(name).setAutowireCandidate(false);
        }
    }

    private static void check(String name, RpcFallback annotation, @Nullable Class<?> type) {
        Class<?> service = annotation.forInterface();
        if (!service.isInterface()) {
            throw new RpcStartException(
                    "@RpcFallback of bean '" + name + "' is for " + service.getName() + ", which is not an interface",
                    "Name the interface of the service.",
                    null);
        }
        if (type == null || !service.isAssignableFrom(type)) {
            throw new RpcStartException(
                    "@RpcFallback of bean '" + name + "' is for " + service.getName() + ", which "
                            + (type == null ? "its type" : type.getName()) + " does not implement",
                    "Implement the interface; if a @Bean method returns another type, let it return the class.",
                    null);
        }
    }

    private static ServiceKey key(ConfigurableBeanFactory beans, String name, RpcFallback annotation) {
        return new ServiceKey(
                ServiceDescriptor.nameOf(annotation.forInterface()),
                Placeholders.resolve(beans, annotation.group(), "@RpcFallback(group) of bean '" + name + "'"),
                Placeholders.resolve(beans, annotation.version(), "@RpcFallback(version) of bean '" + name + "'"));
    }

    /**
     * Returns the fallbacks for services that no reference calls, for example because the references have a different
     * group. The keys are bean names.
     *
     * @param called the services that references call
     */
    static Map<String, ServiceKey> unused(ConfigurableListableBeanFactory beans, Set<ServiceKey> called) {
        Map<String, ServiceKey> unused = new TreeMap<>();
        for (String name : beans.getBeanDefinitionNames()) {
            RpcFallback annotation = beans.findAnnotationOnBean(name, RpcFallback.class, false);
            if (annotation != null && !called.contains(key(beans, name, annotation))) {
                unused.put(name, key(beans, name, annotation));
            }
        }
        return unused;
    }

    /**
     * Returns a supplier of a service's fallback; null if the service has no fallback. The fallback bean is created
     * when the supplier is first used.
     */
    static @Nullable Supplier<Object> of(ConfigurableBeanFactory factory, ServiceKey service) {
        if (!(factory instanceof ConfigurableListableBeanFactory beans)) {
            return null;
        }
        for (String name : beans.getBeanDefinitionNames()) {
            RpcFallback annotation = beans.findAnnotationOnBean(name, RpcFallback.class, false);
            if (annotation != null && key(beans, name, annotation).equals(service)) {
                return () -> beans.getBean(name);
            }
        }
        return null;
    }
}
