package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.InjectionPoint;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.UnsatisfiedDependencyException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.MethodParameter;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import tern.rpc.spring.RpcReference;

/**
 * Explains a constructor whose parameter has lost the annotation that stands on the field of the same type, as in
 * constructors that Lombok writes: Spring looks for a local bean then.
 */
final class LostReferenceFailureAnalyzer implements FailureAnalyzer, Ordered {

    private static final String LOMBOK = "lombok.copyableAnnotations += tern.rpc.spring.RpcReference";

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof UnsatisfiedDependencyException unsatisfied
                    && cause.getCause() instanceof NoSuchBeanDefinitionException) {
                return analyze(unsatisfied, failure);
            }
        }
        return null;
    }

    private static @Nullable FailureAnalysis analyze(UnsatisfiedDependencyException unsatisfied, Throwable failure) {
        InjectionPoint point = unsatisfied.getInjectionPoint();
        MethodParameter parameter = point == null ? null : point.getMethodParameter();
        if (parameter == null || !(parameter.getExecutable() instanceof Constructor<?> constructor)) {
            return null;
        }
        for (Field field : constructor.getDeclaringClass().getDeclaredFields()) {
            if (field.getType() == parameter.getParameterType()
                    && AnnotatedElementUtils.isAnnotated(field, RpcReference.class)) {
                return new FailureAnalysis(
                        "Parameter " + (parameter.getParameterIndex() + 1) + " of the constructor of "
                                + constructor.getDeclaringClass().getName() + " has no @RpcReference, but the field '"
                                + field.getName() + "' of its type has one, so a bean of "
                                + field.getType().getName() + " was looked for.",
                        "Put " + LOMBOK + " into lombok.config beside the sources if Lombok writes the constructor, or"
                                + " write the constructor with @RpcReference on its parameter.",
                        failure);
            }
        }
        return null;
    }

    /** Before that of Boot, which advises to define a bean. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
