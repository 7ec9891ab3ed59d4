package tern.rpc.spring.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;

/**
 * Prevents startup if {@link RpcReference} is on a parameter of a constructor that Spring does not call. If a class has
 * several constructors, Spring chooses the constructor with an annotation such as {@code @Autowired}. If no constructor
 * has such an annotation, Spring calls the constructor without parameters, and the reference stays null. This check
 * runs before Spring chooses the constructor, because Spring fails without a clear message if all constructors have
 * parameters.
 */
final class ConstructorReferences implements SmartInstantiationAwareBeanPostProcessor, PriorityOrdered {

    /** The names of the annotations that tell Spring which constructor to use. */
    private static final Set<String> CHOOSING =
            Set.of(Autowired.class.getName(), Value.class.getName(), "jakarta.inject.Inject");

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public Constructor<?> @Nullable [] determineCandidateConstructors(Class<?> type, String name) {
        Constructor<?>[] all = type.getDeclaredConstructors();
        if (all.length > 1
                && BeanUtils.findPrimaryConstructor(type) == null
                && Arrays.stream(all).noneMatch(ConstructorReferences::isChosen)) {
            Arrays.stream(all)
                    .filter(ConstructorReferences::hasReference)
                    .findFirst()
                    .ifPresent(unused -> fail(type, all));
        }
        return null; // Null leaves the choice of the constructor to Spring.
    }

    private static boolean isChosen(Constructor<?> constructor) {
        return Arrays.stream(constructor.getAnnotations())
                .map(Annotation::annotationType)
                .anyMatch(annotation ->
                        CHOOSING.contains(annotation.getName()) || annotation.isAnnotationPresent(Autowired.class));
    }

    private static boolean hasReference(Constructor<?> constructor) {
        return Arrays.stream(constructor.getParameters())
                .anyMatch(parameter -> AnnotatedElementUtils.isAnnotated(parameter, RpcReference.class));
    }

    private static void fail(Class<?> type, Constructor<?>[] all) {
        throw new RpcStartException(
                type.getName() + " has @RpcReference on a parameter of a constructor, but has several constructors: "
                        + Arrays.stream(all)
                                .map(ConstructorReferences::described)
                                .sorted()
                                .collect(Collectors.joining(", "))
                        + ". Spring does not know which one to call",
                "Put @Autowired on the constructor that Spring is to call, or remove the other constructors.",
                null);
    }

    private static String described(Constructor<?> constructor) {
        return Arrays.stream(constructor.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(
                        Collectors.joining(", ", constructor.getDeclaringClass().getSimpleName() + "(", ")"));
    }
}
