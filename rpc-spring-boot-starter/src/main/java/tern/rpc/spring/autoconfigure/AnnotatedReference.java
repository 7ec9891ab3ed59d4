package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.RpcMethod;
import tern.rpc.ServiceDescriptor;
import tern.rpc.client.MethodSettings;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription.Level;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;
import tern.rpc.transport.InMemoryTransport;

/**
 * A place that has the annotation {@code @RpcReference}. Combines the annotation with the properties, which take
 * precedence.
 */
final class AnnotatedReference {

    private static final String DEFAULT_PROTOCOL = "dubbo";

    /**
     * Matches the names that can be part of a property name. When names are compared, dots, underscores and hyphens are
     * ignored.
     */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]*");

    private final ClientSettings client;
    private final Class<?> type;
    private final RpcReference annotation;
    private final UnaryOperator<String> placeholders;
    private final String where;
    private final String name; // the service's name as written in the properties
    private final RpcClientProperties.Service service;
    private final String prefix; // the prefix of the service's properties
    private final String annotatedUrl;

    /**
     * @param placeholders replaces placeholders in the annotation
     * @param where the place of the annotation, for error messages
     */
    AnnotatedReference(
            ClientSettings client,
            Class<?> type,
            RpcReference annotation,
            UnaryOperator<String> placeholders,
            String where) {
        this.client = client;
        this.type = type;
        this.annotation = annotation;
        this.placeholders = placeholders;
        this.where = where;
        checkName(placeholders.apply(annotation.name()), where);
        Map.Entry<String, RpcClientProperties.Service> configured =
                client.configured(ClientSettings.nameOf(type, annotation, placeholders));
        this.name = configured.getKey();
        this.service = configured.getValue();
        this.prefix = ClientSettings.PREFIX + name;
        this.annotatedUrl = placeholders.apply(annotation.url());
    }

    /** Rejects a name that cannot be part of a property name. */
    private static void checkName(String name, String where) {
        if (!NAME.matcher(name).matches()) {
            String corrected = name.strip().replaceAll("[^A-Za-z0-9]+", "-");
            throw new InvalidPropertyException(
                    "@RpcReference(name) at " + where,
                    "'" + name + "'",
                    "letters from A to Z, digits and hyphens, because the settings of the reference are below "
                            + ClientSettings.PREFIX + "<name>"
                            + (corrected.matches(".*[A-Za-z0-9].*") ? "; for example " + corrected : ""));
        }
    }

    ReferenceSettings settings() {
        ReferenceRegistry registry = registry();
        MethodSettings defaults = defaults();
        Addresses addresses = registry == null ? addresses() : Addresses.NONE;
        return new ReferenceSettings(
                type,
                client.key(type, annotation, placeholders),
                addresses.endpoints(),
                registry,
                client.resolveInterval(),
                protocol(addresses),
                defaults,
                methods(defaults),
                connections(),
                ClientSettings.either(service.check(), annotation.check()),
                client.choice().with(service, prefix),
                client.tls().get(name),
                service.token());
    }

    /** Returns the registry, or null if the reference has addresses. The most specific setting takes precedence. */
    private @Nullable ReferenceRegistry registry() {
        RegistryUrl found = null;
        if (isDetailed()) {
            return null;
        }
        if (service.registry() != null && !service.registry().isBlank()) {
            found = named(prefix + ".registry", service.registry());
        } else if (!service.url().isEmpty()) {
            found = Registries.in(prefix + ".url", service.url()).findFirst().orElse(null);
        } else if (!annotatedUrl.isEmpty()) {
            found = Registries.in("@RpcReference(url) at " + where, List.of(annotatedUrl))
                    .findFirst()
                    .orElse(null);
        } else if (client.url().endpoints().isEmpty()) {
            found = client.registry();
        }
        return found == null
                ? null
                : new ReferenceRegistry(
                        found,
                        service.providedBy(),
                        service.level() == null ? Level.BOTH : service.level(),
                        client.registryCache());
    }

    private RegistryUrl named(String property, String nameOrAddress) {
        if (Registries.isRegistry(nameOrAddress)) {
            return Registries.parse(property, nameOrAddress);
        }
        RegistryUrl named = client.registries().get(ClientSettings.uniform(nameOrAddress));
        if (named == null) {
            throw new InvalidPropertyException(
                    property,
                    "'" + nameOrAddress + "'",
                    "the address of a registry, or a name from rpc.client.registries, which has "
                            + client.registries().keySet());
        }
        return named;
    }

    private Addresses addresses() {
        Addresses detailed = client.details()
                .get()
                .map(source -> source.addresses(name))
                .filter(found -> !found.isEmpty())
                .findFirst()
                .map(found -> Addresses.parse("RpcConnectionDetails for " + where, found))
                .orElse(null);
        if (detailed != null) {
            return detailed;
        }
        String property = prefix + ".url";
        Addresses own = Addresses.parse(property, service.url());
        if (own.endpoints().isEmpty() && !annotatedUrl.isEmpty()) {
            own = Addresses.parse("@RpcReference(url) at " + where, List.of(annotatedUrl.split(",")));
        }
        if (!own.endpoints().isEmpty()) {
            return own;
        }
        if (client.url().endpoints().isEmpty()) {
            throw new RpcStartException(
                    "No provider of " + type.getName() + " is configured for the reference at " + where + otherNames(),
                    "Set " + property
                            + " (for instance to 127.0.0.1:20880, or to local for a service of this application),"
                            + " rpc.client.url or rpc.client.registry for all services, or url in the annotation."
                            + " An empty value counts as not set.",
                    null);
        }
        return client.url();
    }

    /**
     * Lists the names with addresses in the properties. One of these names might be a misspelling of this reference's
     * name.
     */
    private String otherNames() {
        List<String> names = client.services().entrySet().stream()
                .filter(service -> !service.getValue().url().isEmpty()
                        || service.getValue().registry() != null)
                .map(Map.Entry::getKey)
                .toList();
        return names.isEmpty()
                ? ""
                : "; below rpc.client.services, only these names have addresses: " + StartLine.names(names)
                        + ", and the name of this reference is " + name;
    }

    private String protocol(Addresses addresses) {
        String annotated = placeholders.apply(annotation.protocol());
        String protocol = addresses.protocol();
        if (protocol == null) {
            return annotated.isEmpty() ? DEFAULT_PROTOCOL : annotated;
        }
        boolean contradicts =
                !annotated.isEmpty() && !annotated.equals(protocol) && !protocol.equals(InMemoryTransport.PROTOCOL);
        // Addresses that are configured for this reference take precedence over the annotation.
        if (contradicts && service.url().isEmpty() && !isDetailed()) {
            throw new RpcStartException(
                    "@RpcReference at " + where + " has the protocol " + annotated + ", but "
                            + (annotatedUrl.isEmpty() ? "rpc.client.url" : "its url") + " has the protocol " + protocol,
                    "Remove protocol from the annotation, "
                            + (annotatedUrl.isEmpty()
                                    ? "or set " + prefix + ".url to addresses with the protocol " + annotated + "."
                                    : "or let its url begin with " + annotated + "://."),
                    null);
        }
        return protocol;
    }

    /**
     * Returns whether connection details, such as the details of a container, supply the addresses of the reference.
     */
    private boolean isDetailed() {
        return client.details().get().anyMatch(source -> !source.addresses(name).isEmpty());
    }

    /** Returns the settings for all methods without separate settings. */
    private MethodSettings defaults() {
        MethodSettings bounded = timeout();
        MethodSettings timeout = service.hedging() == null ? bounded : bounded.withHedging(service.hedging());
        MethodSettings waiting = ClientSettings.either(service.waitForReady(), client.waitForReady())
                ? timeout.withWaitForReady(true)
                : timeout;
        return service.hashKey() == null ? waiting : waiting.withHashKey(service.hashKey());
    }

    private MethodSettings timeout() {
        String annotated = placeholders.apply(annotation.timeout());
        Duration timeout = service.timeout();
        if (timeout != null) {
            return MethodSettings.NONE.withTimeout(timeout, prefix + ".timeout");
        }
        return annotated.isEmpty()
                ? MethodSettings.NONE
                : MethodSettings.NONE.withTimeout(
                        duration(annotated, "@RpcReference(timeout) at " + where),
                        "@RpcReference(timeout) at " + where);
    }

    private static Duration duration(String text, String property) {
        try {
            return PropertyCheck.callTimeout(property, DurationStyle.detectAndParse(text));
        } catch (IllegalArgumentException e) {
            throw new InvalidPropertyException(property, "'" + text + "'", "a number with a unit, such as 500ms or 2s");
        }
    }

    private Map<String, MethodSettings> methods(MethodSettings defaults) {
        Set<String> declared =
                Arrays.stream(type.getMethods()).map(Method::getName).collect(Collectors.toSet());
        Map<String, MethodSettings> methods = new TreeMap<>();
        service.methods()
                .forEach((written, method) -> methods.put(
                        ClientSettings.methodNamed(written, declared),
                        new MethodSettings(
                                method.timeout(),
                                method.idempotent(),
                                method.oneWay(),
                                method.timeout() == null ? null : prefix + ".methods." + written + ".timeout",
                                method.waitForReady(),
                                method.hashKey(),
                                method.hedging())));
        addTimeouts(methods, defaults.timeout() != null);
        return methods;
    }

    /**
     * Replaces the placeholders in the timeouts that the interface declares. The interface's timeouts take precedence
     * over the client's timeout.
     *
     * @param isSetForService whether a timeout is set for the service. Except for streaming methods, this timeout takes
     *     precedence over the interface's timeouts
     */
    private void addTimeouts(Map<String, MethodSettings> methods, boolean isSetForService) {
        boolean marked =
                Arrays.stream(type.getMethods()).anyMatch(method -> method.isAnnotationPresent(RpcMethod.class));
        if (!marked) {
            return;
        }
        for (MethodDescriptor method : ServiceDescriptor.of(type).methods()) {
            String text = method.timeoutPlaceholder();
            MethodSettings own = methods.getOrDefault(method.name(), MethodSettings.NONE);
            boolean isReplaced = isSetForService && method.type() == MethodType.UNARY;
            if (text != null && own.timeout() == null && !isReplaced) {
                String place = "@RpcMethod(timeout) of " + method;
                methods.put(method.name(), own.withTimeout(duration(placeholders.apply(text), place), place));
            }
        }
    }

    private int connections() {
        return service.connections() == null
                ? PropertyCheck.between("@RpcReference(connections) at " + where, annotation.connections(), 0, 1_024)
                : service.connections();
    }
}
