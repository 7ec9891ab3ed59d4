package tern.rpc.spring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Refuses properties under our roots that do not exist, which are most often typing errors. Environment variables only
 * cause a warning: container platforms invent such names, {@code RPC_SERVER_SERVICE_HOST} for a service called
 * {@code rpc-server}.
 */
final class UnknownPropertyCheck implements BeanFactoryPostProcessor {

    private static final Logger LOG = LoggerFactory.getLogger(UnknownPropertyCheck.class);

    private final Environment environment;
    private final KnownProperties known = new KnownProperties();

    UnknownPropertyCheck(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        List<String> problems = new ArrayList<>();
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source instanceof IterableConfigurationPropertySource names) {
                check(names, problems);
            }
        }
        if (!problems.isEmpty()) {
            throw new RpcStartException(
                    String.join("; ", problems), "Correct the name, or take the property out.", null);
        }
    }

    private void check(IterableConfigurationPropertySource source, List<String> problems) {
        if (source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource) {
            ours(source)
                    .filter(name -> !known.containsVariable(name))
                    .forEach(name -> LOG.warn("Environment variable ignored: {}", describe(source, name)));
        } else {
            ours(source).filter(name -> !known.contains(name)).forEach(name -> problems.add(describe(source, name)));
        }
    }

    private Stream<ConfigurationPropertyName> ours(IterableConfigurationPropertySource source) {
        return source.stream().filter(name -> known.roots().stream().anyMatch(root -> root.isAncestorOf(name)));
    }

    private String describe(ConfigurationPropertySource source, ConfigurationPropertyName name) {
        String suggestion = known.closestTo(name);
        return "property " + name + origin(source.getConfigurationProperty(name)) + " does not exist"
                + (suggestion == null ? "" : "; did you mean " + suggestion + "?");
    }

    private static String origin(@Nullable ConfigurationProperty property) {
        return property == null || property.getOrigin() == null ? "" : " (set in " + property.getOrigin() + ")";
    }
}
