package tern.rpc.spring.autoconfigure;

import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.RpcStartException;

/**
 * Describes a failed startup without a stack trace. The description shows the error, the change to make, and the place
 * where the property was set.
 */
final class RpcStartFailureAnalyzer extends AbstractFailureAnalyzer<RpcStartException> {

    private final Environment environment;

    RpcStartFailureAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, RpcStartException cause) {
        String description = cause instanceof InvalidPropertyException invalid
                ? cause.getMessage() + origin(invalid.property())
                : String.valueOf(cause.getMessage());
        return new FailureAnalysis(sentence(description), cause.action(), cause);
    }

    /** Appends a full stop to the description, unless it already ends with a full stop or a question mark. */
    private static String sentence(String description) {
        return description.endsWith("?") || description.endsWith(".") ? description : description + ".";
    }

    private String origin(String property) {
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property, '.');
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            ConfigurationProperty found = source.getConfigurationProperty(name);
            if (found != null) {
                return found.getOrigin() == null ? "" : " (set in " + found.getOrigin() + ")";
            }
        }
        return "";
    }
}
