package tern.rpc.spring.autoconfigure.diagnosis;

import java.util.Set;
import java.util.TreeSet;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.ScannedGenericBeanDefinition;
import org.springframework.util.ClassUtils;

/** Finds the packages of the application's own code. */
final class ApplicationPackages {

    private ApplicationPackages() {}

    /**
     * Returns the auto-configuration packages of Spring Boot, and the packages of the classes that component scans have
     * found.
     */
    static Set<String> of(ApplicationContext context) {
        Set<String> packages = new TreeSet<>();
        if (AutoConfigurationPackages.has(context)) {
            packages.addAll(AutoConfigurationPackages.get(context));
        }
        if (context instanceof ConfigurableApplicationContext configurable) {
            addScanned(configurable.getBeanFactory(), packages);
        }
        return packages;
    }

    private static void addScanned(ConfigurableListableBeanFactory beans, Set<String> packages) {
        for (String name : beans.getBeanDefinitionNames()) {
            BeanDefinition definition = beans.getBeanDefinition(name);
            String type = definition.getBeanClassName();
            if (definition instanceof ScannedGenericBeanDefinition && type != null) {
                packages.add(ClassUtils.getPackageName(type));
            }
        }
    }
}
