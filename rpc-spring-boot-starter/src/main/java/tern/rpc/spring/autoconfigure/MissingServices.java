package tern.rpc.spring.autoconfigure;

import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcService;

/**
 * Warns if server properties are set but the application has no service. Spring may have failed to find the services.
 * Without the warning, the application would then exit without a message.
 */
final class MissingServices implements SmartInitializingSingleton {

    private static final Logger LOG = LoggerFactory.getLogger(MissingServices.class);

    private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("rpc.server");
    private static final ConfigurationPropertyName PORT = ROOT.append("port");

    /** The properties under {@code rpc.server} that also have an effect in an application without a server. */
    private static final Set<ConfigurationPropertyName> FOR_CLIENTS_TOO =
            Set.of(ROOT.append("enabled"), ROOT.append("io-threads"));

    private final Environment environment;
    private final ListableBeanFactory beans;

    MissingServices(Environment environment, ListableBeanFactory beans) {
        this.environment = environment;
        this.beans = beans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (!environment.getProperty("rpc.server.enabled", Boolean.class, true) || servesSomething()) {
            return;
        }
        serverProperty()
                .ifPresent(property -> LOG.warn(
                        "Property {}{} needs a server, but no bean with @RpcService was found, so this application"
                                + " serves nothing. Check that each class with @RpcService is in the package of the class"
                                + " with @SpringBootApplication or below it, or that @ComponentScan names its package,"
                                + " and that the class is neither abstract nor an inner class",
                        property.getName(),
                        UnknownPropertyCheck.origin(property)));
    }

    private boolean servesSomething() {
        return beans.getBeanNamesForAnnotation(RpcService.class).length > 0
                || beans.getBeanProvider(RpcServer.class).stream()
                        .anyMatch(server ->
                                !BuiltInService.others(server.exports()).isEmpty());
    }

    /** Returns a property that is set but has no effect without a server. If several are set, the port is preferred. */
    private Optional<ConfigurationProperty> serverProperty() {
        return set().filter(property -> property.getName().equals(PORT))
                .findFirst()
                .or(() -> set().findFirst());
    }

    private Stream<ConfigurationProperty> set() {
        KnownProperties known = new KnownProperties();
        return StreamSupport.stream(
                        ConfigurationPropertySources.get(environment).spliterator(), false)
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
