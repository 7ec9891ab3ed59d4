package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.util.ClassUtils;
import tern.rpc.spring.autoconfigure.ReferencedServices.Reference;

/** Finds the references of beans that do not exist yet, such as lazy beans and prototypes. Creates no beans. */
final class AwaitedReferences {

    private static final Logger LOG = LoggerFactory.getLogger(AwaitedReferences.class);

    private AwaitedReferences() {}

    static Set<Reference> in(ConfigurableListableBeanFactory beans) {
        Set<Reference> references = new LinkedHashSet<>();
        for (String name : beans.getBeanDefinitionNames()) {
            if (!beans.containsSingleton(name)) {
                try {
                    references.addAll(of(beans, name));
                } catch (RuntimeException | LinkageError e) {
                    // A class may refer to a library that is not there. Spring reports the missing library if the bean
                    // is needed.
                    LOG.debug("The references of bean '{}' are not known before it is created", name, e);
                }
            }
        }
        return references;
    }

    private static Set<Reference> of(ConfigurableListableBeanFactory beans, String name) {
        Class<?> type = beans.getType(name, false);
        Class<?> bean = type == null ? Object.class : ClassUtils.getUserClass(type);
        Method factory = beans.getMergedBeanDefinition(name) instanceof RootBeanDefinition definition
                ? definition.getResolvedFactoryMethod()
                : null;
        return ReferencedServices.references(ExportedBeans.isForeign(bean) ? Object.class : bean, factory);
    }
}
