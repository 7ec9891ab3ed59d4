package tern.rpc.spring.autoconfigure;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.util.PlaceholderResolutionException;
import tern.rpc.settings.RpcStartException;

/** Replaces placeholders in annotations. */
final class Placeholders {

    /** Matches the name of the property in a placeholder. */
    private static final Pattern NAME = Pattern.compile("\\$\\{([^:{}$]+)[:}]");

    /** The beginning of an expression of Spring (SpEL). */
    private static final String EXPRESSION = "#{";

    /**
     * Matches a property name with at least two elements. A single word could be an actual group, even if an
     * environment variable has the same name.
     */
    private static final Pattern PROPERTY = Pattern.compile("[a-zA-Z][\\w-]*(\\.[\\w-]+)+");

    private Placeholders() {}

    /**
     * Replaces the placeholders in the text with their values.
     *
     * @param attribute the attribute and its place, for the error message, such as
     *     {@code @RpcService(group) of bean 'orders'}
     * @throws RpcStartException if there is no property for a placeholder, if YAML has changed the property's text, or
     *     if the text contains an expression or is the name of a property
     */
    static String resolve(ConfigurableBeanFactory beans, String text, String attribute) {
        try {
            checkUnchanged(beans, text, attribute);
            checkNoProperty(beans, text, attribute);
            String resolved = beans.resolveEmbeddedValue(text);
            if (resolved != null && resolved.contains(EXPRESSION)) {
                throw new RpcStartException(
                        attribute + " is '" + text + "', but Tern replaces only placeholders (${…}) there, and no"
                                + " expressions (#{…})",
                        "Put the value into a property, and write the placeholder of this property.",
                        null);
            }
            return resolved == null ? "" : resolved;
        } catch (PlaceholderResolutionException e) {
            String name = e.getPlaceholder();
            if (name != null && property(beans, name + "[0]") != null) {
                throw new RpcStartException(
                        attribute + " is '" + text + "', but the property " + name + " is a list, which a"
                                + " placeholder cannot read",
                        "Write the values of " + name + " as one text with commas, such as " + name + ": \"a,b\".",
                        e);
            }
            throw new RpcStartException(
                    attribute + " is '" + text + "', but there is no property " + name,
                    "Set the property " + name + ", or give the placeholder a default value: ${" + name + ":…}.",
                    e);
        }
    }

    /** Rejects text that is only the name of a property, because it was probably meant to be a placeholder. */
    private static void checkNoProperty(ConfigurableBeanFactory beans, String text, String attribute) {
        if (PROPERTY.matcher(text).matches() && property(beans, text) != null) {
            throw new RpcStartException(
                    attribute + " is '" + text + "', which is the name of a property, and not its value",
                    "Write ${" + text + "} to use the value of the property.",
                    null);
        }
    }

    private static void checkUnchanged(ConfigurableBeanFactory beans, String text, String attribute) {
        NAME.matcher(text).results().map(name -> name.group(1)).forEach(name -> {
            ConfigurationProperty property = property(beans, name);
            YamlText changed = property == null ? null : YamlText.changedBy(property);
            if (changed != null) {
                throw new RpcStartException(
                        attribute + " is '" + text + "', but the property " + name + " " + changed.problem(),
                        changed.action(),
                        null);
            }
        });
    }

    private static @Nullable ConfigurationProperty property(ConfigurableBeanFactory beans, String name) {
        Environment environment =
                beans.getBean(ConfigurableApplicationContext.ENVIRONMENT_BEAN_NAME, Environment.class);
        ConfigurationPropertyName adapted = ConfigurationPropertyName.adapt(name, '.');
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            ConfigurationProperty property = source.getConfigurationProperty(adapted);
            if (property != null) {
                return property;
            }
        }
        return null;
    }
}
