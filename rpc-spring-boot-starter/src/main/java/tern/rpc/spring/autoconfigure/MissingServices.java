package tern.rpc.spring.autoconfigure;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Executable;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.util.ClassUtils;
import tern.rpc.client.RpcClient;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/**
 * Warns in three cases: server properties are set but the application has no service, there are services but no server,
 * or a lazy bean hides a service. Also logs one line if the application has neither services nor references, because
 * Spring might have failed to find them. Without this line, such an application would exit without an explanation.
 */
final class MissingServices implements SmartInitializingSingleton {

    private static final Logger LOG = LoggerFactory.getLogger(MissingServices.class);

    private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("rpc.server");
    private static final ConfigurationPropertyName PORT = ROOT.append("port");

    /** The properties under {@code rpc.server} that also have an effect in an application without a server. */
    private static final Set<ConfigurationPropertyName> FOR_CLIENTS_TOO =
            Set.of(ROOT.append("enabled"), ROOT.append("io-threads"));

    /**
     * The name of the property source that contains the properties of a test class. {@code @RpcTest} sets server
     * properties in this source, even for tests that only have references.
     */
    private static final String OF_TEST = "Inlined Test Properties";

    private final Environment environment;
    private final ConfigurableListableBeanFactory beans;

    MissingServices(Environment environment, ConfigurableListableBeanFactory beans) {
        this.environment = environment;
        this.beans = beans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (!environment.getProperty("rpc.server.enabled", Boolean.class, true)) {
            return;
        }
        Set<String> late = LateServices.in(beans);
        late.forEach(name -> LOG.warn(
                "Bean '{}' is an @RpcService, but this application has no RPC server, because {}. {}",
                name,
                LateServices.reason(beans, name),
                LateServices.action(beans, name)));
        Map<String, Class<?>> hidden = HiddenServices.in(beans);
        hidden.forEach((name, type) -> LOG.warn(
                "Bean '{}' will be a {}, which is an @RpcService, but it is not exported, because {}. {}",
                name,
                type.getName(),
                LateServices.reason(beans, name),
                LateServices.action(beans, name)));
        if (!late.isEmpty() || !hidden.isEmpty() || servesSomething()) {
            return;
        }
        ConfigurationProperty property = serverProperty().orElse(null);
        if (property != null) {
            LOG.warn(
                    "Property {}{} needs a server, but no bean with @RpcService was found, so this application"
                            + " serves nothing. Check that each class with @RpcService is in the package of the class"
                            + " with @SpringBootApplication or below it, or that @ComponentScan names its package,"
                            + " that no @Profile or @Conditional… annotation leaves it out, and that the class is"
                            + " neither abstract nor an inner class",
                    property.getName(),
                    UnknownPropertyCheck.origin(property));
        } else if (!callsSomething()) {
            LOG.info(
                    "Nothing is served or called: no bean with @RpcService and no bean with @RpcReference was found{}",
                    scannedPackages());
        }
    }

    private String scannedPackages() {
        return AutoConfigurationPackages.has(beans)
                ? ". Spring looks for beans in " + String.join(", ", AutoConfigurationPackages.get(beans))
                        + " and the packages below, unless @ComponentScan names others"
                : "";
    }

    private boolean servesSomething() {
        return beans.getBeanNamesForAnnotation(RpcService.class).length > 0
                || beans.getBeanProvider(RpcServer.class).stream()
                        .anyMatch(server ->
                                !BuiltInService.others(server.exports()).isEmpty());
    }

    /**
     * Returns whether the application calls services: a bean has a reference, even if the bean does not exist yet, or
     * the application uses the client directly.
     */
    private boolean callsSomething() {
        return Arrays.stream(beans.getBeanNamesForType(RpcClient.class, true, false))
                        .anyMatch(beans::containsSingleton)
                || Arrays.stream(beans.getBeanDefinitionNames())
                        .map(name -> beans.getType(name, false))
                        .anyMatch(type -> type != null && refers(ClassUtils.getUserClass(type)))
                || !AwaitedReferences.in(beans).known().isEmpty();
    }

    private static boolean refers(Class<?> bean) {
        for (Class<?> type = bean; type != null && !ServiceInterfaces.isForeign(type); type = type.getSuperclass()) {
            Stream<? extends Executable> executables = Stream.concat(
                    Arrays.stream(type.getDeclaredMethods()), Arrays.stream(type.getDeclaredConstructors()));
            Stream<AnnotatedElement> places = Stream.concat(
                    Arrays.stream(type.getDeclaredFields()),
                    executables.flatMap(executable ->
                            Stream.concat(Stream.of(executable), Arrays.stream(executable.getParameters()))));
            if (places.anyMatch(place -> AnnotatedElementUtils.isAnnotated(place, RpcReference.class))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOfTest(ConfigurationPropertySource source) {
        return source.getUnderlyingSource() instanceof PropertySource<?> underlying
                && underlying.getName().equals(OF_TEST);
    }

    /**
     * Returns a property that is set but has no effect without a server. If the port is one of several such properties,
     * returns the port.
     */
    private Optional<ConfigurationProperty> serverProperty() {
        return set().filter(property -> property.getName().equals(PORT))
                .findFirst()
                .or(() -> set().findFirst());
    }

    private Stream<ConfigurationProperty> set() {
        KnownProperties known = new KnownProperties();
        return StreamSupport.stream(
                        ConfigurationPropertySources.get(environment).spliterator(), false)
                .filter(source -> !isOfTest(source))
                .filter(IterableConfigurationPropertySource.class::isInstance)
                .map(IterableConfigurationPropertySource.class::cast)
                .flatMap(source -> source.stream()
                        .filter(name -> ROOT.isAncestorOf(name)
                                && known.containsVariable(name)
                                && !FOR_CLIENTS_TOO.contains(name))
                        .map(source::getConfigurationProperty)
                        .filter(Objects::nonNull));
    }
}
