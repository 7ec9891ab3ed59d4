package tern.rpc.spring.autoconfigure;

import java.lang.reflect.InvocationTargetException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;

/**
 * Applies changed properties to the client and the server when Spring Cloud publishes an event about a changed
 * environment. Recognizes the event class by its name, because the starter does not depend on Spring Cloud.
 */
final class EnvironmentChanges implements ApplicationListener<ApplicationEvent> {

    static final String EVENT = "org.springframework.cloud.context.environment.EnvironmentChangeEvent";

    /** The properties whose changed values take effect immediately. The element {@code *} matches any name. */
    static final List<String> APPLIED = List.of(
            "rpc.client.timeout",
            "rpc.client.load-balancing",
            "rpc.client.url",
            "rpc.client.services.*.timeout",
            "rpc.client.services.*.load-balancing",
            "rpc.client.services.*.url",
            "rpc.client.services.*.methods.*.timeout",
            "rpc.server.max-concurrency",
            "rpc.server.max-queue-wait",
            "rpc.server.services.*.methods.*.max-concurrency");

    private static final Logger LOG = LoggerFactory.getLogger(EnvironmentChanges.class);

    private final ObjectProvider<RpcReferences> references;
    private final ObjectProvider<RunningLimits> limits;
    private final Environment environment;
    private final KnownProperties known = new KnownProperties();
    // the properties that a logged warning has already named; guarded by this
    private final Set<String> logged = new HashSet<>();

    EnvironmentChanges(
            ObjectProvider<RpcReferences> references, ObjectProvider<RunningLimits> limits, Environment environment) {
        this.references = references;
        this.limits = limits;
        this.environment = environment;
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        if (event.getClass().getName().equals(EVENT)) {
            keys(event).forEach(this::warnAboutFixed);
            references.ifAvailable(client -> client.change(environment));
            limits.ifAvailable(server -> server.change(environment));
        }
    }

    /** Returns the names of the changed properties. */
    private static List<String> keys(ApplicationEvent event) {
        try {
            return event.getClass().getMethod("getKeys").invoke(event) instanceof Collection<?> keys
                    ? keys.stream()
                            .filter(Objects::nonNull)
                            .map(String::valueOf)
                            .sorted()
                            .toList()
                    : List.of();
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            LOG.debug("The event does not name the changed properties", e);
            return List.of();
        }
    }

    /** Warns once about a changed property of Tern whose new value is used only after a restart. */
    private synchronized void warnAboutFixed(String key) {
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(key, '.');
        if (!name.isEmpty()
                && known.roots().stream().anyMatch(root -> root.isAncestorOf(name))
                && !isApplied(name)
                && logged.add(key)) {
            LOG.warn("{} has changed, but its new value takes effect only after a restart", key);
        }
    }

    private static boolean isApplied(ConfigurationPropertyName name) {
        int length = name.getNumberOfElements() - (name.isLastElementIndexed() ? 1 : 0);
        return APPLIED.stream().anyMatch(applied -> {
            List<String> elements = Stream.of(applied.split("\\.")).toList();
            for (int i = 0; i < length && i < elements.size(); i++) {
                String element = elements.get(i).replace("-", "");
                if (!element.equals("*") && !element.equals(name.getElement(i, Form.UNIFORM))) {
                    return false;
                }
            }
            return elements.size() == length;
        });
    }
}
