package tern.rpc.registry.dubbo;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.registry.JsonReader;
import tern.rpc.registry.JsonWriter;

/**
 * An application-level entry, which describes one process and its protocols. In ZooKeeper the entry is a node's data,
 * in the JSON format of Curator's service discovery.
 *
 * @param application the name of the application
 * @param id the id in the form {@code host:port}
 * @param metadata the attributes of the process, sorted by key
 */
public record ProcessEntry(String application, String id, String host, int port, Map<String, String> metadata) {

    public static final String ENDPOINTS = "dubbo.endpoints";
    public static final String REVISION = "dubbo.metadata.revision";
    public static final String STORAGE = "dubbo.metadata.storage-type";
    public static final String SERVICE_PARAMETERS = "dubbo.metadata-service.url-params";
    public static final String METADATA_VERSION = "meta-v";
    public static final String TIMESTAMP = "timestamp";
    public static final String REMOTE = "remote";
    public static final String LOCAL = "local";

    /** The revision of a process without services. */
    private static final String NO_REVISION = "0";

    /**
     * A class name that Dubbo's Jackson mapper needs as type information. Tern writes this name but never loads the
     * class.
     */
    private static final String PAYLOAD_CLASS = "org.apache.dubbo.registry.zookeeper.ZookeeperInstance";

    private static final int MAX_PORT = 65_535;

    public record Port(String protocol, int port) {}

    public ProcessEntry {
        metadata = new TreeMap<>(metadata);
    }

    /**
     * Parses a node's data.
     *
     * @return null for an entry without services or in another format, such as Spring Cloud's
     * @throws IllegalArgumentException if the data is not JSON or exceeds the limits
     */
    public static @Nullable ProcessEntry parse(String json) {
        Limits.check("the length of the entry", json.length(), Limits.MAX_ENTRY);
        Map<String, @Nullable Object> instance = JsonReader.readObject(json, 2 * Limits.MAX_KEYS);
        if (!(instance.get("payload") instanceof Map<?, ?> payload)
                || !(payload.get("metadata") instanceof Map<?, ?> metadata)) {
            return null;
        }
        Limits.check("the number of attributes", metadata.size(), Limits.MAX_KEYS);
        Map<String, String> attributes = new TreeMap<>();
        metadata.forEach((key, value) -> {
            if (value != null) {
                attributes.put(String.valueOf(key), String.valueOf(value));
            }
        });
        String revision = attributes.getOrDefault(REVISION, "");
        if (revision.isEmpty() || revision.equals(NO_REVISION)) {
            return null;
        }
        String host = text(instance.get("address"));
        if (!Hosts.isHost(host)) {
            throw new IllegalArgumentException("an entry without a valid address");
        }
        return new ProcessEntry(
                text(instance.get("name")), text(instance.get("id")), host, port(instance.get("port")), attributes);
    }

    private static String text(@Nullable Object value) {
        return value instanceof String text ? text : "";
    }

    private static int port(@Nullable Object value) {
        if (value instanceof Long number && number >= 0 && number <= MAX_PORT) {
            return number.intValue();
        }
        throw new IllegalArgumentException("an entry without a valid port");
    }

    public String revision() {
        return metadata.getOrDefault(REVISION, "");
    }

    /**
     * Returns whether the metadata is stored in the registry. If false, consumers get the metadata from the process
     * itself.
     */
    public boolean isMetadataRemote() {
        return REMOTE.equals(metadata.get(STORAGE));
    }

    /** Returns the protocols with their ports. Protocols with unreadable ports are omitted. */
    public List<Port> ports() {
        String json = metadata.get(ENDPOINTS);
        List<Port> ports = new ArrayList<>();
        if (json != null && JsonReader.read(json, Limits.MAX_KEYS) instanceof List<?> endpoints) {
            for (Object endpoint : endpoints) {
                if (endpoint instanceof Map<?, ?> one
                        && one.get("protocol") instanceof String protocol
                        && one.get("port") instanceof Long port
                        && port > 0
                        && port <= MAX_PORT) {
                    ports.add(new Port(protocol, port.intValue()));
                }
            }
        }
        return ports;
    }

    /** Returns the value of the attribute {@value #ENDPOINTS} for these protocols. */
    public static String endpoints(List<Port> ports) {
        List<Object> endpoints = new ArrayList<>();
        for (Port port : ports) {
            Map<String, Object> endpoint = new LinkedHashMap<>();
            endpoint.put("port", port.port());
            endpoint.put("protocol", port.protocol());
            endpoints.add(endpoint);
        }
        return JsonWriter.write(endpoints);
    }

    /** Returns the node data for this entry, as JSON. */
    public String json(long registeredAtMillis) {
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("@class", PAYLOAD_CLASS);
        payload.put("id", id);
        payload.put("name", application);
        payload.put("metadata", metadata);
        Map<String, @Nullable Object> instance = new LinkedHashMap<>();
        instance.put("name", application);
        instance.put("id", id);
        instance.put("address", host);
        instance.put("port", port);
        instance.put("sslPort", null);
        instance.put("payload", payload);
        instance.put("registrationTimeUTC", registeredAtMillis);
        instance.put("serviceType", "DYNAMIC");
        instance.put("uriSpec", null);
        return JsonWriter.write(instance);
    }
}
