package tern.rpc.spring.autoconfigure;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import tern.rpc.ServiceKey;
import tern.rpc.settings.InvalidPropertyException;

/**
 * Records which settings and services the references use. Reports settings and fallbacks that no reference uses, for
 * example because of a mistyped name or a different group. Thread-safe.
 */
final class UsedSettings {

    private static final Logger LOG = LoggerFactory.getLogger(UsedSettings.class);

    private final Environment environment;
    private final RpcClientProperties properties;
    // All following fields are guarded by this object's lock.
    private final Map<String, Set<ReferenceSettings>> byName = new LinkedHashMap<>();
    private final Map<String, InvalidPropertyException> unfit = new TreeMap<>();
    // the properties whose method exists in the interface of at least one reference
    private final Set<String> usedProperties = new TreeSet<>();
    private final Set<ServiceKey> called = new LinkedHashSet<>();
    private final Set<String> names = new TreeSet<>(); // the names of the references, as written in the properties
    private boolean allAreKnown; // true once all beans have been created

    UsedSettings(Environment environment, RpcClientProperties properties) {
        this.environment = environment;
        this.properties = properties;
    }

    /** @param name the name of the reference as written in the properties */
    synchronized void add(String name, ReferenceSettings reference) {
        add(name, reference.key());
        byName.computeIfAbsent(name, unseen -> new LinkedHashSet<>()).add(reference);
    }

    /** Records a reference by its name and its service, without its settings. */
    synchronized void add(String name, ServiceKey service) {
        names.add(name);
        called.add(service);
    }

    /**
     * Checks the settings of methods. Several interfaces with the same simple name share their settings, so a method in
     * the settings might be missing from some of the interfaces. A missing method is therefore only recorded until all
     * references are known.
     */
    synchronized void checkMethods(Class<?> type, Map.Entry<String, RpcClientProperties.Service> configured) {
        String prefix = ClientSettings.PREFIX + configured.getKey();
        RpcClientProperties.Service service = configured.getValue();
        Map<String, InvalidPropertyException> missing = MethodProperties.check(type, prefix, service);
        Stream.concat(
                        Stream.of(prefix),
                        service.methods().keySet().stream().map(method -> prefix + ".methods." + method))
                .filter(property -> !missing.containsKey(property))
                .forEach(usedProperties::add);
        unfit.putAll(missing);
        unfit.keySet().removeAll(usedProperties);
        if (allAreKnown) {
            checkMissingMethods();
        }
    }

    private void checkMissingMethods() {
        if (!unfit.isEmpty()) {
            throw unfit.values().iterator().next();
        }
    }

    /**
     * Called when all references are known.
     *
     * @throws InvalidPropertyException if the settings name a method that no interface has
     */
    synchronized void complete() {
        allAreKnown = true;
        checkMissingMethods();
    }

    /** Warns about settings and fallbacks that no reference uses. */
    synchronized void logUnused(ConfigurableListableBeanFactory beans, AwaitedReferences awaited) {
        UnusedSettings.log(UnusedSettings.find(environment, properties, byName));
        SettingsOfNoMethod.shared(properties, byName)
                .forEach(text -> LOG.warn("{}. To tell them apart, set name in @RpcReference", text));
        properties.services().keySet().stream()
                // The names are compared in a uniform spelling, because their spellings may differ.
                .filter(name -> names.stream()
                        .noneMatch(used -> ClientSettings.uniform(used).equals(ClientSettings.uniform(name))))
                .forEach(name -> LOG.warn(
                        "rpc.client.services.{} is set, but no reference has that name; {}{}",
                        name,
                        names.isEmpty() ? "there is no reference" : "there are " + String.join(", ", names),
                        awaited.mayBeMore()));
        FallbackBeans.unused(beans, called)
                .forEach((name, service) -> LOG.warn(
                        "@RpcFallback of bean '{}' is for {}, but no reference calls this service; {}{}",
                        name,
                        service,
                        called.isEmpty()
                                ? "there is no reference"
                                : "there are references to "
                                        + called.stream().map(String::valueOf).collect(Collectors.joining(", ")),
                        awaited.mayBeMore()));
    }
}
