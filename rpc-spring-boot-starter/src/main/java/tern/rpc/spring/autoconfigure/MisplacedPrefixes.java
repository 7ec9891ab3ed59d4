package tern.rpc.spring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.util.ClassUtils;
import tern.rpc.TypingErrors;

/**
 * Finds properties that were meant for Tern but begin with a wrong prefix. The prefix can be {@code tern.rpc} (the name
 * of Tern's packages), a Spring Boot prefix because of a wrong indentation, {@code rpc} with a typing error, or a Dubbo,
 * gRPC or Feign prefix that remained after a migration. Without this check, such properties would be ignored silently.
 */
final class MisplacedPrefixes {

    private static final Logger LOG = LoggerFactory.getLogger(MisplacedPrefixes.class);

    private static final String DUBBO_CLASS = "org.apache.dubbo.common.URL";

    /** The file that Dubbo itself reads. Spring does not read it, so its properties are not in the environment. */
    private static final String DUBBO_FILE = "dubbo.properties";

    private static final int MAX_NAMES = 20;

    /** The minimum number of elements in a Tern property name that is misplaced below a Spring Boot prefix. */
    private static final int MIN_ELEMENTS = 4;

    /** Prefixes that no other framework or application uses, so their properties are meant for Tern. */
    private static final List<String> WRONG = List.of("tern.rpc", "tern-rpc");

    /**
     * The first elements of Spring Boot's own properties. A wrong indentation in YAML moves Tern's properties below
     * such an element, for example {@code spring.rpc.server.port} or {@code server.rpc.client.url}.
     */
    private static final Set<String> OF_BOOT = Set.of("spring", "server", "management", "logging");

    /** Spring Boot prefixes that are followed by names that the application chooses, such as meter names. */
    private static final List<ConfigurationPropertyName> FREE = Stream.of(
                    "logging.level", "management.metrics", "management.observations")
            .map(ConfigurationPropertyName::of)
            .toList();

    /** Prefixes that might also belong to the application. Properties with these prefixes only cause a warning. */
    private static final List<String> DOUBTFUL = List.of("tern", "spring.tern");

    private static final ConfigurationPropertyName OURS = ConfigurationPropertyName.of("rpc");

    /**
     * The letters of {@code rpc} in a wrong order, or with one letter repeated. Prefixes with other letters, such as
     * {@code grpc} and {@code ipc}, are probably names of other frameworks.
     */
    private static final Pattern MISSPELT = Pattern.compile("[rpc]{3,4}");

    /** Tern's property for each Dubbo property, as in the table in docs/from-dubbo.md. */
    static final Map<String, String> INSTEAD_OF_DUBBO = Map.ofEntries(
            Map.entry("dubbo.application.name", "spring.application.name"),
            Map.entry("dubbo.protocol.port", "rpc.server.port"),
            Map.entry("dubbo.protocol.host", "rpc.server.address"),
            Map.entry("dubbo.protocol.threads", "rpc.server.threads"),
            Map.entry("dubbo.protocol.queues", "rpc.server.queue-capacity"),
            Map.entry("dubbo.protocol.iothreads", "rpc.server.io-threads"),
            Map.entry("dubbo.protocol.payload", "rpc.limits.max-message"),
            Map.entry("dubbo.protocol.accepts", "rpc.limits.max-connections"),
            Map.entry("dubbo.protocol.heartbeat", "rpc.client.heartbeat"),
            Map.entry("dubbo.protocol.ssl-enabled", "rpc.server.ssl.bundle"),
            Map.entry("dubbo.consumer.timeout", "rpc.client.timeout"),
            Map.entry("dubbo.consumer.connections", "rpc.client.services.<name>.connections"),
            Map.entry("dubbo.consumer.check", "rpc.client.services.<name>.check"),
            Map.entry("dubbo.registry.address", "rpc.server.registry or rpc.client.registry"),
            Map.entry("dubbo.provider.token", "rpc.server.token"),
            Map.entry("dubbo.service.shutdown.wait", "rpc.server.shutdown-timeout"));

    /**
     * Elements of Spring's property names that are followed by names that the application chooses, such as metadata
     * keys.
     */
    private static final Set<String> MAPS = Set.of("metadata", "properties");

    private final Environment environment;
    private final KnownProperties known;

    MisplacedPrefixes(Environment environment, KnownProperties known) {
        this.environment = environment;
        this.known = known;
    }

    /**
     * Returns a description of each Tern property under a wrong prefix. Logs a warning for each property that might
     * belong to the application.
     */
    List<String> problems() {
        List<String> problems = new ArrayList<>();
        sources()
                .forEach(source -> source.stream()
                        .filter(name -> !isServiceLink(source, name))
                        .forEach(name -> {
                            String wrong = wrong(source, name);
                            String doubtful = doubtful(source, name);
                            if (wrong != null && !isOfVariables(source)) {
                                problems.add(wrong);
                            } else if (wrong != null || doubtful != null) {
                                LOG.warn("{}", wrong == null ? doubtful : wrong);
                            }
                        }));
        return problems;
    }

    /** Returns whether Kubernetes has set this environment variable for one of its Services. */
    static boolean isServiceLink(IterableConfigurationPropertySource source, ConfigurationPropertyName name) {
        ConfigurationProperty property = isOfVariables(source) ? source.getConfigurationProperty(name) : null;
        return property != null
                && PropertyValueCheck.SERVICE_LINK
                        .matcher(String.valueOf(property.getValue()))
                        .matches();
    }

    private @Nullable String wrong(IterableConfigurationPropertySource source, ConfigurationPropertyName name) {
        String wrong = described(source, name, WRONG);
        return wrong != null ? wrong : belowBoot(source, name);
    }

    private @Nullable String doubtful(IterableConfigurationPropertySource source, ConfigurationPropertyName name) {
        String doubtful = described(source, name, DOUBTFUL);
        return doubtful != null ? doubtful : belowMisspelt(source, name);
    }

    /**
     * Returns a description of the property if only a typing error in the first element distinguishes it from a Tern
     * property, as in {@code rcp.server.port}, {@code rpc-server.port} or {@code rpc-server-port}. The other elements
     * must be correct, because the property might belong to the application or to another framework.
     */
    private @Nullable String belowMisspelt(IterableConfigurationPropertySource source, ConfigurationPropertyName name) {
        String first = name.isEmpty() ? "" : name.getElement(0, Form.UNIFORM);
        if (name.getNumberOfElements() == 1) {
            ConfigurationPropertyName meant = withDots(first);
            return meant == null ? null : described(source, name, meant);
        }
        ConfigurationPropertyName meant = null;
        if (MISSPELT.matcher(first).matches() && TypingErrors.between("rpc", first) == 1) {
            meant = OURS;
        } else if (first.length() > 3 && first.startsWith("rpc")) {
            // The first dot of the name is missing, as in rpcserver.port.
            meant = ConfigurationPropertyName.adapt("rpc." + first.substring(3), '.');
        }
        return meant == null ? null : described(source, name, meant.append(name.subName(1)));
    }

    /** Returns the property whose name has dots in place of some hyphens of the given name; null if there is none. */
    private @Nullable ConfigurationPropertyName withDots(String first) {
        return known.names().stream()
                .filter(each -> !each.contains(PropertyPaths.ANY))
                .map(ConfigurationPropertyName::of)
                .filter(each -> first.equals(joined(each)))
                .findFirst()
                .orElse(null);
    }

    private static String joined(ConfigurationPropertyName name) {
        return IntStream.range(0, name.getNumberOfElements())
                .mapToObj(i -> name.getElement(i, Form.UNIFORM))
                .collect(Collectors.joining());
    }

    /**
     * Returns a description of the property if its name consists of a Spring Boot prefix and the name of a Tern
     * property.
     */
    private @Nullable String belowBoot(IterableConfigurationPropertySource source, ConfigurationPropertyName name) {
        if (name.getNumberOfElements() < MIN_ELEMENTS
                || !OF_BOOT.contains(name.getElement(0, Form.UNIFORM))
                || FREE.stream().anyMatch(prefix -> prefix.isAncestorOf(name))) {
            return null;
        }
        for (int i = 1; i < name.getNumberOfElements() - 1; i++) {
            if (MAPS.contains(name.getElement(i, Form.UNIFORM))) {
                return null;
            }
            if (name.getElement(i, Form.UNIFORM).equals("rpc")) {
                String found = described(source, name, name.subName(i));
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    private @Nullable String described(
            IterableConfigurationPropertySource source, ConfigurationPropertyName name, List<String> prefixes) {
        for (String text : prefixes) {
            ConfigurationPropertyName prefix = ConfigurationPropertyName.of(text);
            if (prefix.isAncestorOf(name)) {
                ConfigurationPropertyName rest = name.subName(prefix.getNumberOfElements());
                return described(
                        source, name, ConfigurationPropertyName.of("rpc").append(rest));
            }
        }
        return null;
    }

    /**
     * Returns a description of the property if it was probably meant for Tern. Returns null if the correct property is
     * also set, because a placeholder in its value might refer to the property with the wrong prefix.
     */
    private @Nullable String described(
            IterableConfigurationPropertySource source,
            ConfigurationPropertyName name,
            ConfigurationPropertyName meant) {
        return known.contains(meant) && !isSet(meant)
                ? "property " + name + UnknownPropertyCheck.origin(source.getConfigurationProperty(name))
                        + " is not read; the name is " + meant
                : null;
    }

    private boolean isSet(ConfigurationPropertyName name) {
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source.getConfigurationProperty(name) != null) {
                return true;
            }
        }
        return false;
    }

    /** Logs one warning about Dubbo properties, unless the application also contains Dubbo. */
    void warnOfDubbo(@Nullable ClassLoader loader) {
        if (ClassUtils.isPresent(DUBBO_CLASS, loader)) {
            return;
        }
        if (new ClassPathResource(DUBBO_FILE, loader).exists()) {
            LOG.warn(
                    "The file {} on the class path has no effect, because Dubbo is not on the class path."
                            + " docs/from-dubbo.md lists Tern's properties, which belong into application.properties",
                    DUBBO_FILE);
        }
        List<String> names = namesBelow(List.of("dubbo"));
        if (!names.isEmpty()) {
            LOG.warn(
                    "Properties of Dubbo have no effect, because Dubbo is not on the class path: {}."
                            + " docs/from-dubbo.md lists Tern's properties",
                    listed(names, INSTEAD_OF_DUBBO::get));
        }
    }

    /**
     * Logs one warning about properties of gRPC starters, unless the application contains a library that might read
     * them.
     */
    void warnOfGrpc(@Nullable ClassLoader loader) {
        List<String> names = namesBelow(GrpcStarterProperties.PREFIXES);
        if (!names.isEmpty() && !GrpcStarterProperties.mayBeRead(loader)) {
            LOG.warn(
                    "Properties of a starter for gRPC have no effect, because no such starter is on the class path: {}."
                            + " docs/grpc.md lists Tern's properties",
                    listed(names, GrpcStarterProperties::ours));
        }
    }

    /** Logs one warning about properties of Feign clients, unless the application also contains Feign. */
    void warnOfFeign(@Nullable ClassLoader loader) {
        List<String> names = namesBelow(FeignProperties.PREFIXES);
        if (!names.isEmpty() && !FeignProperties.mayBeRead(loader)) {
            LOG.warn(
                    "Properties of Feign have no effect, because Feign is not on the class path: {}."
                            + " docs/http.md lists Tern's properties",
                    listed(names, FeignProperties::ours));
        }
    }

    private List<String> namesBelow(List<String> prefixes) {
        List<ConfigurationPropertyName> roots =
                prefixes.stream().map(ConfigurationPropertyName::of).toList();
        return sources()
                .filter(source -> !isOfVariables(source))
                .flatMap(IterableConfigurationPropertySource::stream)
                .filter(name -> roots.stream().anyMatch(root -> root.isAncestorOf(name)))
                .map(String::valueOf)
                .distinct()
                .toList();
    }

    /** @param ours maps a property with another prefix to Tern's property, or to null if there is none */
    private static String listed(List<String> names, Function<String, @Nullable String> ours) {
        String first = names.stream()
                .limit(MAX_NAMES)
                .map(name -> ours.apply(name) == null ? name : name + " (here " + ours.apply(name) + ")")
                .collect(Collectors.joining(", "));
        return names.size() > MAX_NAMES ? first + " and " + (names.size() - MAX_NAMES) + " more" : first;
    }

    private Stream<IterableConfigurationPropertySource> sources() {
        List<IterableConfigurationPropertySource> sources = new ArrayList<>();
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source instanceof IterableConfigurationPropertySource names) {
                sources.add(names);
            }
        }
        return sources.stream();
    }

    private static boolean isOfVariables(IterableConfigurationPropertySource source) {
        return source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource;
    }
}
