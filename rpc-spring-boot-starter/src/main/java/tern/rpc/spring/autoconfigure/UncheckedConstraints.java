package tern.rpc.spring.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.validation.annotation.Validated;
import org.springframework.validation.beanvalidation.MethodValidationPostProcessor;

/**
 * Warns about Bean Validation constraints of services that are not checked. Spring always checks the arguments of
 * controllers, but checks the arguments of other beans only if they have {@link Validated}. Without a warning, methods
 * would silently run with invalid arguments. The annotations are recognized by name, because Bean Validation is
 * optional.
 */
final class UncheckedConstraints {

    private static final Logger LOG = LoggerFactory.getLogger(UncheckedConstraints.class);

    private static final String CONSTRAINT = "jakarta.validation.Constraint";
    private static final String CASCADE = "jakarta.validation.Valid";
    private static final String VALID = "@Valid";
    private static final String STARTER = "org.springframework.boot:spring-boot-starter-validation";
    private static final int MAX_METHODS = 5;

    private UncheckedConstraints() {}

    /**
     * Logs a warning if the constraints on a bean's service interfaces are not checked, or if Bean Validation rejects
     * these constraints.
     *
     * @param type the bean's own class, not the class of its proxy
     */
    static void check(ConfigurableListableBeanFactory beans, Class<?> type, Set<Class<?>> services) {
        List<String> constrained = new ArrayList<>();
        List<String> altered = new ArrayList<>();
        List<String> shallow = new ArrayList<>();
        for (Class<?> service : services) {
            for (Method declared : service.getMethods()) {
                addWithoutValid(service, declared, shallow);
                Method implemented =
                        ClassUtils.getMethodIfAvailable(type, declared.getName(), declared.getParameterTypes());
                String ofInterface = parameters(declared);
                String ofClass = implemented == null || implemented.equals(declared) ? "" : parameters(implemented);
                String all = joined(ofInterface.isEmpty() ? ofClass : ofInterface, result(declared));
                if (!all.isEmpty()) {
                    constrained.add(service.getSimpleName() + "." + declared.getName() + " (" + all + ")");
                }
                if (!ofClass.isEmpty() && !ofClass.equals(ofInterface)) {
                    altered.add(type.getSimpleName() + "." + declared.getName() + " (" + ofClass + ")");
                }
            }
        }
        boolean isValidated = AnnotatedElementUtils.hasAnnotation(type, Validated.class);
        if (!constrained.isEmpty() && !isValidated) {
            LOG.warn(
                    "The constraints of {} are not checked, because neither {} nor its interface has @Validated. Put"
                            + " @Validated on {} (needs {})",
                    shown(constrained),
                    type.getName(),
                    type.getSimpleName(),
                    STARTER);
        } else if (!constrained.isEmpty() && !isActive(beans)) {
            LOG.warn(
                    "The constraints of {} are not checked, because the application has no"
                            + " MethodValidationPostProcessor. Add {}",
                    shown(constrained),
                    STARTER);
        } else if (!altered.isEmpty()) {
            LOG.warn(
                    "Bean Validation refuses each call of {}, because the method of the interface does not have these"
                            + " constraints (HV000151). Move them to the interface",
                    shown(altered));
        }
        logMissingValid(type, shallow, isValidated);
    }

    /**
     * Logs that the constraints inside arguments are not checked. This might be intended if the service has no {@link
     * Validated}.
     */
    private static void logMissingValid(Class<?> type, List<String> parameters, boolean isValidated) {
        if (parameters.isEmpty()) {
            return;
        }
        if (isValidated) {
            LOG.warn(
                    "The constraints inside the arguments of {} are not checked, because these parameters have no"
                            + " @Valid. Put @Valid on them in the interface",
                    shown(parameters));
        } else {
            LOG.info(
                    "The constraints inside the arguments of {} are not checked. To check them, put @Valid on these"
                            + " parameters in the interface, and @Validated on {}",
                    shown(parameters),
                    type.getSimpleName());
        }
    }

    /** Adds each parameter without {@code @Valid} whose class, or a class in its type arguments, has constraints. */
    private static void addWithoutValid(Class<?> service, Method method, List<String> found) {
        for (int i = 0; i < method.getParameterCount(); i++) {
            if (!constraints(method, i).contains(VALID)) {
                int number = i + 1;
                classesIn(method.getGenericParameterTypes()[i])
                        .filter(UncheckedConstraints::hasConstraints)
                        .findFirst()
                        .ifPresent(type -> found.add(service.getSimpleName() + "." + method.getName() + " (parameter "
                                + number + ": " + type.getSimpleName() + ")"));
            }
        }
    }

    /** Returns the class of the type, the classes of its type arguments, and the classes of its elements. */
    private static Stream<Class<?>> classesIn(Type type) {
        if (type instanceof Class<?> known) {
            return Stream.of(known.isArray() ? known.getComponentType() : known);
        }
        if (type instanceof ParameterizedType generic) {
            return Stream.concat(
                    classesIn(generic.getRawType()),
                    Arrays.stream(generic.getActualTypeArguments()).flatMap(UncheckedConstraints::classesIn));
        }
        return type instanceof WildcardType wildcard
                ? Arrays.stream(wildcard.getUpperBounds()).flatMap(UncheckedConstraints::classesIn)
                : Stream.empty();
    }

    /** Returns whether a field or method of the class or of a superclass has a constraint. */
    private static boolean hasConstraints(Class<?> type) {
        try {
            return declaresConstraints(type);
        } catch (LinkageError | TypeNotPresentException e) {
            return false; // the type of a field or method belongs to a missing optional library
        }
    }

    private static boolean declaresConstraints(Class<?> type) {
        for (Class<?> owner = type;
                owner != null && !ServiceInterfaces.isForeign(owner);
                owner = owner.getSuperclass()) {
            Set<String> found = new TreeSet<>();
            for (Field field : owner.getDeclaredFields()) {
                add(field, found);
                add(field.getAnnotatedType(), found);
            }
            for (Method method : owner.getDeclaredMethods()) {
                add(method, found);
            }
            found.remove(VALID);
            if (!found.isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private static boolean isActive(ConfigurableListableBeanFactory beans) {
        return beans.getBeanNamesForType(MethodValidationPostProcessor.class, true, false).length > 0;
    }

    private static String shown(List<String> methods) {
        String first = String.join(", ", methods.subList(0, Math.min(methods.size(), MAX_METHODS)));
        return methods.size() > MAX_METHODS ? first + " and " + (methods.size() - MAX_METHODS) + " more" : first;
    }

    private static String joined(String some, String more) {
        return some.isEmpty() || more.isEmpty() ? some + more : some + ", " + more;
    }

    /**
     * Returns the constraints of the parameters, such as {@code parameter 1: @NotBlank}; empty if the parameters have
     * no constraints.
     */
    private static String parameters(Method method) {
        List<String> described = new ArrayList<>();
        for (int i = 0; i < method.getParameterCount(); i++) {
            Set<String> found = constraints(method, i);
            if (!found.isEmpty()) {
                described.add("parameter " + (i + 1) + ": " + String.join(" ", found));
            }
        }
        return String.join(", ", described);
    }

    private static Set<String> constraints(Method method, int parameter) {
        Set<String> found = new TreeSet<>();
        add(method.getParameters()[parameter], found);
        add(method.getAnnotatedParameterTypes()[parameter], found);
        return found;
    }

    private static String result(Method method) {
        Set<String> found = new TreeSet<>();
        add(method, found);
        add(method.getAnnotatedReturnType(), found);
        return found.isEmpty() ? "" : "result: " + String.join(" ", found);
    }

    private static void add(AnnotatedType type, Set<String> found) {
        add((AnnotatedElement) type, found);
        if (type instanceof AnnotatedParameterizedType generic) {
            for (AnnotatedType argument : generic.getAnnotatedActualTypeArguments()) {
                add(argument, found);
            }
        }
    }

    private static void add(AnnotatedElement element, Set<String> found) {
        Stream.of(element.getAnnotations())
                .map(Annotation::annotationType)
                .filter(UncheckedConstraints::isConstraint)
                .forEach(type -> found.add("@" + type.getSimpleName()));
    }

    private static boolean isConstraint(Class<? extends Annotation> type) {
        return type.getName().equals(CASCADE)
                || Arrays.stream(type.getAnnotations())
                        .anyMatch(meta -> meta.annotationType().getName().equals(CONSTRAINT));
    }
}
