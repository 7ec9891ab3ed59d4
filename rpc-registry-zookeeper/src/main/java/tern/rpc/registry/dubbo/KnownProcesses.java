package tern.rpc.registry.dubbo;

import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Parses the entries of one application's processes into a compact form. An application can have thousands of processes
 * that differ only in address and start time. Processes with equal attributes therefore share one attribute object, and
 * only the first of their entries is parsed completely. Not thread-safe.
 */
public final class KnownProcesses {

    private static final int MAX_SHARED = 10_000;

    /**
     * The limit on the total length, in characters, of all different attributes of one application's processes. A
     * client with write access to the registry can write any number of entries.
     */
    static final int MAX_CHARACTERS = 16 * 1024 * 1024;

    /** The maximum number of different common texts ({@link EntryText}) that are kept. */
    private static final int MAX_TEXTS = 64;

    private static final int MAX_PORTS = 16;

    /**
     * The attributes that a consumer uses, apart from the start time. Other attributes can be long, and are not kept.
     */
    private static final List<String> USED = List.of(
            ProcessEntry.REVISION,
            ProcessEntry.SERVICE_PARAMETERS,
            ProcessEntry.STORAGE,
            ReadAttributes.TAG,
            ReadAttributes.TOKEN,
            ReadAttributes.WEIGHT,
            ReadAttributes.ZONE);

    /** The parsed data that processes share if their texts differ only in address, ids and times. */
    private record Common(int port, Shared shared) {}

    private final String application;
    private final Map<Shared, Shared> shared = new HashMap<>();
    private final Map<String, Common> byText = new HashMap<>();
    // the total length, in characters, of the attributes in "shared": the attributes that were in use at the last
    // cleanup, and the attributes added since then
    private long characters;

    /** @param application the name of the application, which is used instead of the application names in the entries */
    public KnownProcesses(String application) {
        this.application = application;
    }

    /**
     * Parses a node's data.
     *
     * @return null for an entry without services or in another format, such as Spring Cloud's
     * @throws NoRoomException if the entry exceeds the limit on the total length of the attributes of all processes
     * @throws IllegalArgumentException if the data is not JSON or exceeds the limits
     */
    public @Nullable Known parse(String json) {
        EntryText text = EntryText.of(json);
        Common common = text == null ? null : byText.get(text.common());
        if (text != null && common != null && Hosts.isHost(text.host())) {
            return new Known(text.host(), common.port(), started(text.startedAt()), common.shared());
        }
        ProcessEntry entry = ProcessEntry.parse(json);
        if (entry == null) {
            return null;
        }
        Limits.check("the length of the revision", entry.revision().length(), Limits.MAX_NAME);
        String startedAt = entry.metadata().getOrDefault(ProcessEntry.TIMESTAMP, "");
        Known known = new Known(entry.host(), entry.port(), started(startedAt), shared(entry));
        if (text != null && text.host().equals(entry.host()) && text.startedAt().equals(startedAt)) {
            remember(text.common(), new Common(entry.port(), known.shared()));
        }
        return known;
    }

    private void remember(String text, Common common) {
        if (byText.size() >= MAX_TEXTS) {
            byText.clear();
        }
        byText.put(text, common);
    }

    private Shared shared(ProcessEntry entry) {
        Map<String, String> attributes = new HashMap<>();
        for (String name : USED) {
            String value = entry.metadata().get(name);
            if (value != null && !Limits.isTooLong(name, value)) {
                attributes.put(name, value);
            }
        }
        List<ProcessEntry.Port> ports = entry.ports().stream()
                .filter(port -> port.protocol().length() <= Limits.MAX_NAME)
                .limit(MAX_PORTS)
                .toList();
        Shared made = new Shared(application, entry.revision(), Map.copyOf(attributes), ports);
        Shared known = shared.get(made);
        if (known != null) {
            return known;
        }
        if (characters + made.length() > MAX_CHARACTERS) {
            throw new NoRoomException("the attributes of all processes of the application have more than "
                    + MAX_CHARACTERS + " characters");
        }
        if (shared.size() >= MAX_SHARED) {
            // Only the cache is cleared. Shared objects that are in use stay in memory, because Known objects refer to
            // them.
            shared.clear();
        }
        shared.put(made, made);
        characters += made.length();
        return made;
    }

    /**
     * If the attributes occupy more than half of the limit, forgets the attributes of all processes except the given
     * processes. Entries that exceeded the limit before might fit afterwards.
     *
     * @param used processes that {@link #parse} has returned
     */
    public void retain(List<Known> used) {
        if (characters <= MAX_CHARACTERS / 2) {
            return;
        }
        shared.clear();
        characters = 0;
        Set<Shared> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Known process : used) {
            if (distinct.add(process.shared())) {
                shared.putIfAbsent(process.shared(), process.shared());
                characters += process.shared().length();
            }
        }
    }

    /**
     * Thrown for an entry that is within the limits by itself, but exceeds a limit together with the entries of other
     * processes.
     */
    public static final class NoRoomException extends IllegalArgumentException {

        private static final long serialVersionUID = 1;

        NoRoomException(String message) {
            super(message);
        }
    }

    private static long started(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /**
     * The attributes shared by all processes with the same configuration.
     *
     * @param attributes the attributes that a consumer uses, apart from the start time
     */
    public record Shared(
            String application, String revision, Map<String, String> attributes, List<ProcessEntry.Port> ports) {

        private long length() {
            long length = revision.length();
            for (Map.Entry<String, String> attribute : attributes.entrySet()) {
                length += attribute.getKey().length() + attribute.getValue().length();
            }
            for (ProcessEntry.Port port : ports) {
                length += port.protocol().length();
            }
            return length;
        }
    }

    /**
     * One process.
     *
     * @param startedAtMillis the start time in milliseconds since 1970; 0 if unknown
     * @param shared all attributes except the start time; processes with equal attributes share this object
     */
    public record Known(String host, int port, long startedAtMillis, Shared shared) {

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
