package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;
import tern.rpc.spring.autoconfigure.pool.RpcPoolsProperties;

/**
 * Checks that the configuration metadata used by editors is complete, and that the table in the documentation matches
 * it. The following command regenerates the table after a change: {@code ./mvnw test -pl rpc-spring-boot-starter -am
 * -Dtest=PropertyTableTest -Dregenerate=true -Dsurefire.failIfNoSpecifiedTests=false}.
 */
class PropertyTableTest {

    private static final Path TABLE = Path.of("..", "docs", "properties.md");

    private static final String HEAD = """
            # Properties

            This table lists all properties of the starter. The table is generated from the metadata in the starter's jar;
            `PropertyTableTest` explains how to generate the table again.

            - Times are written with a unit (`500ms`, `3s`), and so are sizes (`8MB`; 1 MB is 1,048,576 bytes). A time without a unit is
              in milliseconds. Only whole numbers are allowed: write `1500ms`, not `1.5s`. The longest allowed time is 100 years (`36500d`).
            - `<name>` is the `name` of an `@RpcReference`, or the simple name of its interface in any form (`user-service`,
              `UserService`). Properties with `<name>` take precedence over the annotation. A simple name applies to all interfaces with
              this simple name, except to references whose `name` is different.
            - `<method>` is the name of a method in any form (`getAll`, `get-all`). If several methods match, only the exact name is accepted.
            - In an environment variable, the words of `<name>` and `<method>` may be joined or separated by underscores:
              `RPC_CLIENT_SERVICES_ORDER_SERVICE_TIMEOUT` and `RPC_CLIENT_SERVICES_ORDERSERVICE_TIMEOUT` set the timeout of `OrderService`.
            - Values are read at startup. [Changed properties](registries.md#changed-properties) lists the properties whose changes take
              effect while the application runs, for example with Spring Cloud.
            - A blank text or time, such as `rpc.client.zone=${ZONE:}` with the variable `ZONE` not set, counts as not set. A blank
              number, flag, token or name of an SSL bundle stops the start.
            - The application does not start if an unknown property is set (in an environment variable, it only causes a warning), or if a
              value is out of range.

            | Property | Default | Meaning |
            | --- | --- | --- |
            """;

    record Property(String name, String type, String defaultValue, String description) {}

    @Test
    void everyPropertyHasATypeAndASentence() throws Exception {
        for (Property property : properties().values()) {
            assertThat(property.type()).as(property.name()).isNotEmpty();
            assertThat(property.description())
                    .as(property.name())
                    .matches("[A-Z].*[^.]\\.(\\*\\*\\.)?")
                    .doesNotMatch("(The|A|An) .*")
                    .doesNotContain("\n");
        }
    }

    @Test
    void everyPropertyHasADefaultOrDescribesIt() throws Exception {
        for (Property property : properties().values()) {
            boolean collection = property.type().contains("List");
            assertThat(collection
                            || !property.defaultValue().isEmpty()
                            || property.description().contains("Default: ")
                            || property.description().contains("when not set"))
                    .as(property.name())
                    .isTrue();
        }
    }

    @Test
    void metadataNamesExactlyTheBoundProperties() throws Exception {
        List<String> bound = new KnownProperties().names();

        assertThat(properties().keySet()).containsExactlyInAnyOrderElementsOf(bound);
    }

    @Test
    void tableIsUpToDate() throws Exception {
        StringBuilder table = new StringBuilder(HEAD);
        properties().values().forEach(property -> table.append(row(property)));

        if (Boolean.getBoolean("regenerate")) {
            Files.createDirectories(TABLE.getParent());
            Files.writeString(TABLE, table);
        }

        assertThat(Files.readString(TABLE)).isEqualTo(table.toString());
    }

    private static String row(Property property) {
        String name = property.name()
                .replace("services.*", "services.<name>")
                .replace("registries.*", "registries.<name>")
                .replace("methods.*", "methods.<method>")
                .replace("executors.*", "executors.<name>");
        String value = property.defaultValue().isEmpty() ? "" : "`" + property.defaultValue() + "`";
        return "| `" + name + "` | " + value + " | " + property.description().replace("|", "\\|") + " |\n";
    }

    static Map<String, Property> properties() throws IOException, URISyntaxException {
        Map<String, Property> properties = new TreeMap<>();
        for (Class<?> one : List.of(RpcAutoConfiguration.class, RpcPoolsProperties.class)) {
            addProperties(one, properties);
        }
        return properties;
    }

    /** Adds the properties from the configuration metadata in the jar or folder of the given class. */
    private static void addProperties(Class<?> one, Map<String, Property> properties)
            throws IOException, URISyntaxException {
        String classes = one.getProtectionDomain().getCodeSource().getLocation().toString();
        String root = classes.endsWith(".jar") ? "jar:" + classes + "!/" : classes;
        try (InputStream json = new URI(root + "META-INF/spring-configuration-metadata.json")
                .toURL()
                .openStream()) {
            String text = new String(json.readAllBytes(), StandardCharsets.UTF_8);
            for (Object entry :
                    (List<?>) JsonParserFactory.getJsonParser().parseMap(text).get("properties")) {
                Property property = property((Map<?, ?>) entry);
                if (property.name().startsWith("rpc.") && !property.type().startsWith("java.util.Map")) {
                    properties.put(property.name(), property);
                }
            }
        }
    }

    private static Property property(Map<?, ?> entry) {
        Object value = entry.get("defaultValue");
        return new Property(
                (String) entry.get("name"),
                (String) entry.get("type"),
                value instanceof Number number ? String.valueOf(number.longValue()) : Objects.toString(value, ""),
                Objects.toString(entry.get("description"), ""));
    }
}
