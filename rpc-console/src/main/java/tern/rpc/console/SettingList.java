package tern.rpc.console;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import tern.rpc.settings.SecretText;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Lists every property of Tern with its effective value. All properties are read again for each report, and no values
 * are kept. Secrets are always hidden. Thread-safe.
 */
final class SettingList {

    private static final Logger LOG = LoggerFactory.getLogger(SettingList.class);

    private static final String METADATA = "META-INF/spring-configuration-metadata.json";
    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("rpc");

    /**
     * The maximum number of settings in a report. Without this limit, a report could grow without bound, because it
     * contains every property whose name begins with {@code rpc.}.
     */
    private static final int MAX_SETTINGS = 1_000;

    private static final int MAX_VALUE = 2_000;

    private static final Pattern SECRET_NAME =
            Pattern.compile("(?i).*(password|passwd|secret|token|credential|private-?key|api-?key|passphrase).*");
    private static final Pattern USER_OF_ADDRESS = Pattern.compile("(?<=://)[^/@\\s,]+@");

    private final ApplicationContext context;
    private final Json json;

    SettingList(ApplicationContext context, Json json) {
        this.context = context;
        this.json = json;
    }

    /** A property that is described by the configuration metadata in a jar. */
    private record Known(String name, @Nullable String defaultValue, String description) {

        private static final String ANY = "*";

        boolean isPattern() {
            return name.contains(ANY);
        }

        boolean matches(String actual) {
            String[] parts = name.split("\\.");
            String[] found = actual.replaceAll("\\[\\d+]$", "").split("\\.");
            if (parts.length != found.length) {
                return false;
            }
            for (int i = 0; i < parts.length; i++) {
                if (!parts[i].equals(ANY) && !parts[i].equals(found[i])) {
                    return false;
                }
            }
            return true;
        }
    }

    /**
     * A property with its effective value.
     *
     * @param value null if the property is not set and has no default
     * @param origin the file and line, or the property source, that sets the value; empty for a default
     */
    private record Setting(
            String name,
            @Nullable String value,
            String origin,
            @Nullable String defaultValue,
            String description) {

        Map<String, Object> shown() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("name", name);
            json.put("value", value);
            json.put("origin", origin);
            json.put("default", defaultValue);
            json.put("description", description);
            return json;
        }
    }

    Map<String, Object> report() {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("version", Json.VERSION);
        report.put("settings", all().stream().map(Setting::shown).toList());
        return report;
    }

    /** Returns one line of text for each property that is set. */
    List<String> set() {
        return all().stream()
                .filter(setting -> !setting.origin().isEmpty())
                .map(setting -> setting.name() + "=" + setting.value() + " (" + setting.origin() + ")")
                .toList();
    }

    private List<Setting> all() {
        Map<String, Known> known = known();
        Map<String, Setting> settings = new TreeMap<>();
        for (Known property : known.values()) {
            if (!property.isPattern()) {
                settings.put(property.name(), setting(ConfigurationPropertyName.of(property.name()), property));
            }
        }
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(context.getEnvironment())) {
            if (source instanceof IterableConfigurationPropertySource names) {
                names.stream()
                        .filter(PREFIX::isAncestorOf)
                        .filter(name -> settings.size() < MAX_SETTINGS && !settings.containsKey(name.toString()))
                        .forEach(name -> settings.put(name.toString(), setting(name, like(name, known))));
            }
        }
        return List.copyOf(settings.values());
    }

    private static @Nullable Known like(ConfigurationPropertyName name, Map<String, Known> known) {
        return known.values().stream()
                .filter(property -> property.matches(name.toString()))
                .findFirst()
                .orElse(null);
    }

    private Setting setting(ConfigurationPropertyName name, @Nullable Known known) {
        String otherwise = known == null ? null : known.defaultValue();
        String description = known == null ? "" : known.description();
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(context.getEnvironment())) {
            ConfigurationProperty property = source.getConfigurationProperty(name);
            if (property != null) {
                return new Setting(
                        name.toString(),
                        shown(name.toString(), property, source),
                        originOf(property, source),
                        otherwise,
                        description);
            }
        }
        return new Setting(name.toString(), otherwise, "", otherwise, description);
    }

    private static String originOf(ConfigurationProperty property, ConfigurationPropertySource source) {
        Origin origin = property.getOrigin();
        if (origin != null) {
            return bounded(origin.toString());
        }
        return source.getUnderlyingSource() instanceof PropertySource<?> underlying
                ? bounded(underlying.getName())
                : "unknown";
    }

    /** Returns the property's effective value with its placeholders resolved and its secrets hidden. */
    private String shown(String name, ConfigurationProperty property, ConfigurationPropertySource source) {
        if (SECRET_NAME.matcher(name).matches()) {
            return SecretText.HIDDEN;
        }
        Environment environment = context.getEnvironment();
        Object value = property.getValue();
        if (value instanceof String text) {
            value = environment.resolvePlaceholders(text);
        }
        PropertySource<?> underlying = source.getUnderlyingSource() instanceof PropertySource<?> known ? known : null;
        SanitizableData data = new SanitizableData(underlying, name, value);
        for (SanitizingFunction function : context.getBeanProvider(SanitizingFunction.class)
                .orderedStream()
                .toList()) {
            data = function.apply(data);
        }
        String text = Objects.toString(data.getValue(), "");
        return bounded(USER_OF_ADDRESS.matcher(text).replaceAll(SecretText.HIDDEN + "@"));
    }

    private static String bounded(String text) {
        return text.length() <= MAX_VALUE ? text : text.substring(0, MAX_VALUE) + "…";
    }

    private Map<String, Known> known() {
        Map<String, Known> known = new LinkedHashMap<>();
        ClassLoader loader = context.getClassLoader();
        try {
            Enumeration<URL> files =
                    (loader == null ? SettingList.class.getClassLoader() : loader).getResources(METADATA);
            while (files.hasMoreElements()) {
                read(files.nextElement()).forEach(property -> known.putIfAbsent(property.name(), property));
            }
        } catch (IOException e) {
            LOG.warn("The descriptions of properties cannot be read", e);
        }
        return known;
    }

    private List<Known> read(URL file) throws IOException {
        byte[] bytes;
        try (InputStream in = file.openStream()) {
            bytes = in.readAllBytes();
        }
        List<Known> found = new ArrayList<>();
        if (!new String(bytes, StandardCharsets.ISO_8859_1).contains("\"rpc.")) {
            return found;
        }
        try {
            for (JsonNode property : json.read(bytes).path("properties")) {
                String name = property.path("name").asString("");
                if (name.startsWith("rpc.")
                        && !property.path("type").asString("").startsWith("java.util.Map")) {
                    found.add(new Known(
                            name,
                            text(property.path("defaultValue")),
                            property.path("description").asString("")));
                }
            }
        } catch (JacksonException e) {
            LOG.warn("The descriptions of properties in {} cannot be read", file, e);
        }
        return found;
    }

    private static @Nullable String text(JsonNode value) {
        if (value.isMissingNode() || value.isNull()) {
            return null;
        }
        return value.isValueNode() ? value.asString() : value.toString();
    }
}
