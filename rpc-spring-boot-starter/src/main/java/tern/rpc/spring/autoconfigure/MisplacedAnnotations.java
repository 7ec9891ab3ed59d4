package tern.rpc.spring.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import tern.rpc.RpcMethod;
import tern.rpc.WireName;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcFallback;
import tern.rpc.spring.RpcService;

/**
 * Finds annotations on bean methods where the annotations have no effect. {@link RpcService} and {@link RpcFallback}
 * are for classes and {@code @Bean} methods. On any other method, these annotations prevent startup. {@link RpcMethod}
 * and {@link WireName} are for interface methods. On a method of a class, these annotations cause a warning. {@link
 * MisplacedMarks} checks services more strictly.
 */
final class MisplacedAnnotations implements MergedBeanDefinitionPostProcessor {

    private static final Logger LOG = LoggerFactory.getLogger(MisplacedAnnotations.class);

    private static final List<Class<? extends Annotation>> OF_BEANS = List.of(RpcService.class, RpcFallback.class);
    private static final List<Class<? extends Annotation>> OF_INTERFACES = List.of(RpcMethod.class, WireName.class);

    @Override
    public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> type, String name) {
        if (AnnotationUtils.isCandidateClass(type, RpcService.class) && !ServiceInterfaces.isForeign(type)) {
            ReflectionUtils.doWithMethods(ClassUtils.getUserClass(type), method -> check(method, name));
        }
    }

    private static void check(Method method, String bean) {
        String place = method.getDeclaringClass().getName() + "." + method.getName();
        for (Class<? extends Annotation> annotation : OF_BEANS) {
            if (method.isAnnotationPresent(annotation) && !AnnotatedElementUtils.isAnnotated(method, Bean.class)) {
                throw new RpcStartException(
                        place + " has @" + annotation.getSimpleName() + ", but is not a @Bean method, so the annotation"
                                + " has no effect",
                        "If the method creates the object, put @Bean on the method, too. Otherwise, put @"
                                + annotation.getSimpleName() + " on the class.",
                        null);
            }
        }
        for (Class<? extends Annotation> annotation : OF_INTERFACES) {
            Annotation mark = method.getAnnotation(annotation);
            if (mark != null && !method.getDeclaringClass().isInterface() && !isOnInterface(method, mark)) {
                LOG.warn(
                        "@{} on {} of bean '{}' has no effect; put it on the method of the interface that callers use",
                        annotation.getSimpleName(),
                        place,
                        bean);
            }
        }
    }

    private static boolean isOnInterface(Method method, Annotation mark) {
        return ClassUtils.getAllInterfacesForClassAsSet(method.getDeclaringClass()).stream()
                .map(type -> ClassUtils.getMethodIfAvailable(type, method.getName(), method.getParameterTypes()))
                .anyMatch(declared -> declared != null && mark.equals(declared.getAnnotation(mark.annotationType())));
    }
}
