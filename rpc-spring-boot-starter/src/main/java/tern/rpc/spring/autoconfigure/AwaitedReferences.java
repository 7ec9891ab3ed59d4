package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;
import tern.rpc.spring.autoconfigure.ReferencedServices.Reference;

/** The references of beans that do not exist yet, such as lazy beans and prototypes. Creates no beans. */
final class AwaitedReferences {

    private static final Logger LOG = LoggerFactory.getLogger(AwaitedReferences.class);

    private final Set<Reference> known = new LinkedHashSet<>();
    // false if a @Bean method hides the class of at least one bean, so that the references of this bean are unknown
    private boolean areAllKnown = true;

    private AwaitedReferences() {}

    static AwaitedReferences in(ConfigurableListableBeanFactory beans) {
        AwaitedReferences found = new AwaitedReferences();
        for (String name : beans.getBeanDefinitionNames()) {
            if (!beans.containsSingleton(name)) {
                found.addIfKnown(beans, name);
            }
        }
        return found;
    }

    /**
     * Returns the references of all beans, including beans that exist. Each value in the map is the name of the first
     * bean with this reference.
     */
    static Map<Reference, String> inAll(ConfigurableListableBeanFactory beans) {
        Map<Reference, String> all = new LinkedHashMap<>();
        for (String name : beans.getBeanDefinitionNames()) {
            AwaitedReferences found = new AwaitedReferences();
            found.addIfKnown(beans, name);
            found.known.forEach(reference -> all.putIfAbsent(reference, name));
        }
        return all;
    }

    private void addIfKnown(ConfigurableListableBeanFactory beans, String name) {
        try {
            add(beans, name);
        } catch (RuntimeException | LinkageError e) {
            // The class might refer to a missing library. Spring reports the missing library when the bean is needed.
            LOG.debug("The references of bean '{}' are not known before it is created", name, e);
        }
    }

    private void add(ConfigurableListableBeanFactory beans, String name) {
        Class<?> type = beans.getType(name, false);
        Class<?> bean = type == null ? Object.class : ClassUtils.getUserClass(type);
        Method factory = LateServices.factoryMethod(beans, name);
        known.addAll(ReferencedServices.references(ServiceInterfaces.isForeign(bean) ? Object.class : bean, factory));
        if (factory != null && !ServiceInterfaces.isForeign(factory.getDeclaringClass())) {
            List<Class<?>> hidden = HiddenServices.fitting(factory);
            hidden.stream()
                    .filter(made -> !ServiceInterfaces.isForeign(made))
                    .forEach(made -> known.addAll(ReferencedServices.references(made, null)));
            areAllKnown &= !hidden.isEmpty() || !HiddenServices.mayHide(factory.getReturnType());
        }
    }

    /** Returns the references that are known before the beans exist. */
    Set<Reference> known() {
        return known;
    }

    /**
     * Returns text to append to the message that no reference uses a setting. The text states that beans created later
     * might have other references. If all references are known, the text is empty.
     */
    String mayBeMore() {
        return areAllKnown
                ? ""
                : ". Beans that are created later, and whose @Bean method returns an interface, may have references,"
                        + " too";
    }
}
