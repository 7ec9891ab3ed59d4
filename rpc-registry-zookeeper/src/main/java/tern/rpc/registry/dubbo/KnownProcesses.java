package tern.rpc.registry.dubbo;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Parses the entries of one application's processes into a compact form. An application may have thousands of processes
 * that differ only in address and start time, so processes with equal attributes share one attribute object. Not
 * thread-safe.
 */
public final class KnownProcesses {

    private static final int MAX_SHARED = 10_000;

    private final String application;
    private final Map<Map<String, String>, Shared> shared = new HashMap<>();

    /**
     * @param application the name of the application. Names in the entries are ignored
     */
    public KnownProcesses(String application) {
        this.application = application;
    }

    /**
     * Parses a node's data.
     *
     * @return null for an entry without services or in another format, such as Spring Cloud's
     * @throws IllegalArgumentException if the data is not JSON or exceeds the limits
     */
    public @Nullable Known parse(String json) {
        ProcessEntry entry = ProcessEntry.parse(json);
        if (entry == null) {
            return null;
        }
        Map<String, String> attributes = new TreeMap<>(entry.metadata());
        long started = started(attributes.remove(ProcessEntry.TIMESTAMP));
        Shared same = shared.get(attributes);
        if (same == null) {
            if (shared.size() >= MAX_SHARED) {
                shared.clear(); // Known objects keep the attribute objects that they use.
            }
            same = new Shared(application, entry.revision(), attributes, entry.ports());
            shared.put(attributes, same);
        }
        return new Known(entry.host(), entry.port(), started, same);
    }

    private static long started(@Nullable String text) {
        try {
            return text == null ? 0 : Long.parseLong(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** The attributes shared by all processes with the same configuration. */
    public record Shared(
            String application, String revision, Map<String, String> attributes, List<ProcessEntry.Port> ports) {}

    /**
     * One process.
     *
     * @param startedAtMillis the start time in milliseconds since 1970; 0 if unknown
     * @param shared all attributes except the start time
     */
    public record Known(String host, int port, long startedAtMillis, Shared shared) {

        /** Orders processes by address. */
        public static final Comparator<Known> BY_ADDRESS =
                Comparator.comparing(Known::host).thenComparingInt(Known::port);

        public String application() {
            return shared().application();
        }

        public String revision() {
            return shared().revision();
        }

        /** Returns whether the metadata is stored in the registry. */
        public boolean isMetadataRemote() {
            return ProcessEntry.REMOTE.equals(shared().attributes().get(ProcessEntry.STORAGE));
        }

        /** Returns an attribute of the process; null if it is missing. */
        public @Nullable String attribute(String name) {
            return name.equals(ProcessEntry.TIMESTAMP) && startedAtMillis != 0
                    ? String.valueOf(startedAtMillis)
                    : shared().attributes().get(name);
        }

        /** Returns the port of a protocol. If the entry does not list the protocol, returns the port of the process. */
        public int port(String protocol) {
            for (ProcessEntry.Port port : shared().ports()) {
                if (port.protocol().equals(protocol)) {
                    return port.port();
                }
            }
            return port;
        }

        /** Returns the process's entry, which is needed to request the metadata. */
        public ProcessEntry entry() {
            return new ProcessEntry(application(), host + ":" + port, host, port, shared().attributes());
        }
    }
}
