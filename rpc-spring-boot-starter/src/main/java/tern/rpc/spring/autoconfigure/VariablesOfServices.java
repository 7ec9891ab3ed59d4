package tern.rpc.spring.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.env.OriginTrackedMapPropertySource;
import org.springframework.boot.origin.OriginTrackedValue;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Reads environment variables such as {@code RPC_CLIENT_SERVICES_ORDER_SERVICE_TIMEOUT}. Spring replaces each
 * underscore with a dot, and would therefore apply the variable to a service named {@code order}. This class converts
 * the variable to the property {@code rpc.client.services.orderservice.timeout}, which applies to the service {@code
 * OrderService}.
 */
final class VariablesOfServices {

    private static final String SOURCE = "rpcVariablesOfServices";

    private VariablesOfServices() {}

    /**
     * Adds the converted properties as a property source directly after the environment variables, so that both have
     * the same precedence.
     */
    static void addTo(ConfigurableEnvironment environment, KnownProperties known) {
        MutablePropertySources sources = environment.getPropertySources();
        String variables = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
        if (!sources.contains(variables) || sources.contains(SOURCE)) {
            return;
        }
        Map<String, Object> found = new LinkedHashMap<>();
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource
                    && source instanceof IterableConfigurationPropertySource names) {
                names.stream().forEach(name -> add(names, name, known, found));
            }
        }
        if (!found.isEmpty()) {
            sources.addAfter(variables, new OriginTrackedMapPropertySource(SOURCE, found, true));
        }
    }

    private static void add(
            ConfigurationPropertySource source,
            ConfigurationPropertyName name,
            KnownProperties known,
            Map<String, Object> found) {
        String property = known.joinedName(name);
        ConfigurationProperty set = property == null ? null : source.getConfigurationProperty(name);
        if (property != null && set != null && set.getValue() != null) {
            found.putIfAbsent(property, OriginTrackedValue.of(set.getValue(), set.getOrigin()));
        }
    }
}
