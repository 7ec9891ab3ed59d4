package tern.rpc.spring.autoconfigure;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Member;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.util.ClassUtils;

/**
 * Warns about Dubbo annotations if the application contains Dubbo's jar but Dubbo is not active. The annotations often
 * remain after a migration. Services with Dubbo annotations are then not exported, and fields with Dubbo annotations
 * stay null.
 */
final class DubboAnnotations implements SmartInitializingSingleton {

    private static final Logger LOG = LoggerFactory.getLogger(DubboAnnotations.class);

    private static final List<String> PACKAGES = List.of("org.apache.dubbo.", "com.alibaba.dubbo.");

    private static final List<String> NAMES = List.of(
            "org.apache.dubbo.config.annotation.DubboService",
            "org.apache.dubbo.config.annotation.DubboReference",
            "org.apache.dubbo.config.annotation.Service",
            "org.apache.dubbo.config.annotation.Reference",
            "com.alibaba.dubbo.config.annotation.Service",
            "com.alibaba.dubbo.config.annotation.Reference");

    private static final int MAX_SHOWN = 20;

    private final ConfigurableListableBeanFactory beans;

    DubboAnnotations(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        List<String> present = NAMES.stream()
                .filter(name -> ClassUtils.isPresent(name, beans.getBeanClassLoader()))
                .toList();
        Set<String> found = new TreeSet<>();
        try {
            if (present.isEmpty() || types().anyMatch(DubboAnnotations::isOfDubbo)) {
                return;
            }
            types().filter(type -> !ServiceInterfaces.isForeign(type))
                    .forEach(type -> addMembers(type, present, found));
            addClasses(present, found);
        } catch (RuntimeException | LinkageError e) {
            // If the search for Dubbo annotations fails, the failure is only logged, because it must not prevent
            // startup.
            LOG.debug("The search for annotations of Dubbo has ended early", e);
        }
        if (!found.isEmpty()) {
            LOG.warn(
                    "Annotations of Dubbo have no effect, because Dubbo is not active in this application: {}. Write"
                            + " @RpcService and @RpcReference instead (docs/from-dubbo.md)",
                    String.join(", ", found.stream().limit(MAX_SHOWN).toList())
                            + (found.size() > MAX_SHOWN ? " and " + (found.size() - MAX_SHOWN) + " more" : ""));
        }
    }

    private Stream<Class<?>> types() {
        return Arrays.stream(beans.getBeanDefinitionNames())
                .<Class<?>>map(name -> beans.getType(name, false))
                .filter(Objects::nonNull)
                .map(type -> ClassUtils.getUserClass(type));
    }

    private static boolean isOfDubbo(Class<?> type) {
        return PACKAGES.stream().anyMatch(type.getName()::startsWith);
    }

    private static void addMembers(Class<?> type, List<String> names, Set<String> found) {
        AccessibleObject[] fields;
        AccessibleObject[] methods;
        try {
            fields = type.getDeclaredFields();
            methods = type.getDeclaredMethods();
        } catch (LinkageError e) {
            return; // A class in a signature is missing, so the members of the type cannot be searched.
        }
        Stream.<AccessibleObject[]>of(fields, methods)
                .flatMap(Arrays::stream)
                .forEach(member -> annotation(member, names)
                        .ifPresent(name ->
                                found.add(type.getName() + "." + ((Member) member).getName() + " has @" + name)));
    }

    private static Optional<String> annotation(AnnotatedElement place, List<String> names) {
        return Arrays.stream(place.getAnnotations())
                .map(annotation -> annotation.annotationType())
                .filter(type -> names.contains(type.getName()))
                .map(Class::getSimpleName)
                .findFirst();
    }

    /**
     * Adds annotated classes of the application. These classes are not beans, because only Dubbo would register them as
     * beans.
     */
    private void addClasses(List<String> names, Set<String> found) {
        if (!AutoConfigurationPackages.has(beans)) {
            return;
        }
        for (String name : names) {
            ClassPathScanningCandidateComponentProvider scan = new ClassPathScanningCandidateComponentProvider(false);
            scan.addIncludeFilter(
                    (reader, factory) -> reader.getAnnotationMetadata().isAnnotated(name));
            AutoConfigurationPackages.get(beans).stream()
                    .flatMap(own -> scan.findCandidateComponents(own).stream())
                    .map(BeanDefinition::getBeanClassName)
                    .forEach(type -> found.add(type + " has @" + ClassUtils.getShortName(name)));
        }
    }
}
