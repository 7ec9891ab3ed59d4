package tern.rpc.spring.autoconfigure;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ReflectionUtils;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;

/** Prevents startup if {@link RpcReference} is on a static field or method. Spring does not inject anything there. */
final class MisplacedReferences implements MergedBeanDefinitionPostProcessor {

    @Override
    public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> type, String name) {
        if (AnnotationUtils.isCandidateClass(type, RpcReference.class)) {
            ReflectionUtils.doWithFields(type, field -> check(field, field));
            ReflectionUtils.doWithMethods(type, method -> check(method, method));
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
