package tern.rpc.spring.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.List;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.BindMethod;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ReflectionUtils;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;

/**
 * Prevents startup if {@link RpcReference} is in a place where Spring injects nothing. Such places are static fields
 * and methods, parameters of ordinary methods, methods without parameters, and constructor parameters of classes that
 * Spring Boot creates from properties.
 */
final class MisplacedReferences implements MergedBeanDefinitionPostProcessor {

    /**
     * The annotations that make Spring inject a method's parameters. {@link RpcReference} is meta-annotated with {@link
     * Autowired}.
     */
    private static final List<Class<? extends Annotation>> INJECTING =
            List.of(Autowired.class, Bean.class, Value.class);

    /**
     * The name of another annotation that makes Spring inject a method's parameters. The annotation's class might be
     * missing from the class path.
     */
    private static final String INJECT = "jakarta.inject.Inject";

    @Override
    public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> type, String name) {
        if (AnnotationUtils.isCandidateClass(type, RpcReference.class)) {
            ReflectionUtils.doWithFields(type, field -> check(field, field));
            ReflectionUtils.doWithMethods(type, method -> {
                check(method, method);
                checkGetter(method);
                if (!isCalledBySpring(definition, method)) {
                    checkParameters(method);
                }
            });
        }
        // For each bean of configuration properties, Spring Boot stores in the bean definition how the bean is created.
        if (definition.getAttribute(BindMethod.class.getName()) == BindMethod.VALUE_OBJECT) {
            for (Constructor<?> constructor : type.getDeclaredConstructors()) {
                checkBound(type, constructor);
            }
        }
    }

    /** Returns whether Spring calls the method with injected arguments although the method has no annotation. */
    private static boolean isCalledBySpring(RootBeanDefinition definition, Method method) {
        return definition.isFactoryMethod(method)
                || definition.getResolvedAutowireMode() == AbstractBeanDefinition.AUTOWIRE_BY_TYPE;
    }

    private static void checkBound(Class<?> type, Constructor<?> constructor) {
        for (Parameter parameter : constructor.getParameters()) {
            if (AnnotatedElementUtils.isAnnotated(parameter, RpcReference.class)) {
                throw new RpcStartException(
                        type.getName() + " has @RpcReference on the parameter " + parameter.getName()
                                + " of its constructor, but Spring Boot creates @ConfigurationProperties from"
                                + " properties alone, and the parameter would be null",
                        "Put @RpcReference on a field or parameter of the bean that uses these properties.",
                        null);
            }
        }
    }

    /** Rejects a parameter of a method that Spring does not call with injected arguments, such as a plain setter. */
    private static void checkParameters(Method method) {
        for (Parameter parameter : method.getParameters()) {
            if (AnnotatedElementUtils.isAnnotated(parameter, RpcReference.class)
                    && !isInjected(method)
                    && !isSetterOfReference(method)) {
                throw new RpcStartException(
                        method.getDeclaringClass().getName() + "." + method.getName()
                                + " has @RpcReference on a parameter, but Spring does not inject the parameters of this"
                                + " method",
                        "Put @RpcReference on the method if it is a setter. Otherwise, put it on a field or on a"
                                + " parameter of the constructor.",
                        null);
            }
        }
    }

    /**
     * Returns whether the method might be the setter of a field that has the annotation. Lombok copies the annotation
     * from the field to the setter's parameter, and Spring injects the field.
     */
    private static boolean isSetterOfReference(Method method) {
        return method.getParameterCount() == 1
                && Arrays.stream(method.getDeclaringClass().getDeclaredFields())
                        .anyMatch(field -> field.getType() == method.getParameterTypes()[0]
                                && AnnotatedElementUtils.isAnnotated(field, RpcReference.class));
    }

    private static boolean isInjected(Method method) {
        return INJECTING.stream().anyMatch(annotation -> AnnotatedElementUtils.hasAnnotation(method, annotation))
                || Arrays.stream(method.getAnnotations())
                        .anyMatch(annotation ->
                                annotation.annotationType().getName().equals(INJECT));
    }

    /**
     * Rejects a method without parameters, such as a getter of a property in Kotlin. Accepts the accessors of a record,
     * because the compiler copies the annotation from the component to the accessor, and Spring injects the
     * constructor.
     */
    private static void checkGetter(Method method) {
        if (method.getParameterCount() == 0
                && !method.getDeclaringClass().isRecord()
                && !AnnotatedElementUtils.isAnnotated(method, Bean.class)
                && AnnotatedElementUtils.isAnnotated(method, RpcReference.class)) {
            throw new RpcStartException(
                    method.getDeclaringClass().getName() + "." + method.getName()
                            + " has @RpcReference, but no parameter, so Spring injects nothing",
                    "Put @RpcReference on the field, on the setter or on a parameter of the constructor. In Kotlin, write"
                            + " @field:RpcReference or @set:RpcReference for a property.",
                    null);
        }
    }

    private static void check(Member member, AnnotatedElement annotated) {
        if (Modifier.isStatic(member.getModifiers())
                && AnnotatedElementUtils.isAnnotated(annotated, RpcReference.class)) {
            throw new RpcStartException(
                    member.getDeclaringClass().getName() + "." + member.getName()
                            + " has @RpcReference, but is static, and Spring injects nothing into static members",
                    "Remove static, or put @RpcReference on a parameter of the constructor.",
                    null);
        }
    }
}
