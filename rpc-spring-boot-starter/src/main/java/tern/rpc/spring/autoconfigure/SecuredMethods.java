package tern.rpc.spring.autoconfigure;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import tern.rpc.RpcAuthorizer;
import tern.rpc.ServerFilter;

/**
 * Warns about annotations of Spring Security on services that have no effect, or that refuse every call. Without a
 * warning, methods would silently be open to everybody, or callers would only learn that they are not authenticated.
 * The annotations are recognized by name, because Spring Security is optional.
 */
final class SecuredMethods {

    private static final Logger LOG = LoggerFactory.getLogger(SecuredMethods.class);

    /** The annotations that {@code @EnableMethodSecurity} applies by default. */
    private static final List<String> EXPRESSIONS = List.of(
            "org.springframework.security.access.prepost.PreAuthorize",
            "org.springframework.security.access.prepost.PostAuthorize",
            "org.springframework.security.access.prepost.PreFilter",
            "org.springframework.security.access.prepost.PostFilter");

    private static final List<String> ROLES = List.of(
            "org.springframework.security.access.annotation.Secured",
            "jakarta.annotation.security.RolesAllowed",
            "jakarta.annotation.security.DenyAll");

    /** The type of the beans that apply the annotations. */
    private static final String ADVISOR = "org.springframework.security.authorization.method.AuthorizationAdvisor";

    private static final int MAX_METHODS = 5;

    private SecuredMethods() {}

    /** @param type the class of the bean, not of its proxy */
    static void check(ConfigurableListableBeanFactory beans, Class<?> type, Set<Class<?>> services) {
        ClassLoader loader = beans.getBeanClassLoader();
        if (!ClassUtils.isPresent(ADVISOR, loader)) {
            return;
        }
        List<String> byExpression = secured(type, services, EXPRESSIONS);
        if (!has(beans, ClassUtils.resolveClassName(ADVISOR, loader))) {
            List<String> secured = new ArrayList<>(byExpression);
            secured.addAll(secured(type, services, ROLES));
            warn(
                    secured,
                    "The annotations of Spring Security on {} have no effect, because method security is not active. Put"
                            + " @EnableMethodSecurity (from spring-security-config) on a @Configuration class, or remove"
                            + " the annotations");
        } else if (!has(beans, RpcAuthorizer.class) && !has(beans, ServerFilter.class)) {
            warn(
                    byExpression,
                    "Spring Security refuses calls of {} as UNAUTHENTICATED, because nothing authenticates the callers of"
                            + " this RPC server. Declare an AuthenticationAuthorizer as a bean (docs/security.md, Spring"
                            + " Security)");
        }
    }

    private static void warn(List<String> secured, String message) {
        if (!secured.isEmpty()) {
            String first = String.join(", ", secured.subList(0, Math.min(secured.size(), MAX_METHODS)));
            LOG.warn(
                    message,
                    secured.size() > MAX_METHODS ? first + " and " + (secured.size() - MAX_METHODS) + " more" : first);
        }
    }

    private static boolean has(ConfigurableListableBeanFactory beans, Class<?> type) {
        return beans.getBeanNamesForType(type, true, false).length > 0;
    }

    /** Returns the methods of the services with an annotation, such as {@code Orders.cancel (@PreAuthorize)}. */
    private static List<String> secured(Class<?> type, Set<Class<?>> services, List<String> names) {
        List<String> found = new ArrayList<>();
        for (Class<?> service : services) {
            for (Method declared : service.getMethods()) {
                Method implemented =
                        ClassUtils.getMethodIfAvailable(type, declared.getName(), declared.getParameterTypes());
                Stream.of(implemented == null ? declared : implemented, type)
                        .flatMap(element -> annotations(element, names))
                        .findFirst()
                        .ifPresent(annotation ->
                                found.add(type.getSimpleName() + "." + declared.getName() + " (@" + annotation + ")"));
            }
        }
        return found;
    }

    private static Stream<String> annotations(AnnotatedElement element, List<String> names) {
        MergedAnnotations present = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
        return names.stream().filter(present::isPresent).map(name -> name.substring(name.lastIndexOf('.') + 1));
    }
}
