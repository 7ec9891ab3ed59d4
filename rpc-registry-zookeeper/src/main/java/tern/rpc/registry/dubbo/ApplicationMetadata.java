package tern.rpc.registry.dubbo;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceKey;
import tern.rpc.registry.JsonReader;
import tern.rpc.registry.JsonWriter;

/**
 * The services that one revision of an application offers.
 *
 * @param services the services by {@link Service#key()}, sorted by key
 */
public record ApplicationMetadata(String application, String revision, Map<String, Service> services) {

    private static final int MAX_PORT = 65_535;

    /**
     * A service that the application offers over one protocol.
     *
     * @param group the group; empty if there is none
     * @param version the version; empty if there is none
     * @param port the port; 0 for the port that the process's registry entry lists for this protocol
     */
    public record Service(
            String name,
            String group,
            String version,
            String protocol,
            int port,
            String path,
            Map<String, String> parameters) {

        public Service {
            parameters = Collections.unmodifiableMap(new TreeMap<>(parameters));
        }

        /** The key, in the form {@code group/interface:version:protocol}. A missing group or version is omitted. */
        public String key() {
            return new ServiceKey(name, group, version) + ":" + protocol;
        }
    }

    public ApplicationMetadata {
        services = Collections.unmodifiableMap(new TreeMap<>(services));
    }

    /** Creates metadata whose revision equals the revision that Dubbo computes for the same services. */
    public static ApplicationMetadata of(String application, Map<String, Service> services) {
        return new ApplicationMetadata(application, revision(application, services), services);
    }

    /**
     * Returns a hash of all metadata that consumers read. The hash must be the same after a restart of the application,
     * because the metadata of each revision stays in the registry permanently.
     */
    static String revision(String application, Map<String, Service> services) {
        if (services.isEmpty()) {
            return "0";
        }
        StringBuilder described = new StringBuilder(application);
        new TreeMap<>(services)
                .forEach((key, service) -> described
                        .append(key)
                        .append(service.port())
                        .append(service.path())
                        .append(service.parameters()));
        try {
            byte[] hash =
                    MessageDigest.getInstance("MD5").digest(described.toString().getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has MD5", e);
        }
    }

    /**
     * Parses metadata.
     *
     * @throws IllegalArgumentException if the string is not valid metadata in JSON, or exceeds the limits
     */
    public static ApplicationMetadata parse(String json) {
        Limits.check("the length of the metadata", json.length(), Limits.MAX_METADATA);
        Map<String, @Nullable Object> metadata = JsonReader.readObject(json, Limits.MAX_METADATA_MEMBERS);
        Map<String, Service> services = new TreeMap<>();
        if (metadata.get("services") instanceof Map<?, ?> listed) {
            Limits.check("the number of services", listed.size(), Limits.MAX_SERVICES);
            listed.forEach((key, value) -> {
                if (value instanceof Map<?, ?> service) {
                    services.put(String.valueOf(key), service(service));
                }
            });
        }
        return new ApplicationMetadata(text(metadata.get("app")), text(metadata.get("revision")), services);
    }

    private static Service service(Map<?, ?> service) {
        Map<String, String> parameters = new TreeMap<>();
        if (service.get("params") instanceof Map<?, ?> given) {
            Limits.check("the number of parameters", given.size(), Limits.MAX_KEYS);
            given.forEach((key, value) -> parameters.put(String.valueOf(key), String.valueOf(value)));
        }
        return new Service(
                text(service.get("name")),
                text(service.get("group")),
                text(service.get("version")),
                text(service.get("protocol")),
                service.get("port") instanceof Long port ? port(port) : 0,
                text(service.get("path")),
                parameters);
    }

    /** Returns the port, or 0 if the number is not a valid port. */
    public static int port(long number) {
        return number > 0 && number <= MAX_PORT ? (int) number : 0;
    }

    private static String text(@Nullable Object value) {
        return value instanceof String text ? text : "";
    }

    public String json() {
        Map<String, Object> written = new LinkedHashMap<>();
        services.forEach((key, service) -> written.put(key, members(service)));
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("app", application);
        metadata.put("revision", revision);
        metadata.put("services", written);
        return JsonWriter.write(metadata);
    }

    private static Map<String, Object> members(Service service) {
        Map<String, Object> members = new LinkedHashMap<>();
        if (!service.group().isEmpty()) {
            members.put("group", service.group());
        }
        members.put("name", service.name());
        members.put("params", service.parameters());
        members.put("path", service.path());
        members.put("port", service.port());
        members.put("protocol", service.protocol());
        if (!service.version().isEmpty()) {
            members.put("version", service.version());
        }
        return members;
    }
}
