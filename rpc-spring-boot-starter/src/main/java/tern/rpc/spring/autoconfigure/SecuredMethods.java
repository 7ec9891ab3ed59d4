package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import tern.rpc.RpcAuthorizer;
import tern.rpc.ServerFilter;
import tern.rpc.spring.RpcServerCustomizer;

/**
 * Warns about Spring Security annotations on services that have no effect, or that might refuse every call. Without a
 * warning, methods would silently be open to everybody, or every caller would be refused as unauthenticated without a
 * visible reason. The annotations are recognized by name, because Spring Security is optional.
 */
final class SecuredMethods {

    private static final Logger LOG = LoggerFactory.getLogger(SecuredMethods.class);

    /** The annotations that {@code @EnableMethodSecurity} applies by default. */
    private static final List<String> EXPRESSIONS = List.of(
            "org.springframework.security.access.prepost.PreAuthorize",
            "org.springframework.security.access.prepost.PostAuthorize",
            "org.springframework.security.access.prepost.PreFilter",
            "org.springframework.security.access.prepost.PostFilter");

    private static final List<String> SECURED = List.of("org.springframework.security.access.annotation.Secured");

    /** Annotations that a filter or an authorizer of the application might apply. */
    private static final List<String> JAKARTA =
            List.of("jakarta.annotation.security.RolesAllowed", "jakarta.annotation.security.DenyAll");

    /** The expressions that allow each call, with or without an authenticated caller. */
    private static final Set<String> OPEN = Set.of("permitAll", "permitAll()");

    /** The type of the beans that apply Spring Security's annotations. */
    private static final String ADVISOR = "org.springframework.security.authorization.method.AuthorizationAdvisor";

    /**
     * The class of the bean that applies Spring Security's annotations in applications with
     * {@code @EnableGlobalMethodSecurity}.
     */
    private static final String INTERCEPTOR = "MethodSecurityInterceptor";

    private static final int MAX_METHODS = 5;

    private SecuredMethods() {}

    /** @param type the bean's own class, not the class of its proxy */
    static void check(ConfigurableListableBeanFactory beans, Class<?> type, Set<Class<?>> services) {
        ClassLoader loader = beans.getBeanClassLoader();
        if (!ClassUtils.isPresent(ADVISOR, loader)) {
            return;
        }
        boolean mayAuthorize = has(beans, RpcAuthorizer.class) || has(beans, ServerFilter.class);
        List<String> byExpression = secured(type, services, EXPRESSIONS);
        if (!has(beans, ClassUtils.resolveClassName(ADVISOR, loader))) {
            List<String> secured = new ArrayList<>(byExpression);
            secured.addAll(secured(type, services, SECURED));
            if (!mayAuthorize) {
                secured.addAll(secured(type, services, JAKARTA));
            }
            warn(
                    beans,
                    secured,
                    "The annotations of Spring Security on {} have no effect, because method security is not active. Put"
                            + " @EnableMethodSecurity (from spring-security-config) on a @Configuration class");
            return;
        }
        List<String> ignored = new ArrayList<>(ignored(beans, type, services, SECURED));
        if (!mayAuthorize) {
            ignored.addAll(ignored(beans, type, services, JAKARTA));
        }
        warn(
                beans,
                ignored,
                "The annotations of Spring Security on {} have no effect, because method security does not apply them."
                        + " @Secured needs @EnableMethodSecurity(securedEnabled = true), and @RolesAllowed and @DenyAll"
                        + " need jsr250Enabled = true");
        if (!mayAuthorize && !hasCustomizer(beans)) {
            warn(
                    beans,
                    byExpression,
                    "Spring Security may refuse calls of {} as UNAUTHENTICATED, because nothing authenticates the callers of"
                            + " this RPC server. Declare an AuthenticationAuthorizer as a bean (docs/security.md, Spring"
                            + " Security)");
        }
    }

    /**
     * Returns the methods with an annotation that no method security advisor applies. Returns an empty list if it is
     * unknown which methods an advisor covers.
     */
    private static List<String> ignored(
            ConfigurableListableBeanFactory beans, Class<?> type, Set<Class<?>> services, List<String> names) {
        List<Pointcut> pointcuts = new ArrayList<>();
        for (String name : beans.getBeanNamesForType(
                ClassUtils.resolveClassName(ADVISOR, beans.getBeanClassLoader()), true, false)) {
            Pointcut pointcut =
                    beans.getSingleton(name) instanceof PointcutAdvisor advisor ? advisor.getPointcut() : null;
            if (pointcut == null) {
                return List.of();
            }
            pointcuts.add(pointcut);
        }
        return secured(
                type,
                services,
                names,
                method -> pointcuts.stream()
                        .noneMatch(pointcut -> pointcut.getClassFilter().matches(type)
                                && pointcut.getMethodMatcher().matches(method, type)));
    }

    private static void warn(ConfigurableListableBeanFactory beans, List<String> secured, String message) {
        if (!secured.isEmpty() && !hasInterceptor(beans)) {
            String first = String.join(", ", secured.subList(0, Math.min(secured.size(), MAX_METHODS)));
            LOG.warn(
                    message,
                    secured.size() > MAX_METHODS ? first + " and " + (secured.size() - MAX_METHODS) + " more" : first);
        }
    }

    /** Returns whether the class of a bean, or one of its superclasses, is named {@link #INTERCEPTOR}. */
    private static boolean hasInterceptor(ConfigurableListableBeanFactory beans) {
        for (String name : beans.getBeanDefinitionNames()) {
            for (Class<?> type = beans.getType(name, false); type != null; type = type.getSuperclass()) {
                if (type.getSimpleName().equals(INTERCEPTOR)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns whether the application has a customizer, which can add an authorizer. */
    private static boolean hasCustomizer(ConfigurableListableBeanFactory beans) {
        return Stream.of(beans.getBeanNamesForType(RpcServerCustomizer.class, true, false))
                .anyMatch(name -> !name.equals(RpcServerAutoConfiguration.CONTEXT_CLEANER));
    }

    private static boolean has(ConfigurableListableBeanFactory beans, Class<?> type) {
        return beans.getBeanNamesForType(type, true, false).length > 0;
    }

    private static List<String> secured(Class<?> type, Set<Class<?>> services, List<String> names) {
        return secured(type, services, names, method -> true);
    }

    /**
     * Returns the methods of the services with an annotation, such as {@code Orders.cancel (@PreAuthorize)}.
     *
     * @param counted the methods of the class to include
     */
    private static List<String> secured(
            Class<?> type, Set<Class<?>> services, List<String> names, Predicate<Method> counted) {
        List<String> found = new ArrayList<>();
        for (Class<?> service : services) {
            for (Method declared : service.getMethods()) {
                Method implemented =
                        ClassUtils.getMethodIfAvailable(type, declared.getName(), declared.getParameterTypes());
                if (!counted.test(implemented == null ? declared : implemented)) {
                    continue;
                }
                List<MergedAnnotations> present = Stream.of(implemented == null ? declared : implemented, type)
                        .map(element -> MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY))
                        .toList();
                names.stream()
                        .filter(name -> isRestricted(present, name))
                        .findFirst()
                        .map(name -> name.substring(name.lastIndexOf('.') + 1))
                        .ifPresent(annotation ->
                                found.add(type.getSimpleName() + "." + declared.getName() + " (@" + annotation + ")"));
            }
        }
        return found;
    }

    /**
     * Returns whether a method has the security annotation with the given name, and whether the annotation can refuse
     * calls.
     *
     * @param present the annotations of the method, which take precedence, and the annotations of its class
     */
    private static boolean isRestricted(List<MergedAnnotations> present, String name) {
        return present.stream()
                .map(annotations -> annotations.get(name))
                .filter(MergedAnnotation::isPresent)
                .findFirst()
                .filter(annotation -> !(annotation.getValue("value").orElse("") instanceof String expression
                        && OPEN.contains(expression.trim())))
                .isPresent();
    }
}
