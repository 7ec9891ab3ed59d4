package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import tern.rpc.pool.ApplicationFields;
import tern.rpc.spring.RpcReference;

/**
 * Warns about fields with {@link RpcReference} that are null because Spring did not create the object that contains
 * them. Without a warning, the first call would fail with a {@link NullPointerException} that does not name the cause.
 * Searches the objects in the fields of beans, including elements of collections and maps. Also searches the objects in
 * the fields of these objects.
 */
final class UninjectedReferences implements SmartInitializingSingleton {

    private static final Logger LOG = LoggerFactory.getLogger(UninjectedReferences.class);

    /** The maximum length of a chain of fields, starting at a bean, in which the search looks for references. */
    private static final int MAX_DEPTH = 3;

    private static final int MAX_OBJECTS = 10_000;

    /** Collections with more elements than this are not searched, because they are probably caches or data. */
    private static final int MAX_ELEMENTS = 100;

    /** A string that occurs in the name of every class that Mockito generates. The fields of a mock are always null. */
    private static final String MOCK = "$MockitoMock$";

    private final ConfigurableListableBeanFactory beans;

    UninjectedReferences(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        new Search().searchBeans();
    }

    private final class Search {

        private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        private final Set<String> reported = new LinkedHashSet<>();

        void searchBeans() {
            Map<Object, String> targets = new IdentityHashMap<>();
            for (String name : beans.getSingletonNames()) {
                Object bean = beans.getSingleton(name);
                if (bean != null) {
                    Object target = AopProxyUtils.getSingletonTarget(bean);
                    targets.put(target == null ? bean : target, name);
                }
            }
            seen.addAll(targets.keySet());
            Set<String> early = early();
            targets.forEach((bean, name) -> {
                if (early.contains(name)) {
                    reportEarly(bean, name);
                }
                searchFields(bean, 1);
            });
        }

        /**
         * Returns the names of the beans that Spring creates before it can inject anything: the bean factory's
         * post-processors, and the beans whose {@code @Bean} methods create these post-processors.
         */
        private Set<String> early() {
            Set<String> names = new HashSet<>();
            for (String name : beans.getBeanNamesForType(BeanFactoryPostProcessor.class, true, false)) {
                names.add(name);
                String owner = beans.containsBeanDefinition(name)
                        ? beans.getMergedBeanDefinition(name).getFactoryBeanName()
                        : null;
                if (owner != null) {
                    names.add(owner);
                }
            }
            return names;
        }

        private void searchFields(Object holder, int depth) {
            for (Class<?> type = ClassUtils.getUserClass(holder); isSearched(type); type = type.getSuperclass()) {
                for (Field field : ApplicationFields.of(type)) {
                    Object value = ApplicationFields.value(field, holder);
                    if (value instanceof Collection<?> some) {
                        searchAll(some, field, depth);
                    } else if (value instanceof Map<?, ?> map) {
                        searchAll(map.values(), field, depth);
                    } else if (value != null) {
                        search(value, field, depth);
                    }
                }
            }
        }

        private void searchAll(Collection<?> values, Field field, int depth) {
            try {
                if (values.size() <= MAX_ELEMENTS) {
                    values.forEach(value -> {
                        if (value != null) {
                            search(value, field, depth);
                        }
                    });
                }
                // A collection class of the application can throw any exception while its elements are read.
            } catch (RuntimeException e) {
                LOG.trace("{} is not searched", field, e);
            }
        }

        private void search(Object value, Field holder, int depth) {
            Class<?> type = value.getClass();
            if (depth > MAX_DEPTH || !isSearched(type) || seen.size() >= MAX_OBJECTS || !seen.add(value)) {
                return;
            }
            String empty = emptyReference(value);
            if (empty != null && reported.add(empty)) {
                LOG.warn(
                        "{} has @RpcReference, but is null in the object in {}, because Spring did not create this"
                                + " object. Let Spring create and inject it, or pass the service to its constructor"
                                + " (docs/calls.md, A reference as a bean)",
                        empty,
                        nameOf(holder));
            }
            searchFields(value, depth + 1);
        }

        private void reportEarly(Object bean, String name) {
            String empty = emptyReference(bean);
            if (empty != null) {
                LOG.warn(
                        "{} has @RpcReference, but is null, because Spring injects nothing into bean '{}': it is a"
                                + " BeanFactoryPostProcessor, or has a @Bean method that creates one and is not static",
                        empty,
                        name);
            }
        }
    }

    /**
     * Returns the name of a field that has the annotation and the value null. Returns null if there is no such field.
     */
    private static @Nullable String emptyReference(Object object) {
        for (Class<?> type = ClassUtils.getUserClass(object); isSearched(type); type = type.getSuperclass()) {
            for (Field field : ApplicationFields.of(type)) {
                if (AnnotatedElementUtils.isAnnotated(field, RpcReference.class)
                        && !Modifier.isStatic(field.getModifiers())
                        && ApplicationFields.value(field, object) == null) {
                    return nameOf(field);
                }
            }
        }
        return null;
    }

    /** Returns whether the class belongs to the application. Returns false for proxy classes. */
    private static boolean isSearched(@Nullable Class<?> type) {
        return type != null && !type.getName().contains(MOCK) && ApplicationFields.isSearched(type);
    }

    private static String nameOf(Field field) {
        return field.getDeclaringClass().getName() + "." + field.getName();
    }
}
