package tern.rpc.spring.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns about Java EE annotations on services and their arguments, such as {@code
 * javax.validation.constraints.NotBlank}. Spring Boot 4 recognizes only Jakarta EE annotations, whose packages begin
 * with {@code jakarta}. Without a warning, Java EE annotations would silently have no effect. The annotations are
 * recognized by name, because Tern does not depend on their library.
 */
final class JavaxAnnotations {

    private static final Logger LOG = LoggerFactory.getLogger(JavaxAnnotations.class);

    /**
     * The prefixes of the annotations' names. Other annotations in {@code javax.annotation}, such as Nonnull, do not
     * belong to Java EE.
     */
    private static final List<String> REPLACED = List.of(
            "javax.annotation.PostConstruct",
            "javax.annotation.PreDestroy",
            "javax.annotation.Resource",
            "javax.annotation.security.",
            "javax.inject.",
            "javax.transaction.",
            "javax.validation.");

    private JavaxAnnotations() {}

    /** @param type the bean's own class, not the class of its proxy */
    static void check(Class<?> type, Set<Class<?>> services) {
        Set<String> found = new TreeSet<>();
        try {
            addAll(type, services, found);
        } catch (LinkageError | TypeNotPresentException e) {
            // A field or method has a type from a missing optional library. The search ends here, because it must not
            // prevent startup.
            LOG.debug("The annotations of {} cannot all be read", type.getName(), e);
        }
        if (!found.isEmpty()) {
            LOG.warn(
                    "Annotations of Java EE on {} or its interface have no effect, because Spring Boot 4 uses the"
                            + " annotations of Jakarta EE: {}. Import them from jakarta instead of javax",
                    type.getName(),
                    String.join(", ", found));
        }
    }

    private static void addAll(Class<?> type, Set<Class<?>> services, Set<String> found) {
        add(type, found);
        addFields(type, found);
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            add((Executable) constructor, found);
        }
        for (Method method : type.getDeclaredMethods()) {
            add((Executable) method, found);
        }
        for (Class<?> service : services) {
            add(service, found);
            for (Method method : service.getMethods()) {
                add((Executable) method, found);
                for (Class<?> argument : method.getParameterTypes()) {
                    addFields(argument, found);
                }
            }
        }
    }

    private static void addFields(Class<?> type, Set<String> found) {
        if (!ServiceInterfaces.isForeign(type)) {
            for (Field field : type.getDeclaredFields()) {
                add(field, found);
            }
        }
    }

    private static void add(Executable called, Set<String> found) {
        add((AnnotatedElement) called, found);
        for (AnnotatedElement parameter : called.getParameters()) {
            add(parameter, found);
        }
    }

    private static void add(AnnotatedElement element, Set<String> found) {
        for (Annotation annotation : element.getAnnotations()) {
            String name = annotation.annotationType().getName();
            if (REPLACED.stream().anyMatch(name::startsWith)) {
                found.add("@" + name);
            }
        }
    }
}
