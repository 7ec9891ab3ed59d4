package tern.rpc.spring.autoconfigure;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.util.PlaceholderResolutionException;
import tern.rpc.settings.RpcStartException;

/** Replaces placeholders in annotations. */
final class Placeholders {

    private Placeholders() {}

    /**
     * Replaces the placeholders in the text with their values.
     *
     * @param attribute the attribute and its place, for the error message, such as
     *     {@code @RpcService(group) of bean 'orders'}
     * @throws RpcStartException if there is no property for a placeholder
     */
    static String resolve(ConfigurableBeanFactory beans, String text, String attribute) {
        try {
            String resolved = beans.resolveEmbeddedValue(text);
            return resolved == null ? "" : resolved;
        } catch (PlaceholderResolutionException e) {
            String name = e.getPlaceholder();
            throw new RpcStartException(
                    attribute + " is '" + text + "', but there is no property " + name,
                    "Set the property " + name + ", or give the placeholder a default value: ${" + name + ":…}.",
                    e);
        }
    }
}
