package tern.rpc.spring.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Logs that annotations such as {@code @GetMapping} have no effect on the paths of RPC calls. Such annotations can be
 * on a service or on the interface of a reference. The annotations are recognized by name, because the libraries are
 * optional. A service that is also a controller is not logged. The log level is INFO, because another class might use
 * the annotations of the interface.
 */
final class WebMappings {

    private static final Logger LOG = LoggerFactory.getLogger(WebMappings.class);

    private static final List<String> PACKAGES = List.of(
            "org.springframework.web.bind.annotation.",
            "org.springframework.web.service.annotation.",
            "org.springframework.cloud.openfeign.",
            "feign.",
            "jakarta.ws.rs.",
            "javax.ws.rs.");

    private static final String CONTROLLER = "org.springframework.stereotype.Controller";

    private WebMappings() {}

    /** @param type the bean's own class, not the class of its proxy */
    static void log(Class<?> type, Set<Class<?>> services) {
        if (MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(CONTROLLER)) {
            return;
        }
        for (Class<?> service : services) {
            Stream.of(service, type)
                    .distinct()
                    .filter(WebMappings::hasMapping)
                    .findFirst()
                    .ifPresent(mapped -> log(mapped, service));
        }
    }

    /** @param services the service interfaces of the application's references */
    static void logReferences(Stream<Class<?>> services) {
        services.distinct().filter(WebMappings::hasMapping).forEach(service -> log(service, service));
    }

    private static void log(Class<?> mapped, Class<?> service) {
        LOG.info(
                "RPC does not use the web annotations of {}: the path of a call is /{}/<method>"
                        + " (docs/http.md, Coming from Spring MVC)",
                mapped.getName(),
                service.getName());
    }

    private static boolean hasMapping(Class<?> type) {
        return isMapped(type) || Arrays.stream(type.getMethods()).anyMatch(WebMappings::isMapped);
    }

    private static boolean isMapped(AnnotatedElement element) {
        return Arrays.stream(element.getAnnotations())
                .map(Annotation::annotationType)
                .map(Class::getName)
                .anyMatch(name -> PACKAGES.stream().anyMatch(name::startsWith));
    }
}
