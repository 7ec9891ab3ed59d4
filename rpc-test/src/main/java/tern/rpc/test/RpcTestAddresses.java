package tern.rpc.test;

import java.util.List;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import tern.rpc.spring.RpcConnectionDetails;

/**
 * Sends the calls of all references to {@code rpc.client.url}. Without this configuration, the application's
 * {@code rpc.client.services.<name>.url} and {@code @RpcReference(url)} would take precedence, and a test would call
 * the real provider. An address or registry that the test itself sets for one service still takes precedence.
 *
 * <p>{@link RpcTest} imports this configuration. Tests with {@code @SpringBootTest} may import it with
 * {@code @ImportAutoConfiguration}.
 */
// Container beans must be defined before this bean, because the addresses of containers take precedence over the
// addresses that this bean supplies.
@AutoConfiguration(
        afterName = "org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration")
public final class RpcTestAddresses {

    private static final ConfigurationPropertyName URL = ConfigurationPropertyName.of("rpc.client.url");

    @Bean
    RpcConnectionDetails rpcTestAddresses(Environment environment) {
        return reference -> {
            String service = "rpc.client.services." + reference;
            if (isOfTest(environment, service + ".url") || isOfTest(environment, service + ".registry")) {
                return List.of();
            }
            List<String> urls = Binder.get(environment)
                    .bind(URL, Bindable.listOf(String.class))
                    .orElseGet(List::of);
            // Connection details can contain only provider addresses. If the property contains registry addresses, the
            // result is empty.
            return urls.stream().anyMatch(url -> url.matches("(zookeeper|file)://.*")) ? List.of() : urls;
        };
    }

    /**
     * Returns whether the test sets the property. In Spring's environment, a test's properties come before the system
     * properties, and the application's properties come after the system properties.
     */
    private static boolean isOfTest(Environment environment, String property) {
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property, '.');
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source.getUnderlyingSource() instanceof PropertySource<?> underlying
                    && underlying.getName().equals(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME)) {
                return false;
            }
            if (source.getConfigurationProperty(name) != null
                    || source.getConfigurationProperty(name.append("[0]")) != null) {
                return true;
            }
        }
        return false;
    }
}
