package tern.rpc.spring.autoconfigure;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.DependencyDescriptor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;

/**
 * Finds local beans that replace the remote proxy of a reference: beans that a test overrides ({@code @MockitoBean},
 * {@code @TestBean}), and {@code @Primary} beans that are not services themselves. Other local beans of the interface,
 * such as the provider, are never injected, because calls to them would bypass the network unnoticed.
 */
final class OverridingBeans {

    private static final Logger LOG = LoggerFactory.getLogger(OverridingBeans.class);

    /** The meta-annotation on all Spring test annotations that replace beans. */
    private static final String OVERRIDE = "org.springframework.test.context.bean.override.BeanOverride";

    /** A string that occurs in the name of every class that Mockito generates. */
    private static final String MOCK = "$MockitoMock$";

    private final DefaultListableBeanFactory beans;
    private final List<String> otherNames = new ArrayList<>();

    OverridingBeans(DefaultListableBeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Returns the name of the bean that replaces the reference's remote proxy; null if no bean replaces it.
     *
     * @param requestedBy the bean that contains the reference; this bean is never injected into itself
     * @throws RpcStartException if several beans are equally suitable
     */
    @Nullable
    String find(DependencyDescriptor dependency, RpcReference reference, @Nullable String requestedBy, String where) {
        List<String> unnamed = new ArrayList<>();
        List<String> sameName = new ArrayList<>();
        List<String> others = new ArrayList<>();
        for (String name : beans.getBeanNamesForType(dependency.getResolvableType(), true, false)) {
            if (name.equals(requestedBy) || holds(name, dependency) || !beans.isAutowireCandidate(name, dependency)) {
                continue;
            }
            if (!overrides(name)) {
                others.add(name);
            } else if (isNamed(name, dependency, reference)) {
                sameName.add(name);
            } else if (ownName(name) == null) {
                unnamed.add(name);
            } else {
                otherNames.add(name);
            }
        }
        List<String> found = sameName.isEmpty() ? unnamed : sameName;
        if (found.size() > 1) {
            throw new RpcStartException(
                    where + " could get each of the beans " + String.join(", ", found) + ", which override it",
                    "Give one bean the name of the field or parameter, or set name in @RpcReference to the name of"
                            + " one bean.",
                    null);
        }
        if (found.isEmpty() && !otherNames.isEmpty()) {
            LOG.info("{} gets none of the local beans {}, because they have other names", where, otherNames);
        }
        if (found.isEmpty()) {
            logOthers(where, others);
            return null;
        }
        LOG.info("{} gets the local bean '{}', which overrides the reference", where, found.get(0));
        return found.get(0);
    }

    /**
     * Logs that the reference ignores local beans that are not services, such as beans of a {@code TestConfiguration}.
     */
    private void logOthers(String where, List<String> names) {
        List<String> unused = names.stream()
                .filter(name -> ExportedBeans.annotation(beans, name) == null)
                .toList();
        if (!unused.isEmpty()) {
            LOG.info(
                    "{} makes remote calls, and does not use the local bean {}. To use a local bean instead, mark it"
                            + " @Primary, or replace it in a test with @MockitoBean or @TestBean",
                    where,
                    String.join(", ", unused));
        }
    }

    /** Returns the overriding beans of the reference's type whose name differs from the name of the reference. */
    List<String> otherNames() {
        return otherNames;
    }

    /**
     * Returns whether the bean contains the injection point. This check is needed for {@code Optional} and
     * {@code ObjectProvider}, for which the bean factory does not report the requesting bean.
     */
    private boolean holds(String name, DependencyDescriptor dependency) {
        Member place = dependency.getMember();
        if (place instanceof Method && beans.containsBeanDefinition(name)) {
            BeanDefinition definition = beans.getMergedBeanDefinition(name);
            if (definition instanceof RootBeanDefinition root && place.equals(root.getResolvedFactoryMethod())) {
                return true;
            }
        }
        Class<?> type = beans.getType(name, false);
        return type != null
                && !type.isInterface()
                && place.getDeclaringClass().isAssignableFrom(ClassUtils.getUserClass(type));
    }

    private static boolean isNamed(String bean, DependencyDescriptor dependency, RpcReference reference) {
        return Set.of(String.valueOf(dependency.getDependencyName()), reference.name())
                .contains(bean);
    }

    private boolean overrides(String name) {
        if (!beans.containsBeanDefinition(name)) {
            return isMock(name);
        }
        BeanDefinition definition = beans.getMergedBeanDefinition(name);
        return annotation(definition) != null
                || isMock(name)
                || (definition.isPrimary() && ExportedBeans.annotation(beans, name) == null);
    }

    /**
     * Returns whether the bean is a mock of an interface. A spy does not count as a mock, because its class extends the
     * class of the real bean.
     */
    private boolean isMock(String name) {
        Object made = beans.containsSingleton(name) ? beans.getSingleton(name) : null;
        return made != null
                && made.getClass().getName().contains(MOCK)
                && made.getClass().getSuperclass() == Object.class;
    }

    /**
     * Returns the name that a test gave explicitly to the overriding bean; null if the test gave no name. A named bean
     * replaces only references with the same name.
     */
    private @Nullable String ownName(String bean) {
        MergedAnnotation<?> annotation =
                beans.containsBeanDefinition(bean) ? annotation(beans.getMergedBeanDefinition(bean)) : null;
        String own = annotation == null
                ? ""
                : annotation.getValue("name", String.class).orElse("");
        return own.isEmpty() ? null : own;
    }

    private static @Nullable MergedAnnotation<?> annotation(BeanDefinition definition) {
        AnnotatedElement place = definition instanceof RootBeanDefinition root ? root.getQualifiedElement() : null;
        if (place == null) {
            return null;
        }
        return MergedAnnotations.from(place).stream()
                .filter(annotation -> annotation.getType().getName().equals(OVERRIDE))
                .map(MergedAnnotation::getMetaSource)
                .findFirst()
                .orElse(null);
    }
}
