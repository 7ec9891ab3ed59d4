package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcService;

/**
 * Finds services that were discovered only after Tern had decided whether the application needs a server. There are two
 * causes: the annotation is on a class that the return type of the {@code @Bean} method hides, or the bean definition
 * was registered late.
 */
final class LateServices {

    private LateServices() {}

    /** Returns the names of the services in a context that has no server. */
    static Set<String> in(ConfigurableListableBeanFactory beans) {
        Set<String> names = new TreeSet<>();
        if (beans.getBeanNamesForType(RpcServer.class, true, false).length > 0) {
            return names;
        }
        for (String name : beans.getBeanNamesForAnnotation(RpcService.class)) {
            if (ExportedBeans.annotation(beans, name) != null) {
                names.add(name);
            }
        }
        return names;
    }

    /** Returns the reason why a bean's annotation was found too late. */
    static String reason(ConfigurableListableBeanFactory beans, String name) {
        Method method = factoryMethod(beans, ExportedBeans.definedAs(beans, name));
        return method == null
                ? "its definition was registered after the auto-configurations had been applied, or Tern's"
                        + " RpcServerAutoConfiguration is excluded"
                : "only its class has the annotation, and the @Bean method "
                        + method.getDeclaringClass().getName() + "." + method.getName() + " returns "
                        + method.getReturnType().getName();
    }

    /** Returns advice on how to change the application so that the bean's annotation is found in time. */
    static String action(ConfigurableListableBeanFactory beans, String name) {
        return factoryMethod(beans, ExportedBeans.definedAs(beans, name)) == null
                ? "Register the definition in an ImportBeanDefinitionRegistrar or a BeanRegistrar, or remove the exclusion."
                : "Put @RpcService on the @Bean method, or let the method return the class.";
    }

    /** Returns the bean's {@code @Bean} method; null if there is none. */
    static @Nullable Method factoryMethod(ConfigurableListableBeanFactory beans, String name) {
        return beans.containsBeanDefinition(name)
                        && beans.getMergedBeanDefinition(name) instanceof RootBeanDefinition definition
                ? definition.getResolvedFactoryMethod()
                : null;
    }
}
