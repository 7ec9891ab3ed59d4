package tern.rpc.registry.dubbo;

import java.util.LinkedHashMap;
import java.util.Map;
import tern.rpc.registry.JsonReader;
import tern.rpc.registry.JsonWriter;

/**
 * The address of a process's metadata service, from the attribute {@value ProcessEntry#SERVICE_PARAMETERS} of its
 * entry.
 *
 * @param version the version of the service, {@code 1.0.0} or {@code 2.0.0}
 */
public record MetadataAddress(String host, int port, String protocol, String version) {

    private static final String PORT = "port";
    private static final String PROTOCOL = "protocol";
    private static final String VERSION = "version";
    private static final String FIRST_VERSION = "1.0.0";
    private static final String SECOND_VERSION = "2.0.0";
    private static final String DUBBO = "dubbo";

    /**
     * Finds the address of a process's metadata service. If the attribute is missing, the address is the process's own
     * port with the dubbo protocol, as in Dubbo.
     *
     * @throws IllegalArgumentException if the attribute is invalid
     */
    public static MetadataAddress of(ProcessEntry process) {
        String json = process.metadata().get(ProcessEntry.SERVICE_PARAMETERS);
        Map<?, ?> parameters = json == null ? Map.of() : JsonReader.readObject(json, Limits.MAX_KEYS);
        return new MetadataAddress(
                process.host(),
                port(text(parameters, PORT, String.valueOf(process.port()))),
                text(parameters, PROTOCOL, DUBBO),
                text(parameters, VERSION, FIRST_VERSION).equals(SECOND_VERSION) ? SECOND_VERSION : FIRST_VERSION);
    }

    private static String text(Map<?, ?> parameters, String name, String otherwise) {
        return parameters.get(name) instanceof String text && !text.isEmpty() ? text : otherwise;
    }

    private static int port(String text) {
        try {
            int port = ApplicationMetadata.port(Long.parseLong(text));
            if (port > 0) {
                return port;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("an entry whose metadata service has no valid port", e);
        }
        throw new IllegalArgumentException("an entry whose metadata service has no valid port");
    }

    /**
     * Returns the address of this process's own metadata service. If the process offers the dubbo protocol, the version
     * is 1.0.0, because consumers of all Dubbo versions can call version 1.0.0.
     */
    static MetadataAddress on(String host, int port, boolean dubbo) {
        return dubbo
                ? new MetadataAddress(host, port, DUBBO, FIRST_VERSION)
                : new MetadataAddress(host, port, "tri", SECOND_VERSION);
    }

    /** Returns this address as the value of the attribute {@value ProcessEntry#SERVICE_PARAMETERS}. */
    String parameters() {
        Map<String, Object> parameters = new LinkedHashMap<>();
        parameters.put("prefer.serialization", "hessian2");
        parameters.put(VERSION, version);
        parameters.put("dubbo", "2.0.2");
        parameters.put("side", "provider");
        parameters.put(PORT, String.valueOf(port));
        parameters.put(PROTOCOL, protocol);
        return JsonWriter.write(parameters);
    }
}
