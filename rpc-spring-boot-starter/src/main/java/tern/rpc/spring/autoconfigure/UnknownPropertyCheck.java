package tern.rpc.spring.autoconfigure;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
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
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import tern.rpc.settings.RpcStartException;

/**
 * Rejects unknown properties under Tern's prefixes, because such properties are usually typing errors. Also rejects
 * properties that begin with a Dubbo prefix below {@code rpc.}, and Tern properties under a wrong prefix. Unknown
 * environment variables only cause a warning, because container platforms create variables such as {@code
 * RPC_SERVER_SERVICE_HOST} for a service called {@code rpc-server}. Other properties under {@code rpc.} might belong to
 * the application, so they are only logged once. Before the check, {@link VariablesOfServices} translates environment
 * variables that set the properties of services.
 */
final class UnknownPropertyCheck implements BeanFactoryPostProcessor {

    private static final Logger LOG = LoggerFactory.getLogger(UnknownPropertyCheck.class);

    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("rpc");

    private final Environment environment;
    private final KnownProperties known = new KnownProperties();
    private final PropertySuggestions suggestions = new PropertySuggestions(known);

    UnknownPropertyCheck(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        if (environment instanceof ConfigurableEnvironment changeable) {
            VariablesOfServices.addTo(changeable, known);
        }
        // The warning about misplaced arguments is logged first, because a misplaced argument can be the cause of a
        // problem that is found later.
        MisplacedArguments.warn(beans, known);
        List<String> problems = new ArrayList<>();
        Set<String> others = new LinkedHashSet<>();
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source instanceof IterableConfigurationPropertySource names) {
                check(names, problems);
                checkForeign(names, problems, others);
            }
        }
        MisplacedPrefixes prefixes = new MisplacedPrefixes(environment, known);
        problems.addAll(prefixes.problems());
        if (!problems.isEmpty()) {
            throw new RpcStartException(String.join("; ", problems), "Correct the name, or remove the property.", null);
        }
        // The values are not checked during ahead-of-time processing, because the environment variables of the build
        // machine differ from the variables of the machine that runs the application.
        if (!Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING)) {
            new PropertyValueCheck(environment, known).check();
        }
        prefixes.warnOfDubbo(beans.getBeanClassLoader());
        prefixes.warnOfGrpc(beans.getBeanClassLoader());
        prefixes.warnOfFeign(beans.getBeanClassLoader());
        if (!others.isEmpty()) {
            LOG.warn(
                    "Some properties below rpc. are not Tern's and have no effect on it. Tern's begin with"
                            + " {}. The others: {}",
                    known.roots().stream().map(String::valueOf).collect(Collectors.joining(", ")),
                    String.join("; ", others));
        }
    }

    private void check(IterableConfigurationPropertySource source, List<String> problems) {
        if (source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource) {
            ours(source)
                    .filter(name -> !known.containsVariable(name))
                    .forEach(name -> LOG.warn("Environment variable ignored: {}", describe(source, name)));
        } else {
            ours(source)
                    .filter(name -> !known.contains(name) && !isEmptyMap(source.getConfigurationProperty(name)))
                    .forEach(name -> problems.add(describe(source, name)));
        }
    }

    private void checkForeign(IterableConfigurationPropertySource source, List<String> problems, Set<String> others) {
        boolean variables = source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource;
        source.stream().filter(name -> isForeign(source, name)).forEach(name -> {
            String instead = name.equals(PREFIX) ? null : ForeignProperties.insteadOf(name, known);
            String found = "property " + name + origin(source.getConfigurationProperty(name));
            if (instead != null && variables) {
                LOG.warn("Environment variable ignored: {} is not one of Tern's; {}", found, instead);
            } else if (instead != null) {
                problems.add(found + " is not one of Tern's; " + instead);
            } else if (variables) {
                String corrected = name.equals(PREFIX) ? null : suggestions.misspelt(name);
                if (corrected != null && !MisplacedPrefixes.isServiceLink(source, name)) {
                    LOG.warn("Environment variable ignored: {} does not exist; did you mean {}?", found, corrected);
                }
            } else {
                String suggestion = name.equals(PREFIX) ? null : suggestions.aboutOther(name);
                others.add(name
                        + origin(source.getConfigurationProperty(name))
                        + (suggestion == null ? "" : ", " + suggestion));
            }
        });
    }

    private boolean isForeign(IterableConfigurationPropertySource source, ConfigurationPropertyName name) {
        return (PREFIX.isAncestorOf(name) || (PREFIX.equals(name) && hasValue(source, name)))
                && known.roots().stream().noneMatch(root -> root.equals(name) || root.isAncestorOf(name));
    }

    private Stream<ConfigurationPropertyName> ours(IterableConfigurationPropertySource source) {
        return source.stream()
                .filter(name -> known.roots().stream()
                        .anyMatch(root -> root.isAncestorOf(name) || (root.equals(name) && hasValue(source, name))));
    }

    /** Returns whether the property has a value. In YAML, a prefix without content is an empty property. */
    private static boolean hasValue(IterableConfigurationPropertySource source, ConfigurationPropertyName name) {
        ConfigurationProperty property = source.getConfigurationProperty(name);
        return property != null && !String.valueOf(property.getValue()).isBlank();
    }

    /**
     * Returns whether the value is an empty map of YAML, {@code {}}, which templates write for a group without
     * properties. Spring reads it as a blank value without a place in the file.
     */
    private static boolean isEmptyMap(@Nullable ConfigurationProperty property) {
        return property != null
                && String.valueOf(property.getValue()).isEmpty()
                && property.getOrigin() instanceof PropertySourceOrigin origin
                && origin.getOrigin() == null;
    }

    private String describe(ConfigurationPropertySource source, ConfigurationPropertyName name) {
        ConfigurationProperty property = source.getConfigurationProperty(name);
        return "property " + name + origin(property) + " "
                + suggestions.problem(withDots(source, name), property == null ? null : property.getValue());
    }

    /**
     * Returns the name with a dot in place of each {@code $}. Spring drops the {@code $} from the full name of a nested
     * interface. Without the dot, Tern could not suggest the interface's simple name.
     */
    private static ConfigurationPropertyName withDots(
            ConfigurationPropertySource source, ConfigurationPropertyName name) {
        if (source.getUnderlyingSource() instanceof EnumerablePropertySource<?> names) {
            for (String written : names.getPropertyNames()) {
                if (written.indexOf('$') >= 0
                        && ConfigurationPropertyName.adapt(written, '.').equals(name)) {
                    return ConfigurationPropertyName.adapt(written.replace('$', '.'), '.');
                }
            }
        }
        return name;
    }

    /** Returns the place where the property is set, in parentheses. Returns an empty string if the place is unknown. */
    static String origin(@Nullable ConfigurationProperty property) {
        return property == null || property.getOrigin() == null ? "" : " (set in " + property.getOrigin() + ")";
    }
}
