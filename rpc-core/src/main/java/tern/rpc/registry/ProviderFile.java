package tern.rpc.registry;

import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.PeerText;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;

/**
 * The content of a provider file: JSON such as {@code {"services": {"com.acme.Orders": [{"address": "10.0.0.7:20880",
 * "weight": 50}]}}}, or properties such as {@code com.acme.Orders=10.0.0.7:20880,10.0.0.8:20880?weight=50}. A service
 * is written as {@code group/interface:version}.
 *
 * @param services the providers by service, without unusable entries
 * @param problems descriptions of the first unusable entries, each with its place in the file and the expected content
 */
record ProviderFile(Map<String, List<Provider>> services, List<String> problems) {

    /** The maximum size of a file in bytes. */
    static final int MAX_BYTES = 16 * 1024 * 1024;

    static final int MAX_MEMBERS = 1_000_000;
    static final String SERVICES = "services";
    static final String ADDRESS = "address";
    static final String STARTED_AT = "startedAt";
    private static final int MAX_NAMED = 5;

    private static final String PROTOCOL = "protocol";
    private static final String WEIGHT = "weight";
    private static final String ZONE = "zone";
    private static final String TAG = "tag";
    private static final List<String> KEYS = List.of(ADDRESS, PROTOCOL, WEIGHT, ZONE, TAG, STARTED_AT);

    private static final int MAX_PORT = 65_535;
    private static final int MAX_WEIGHT = 1_000_000;
    private static final int MAX_PROBLEMS = 10;
    private static final int MAX_SHOWN = 80;
    private static final String ADDRESS_EXPECTED = "host:port or protocol://host:port";
    private static final String WEIGHT_EXPECTED = "a whole number from 0 to " + MAX_WEIGHT;

    private static final Pattern ADDRESS_FORM = Pattern.compile("(?:(?<protocol>[a-z][a-z0-9+.-]*)://)?"
            + "(?:\\[(?<ipv6>[0-9a-fA-F:.]{1,255})(?<scope>%[^\\]]*)?]|(?<host>[\\w.-]{1,255})):(?<port>\\d{1,5})"
            + "(?:\\?weight=(?<weight>[^&]*))?");

    /**
     * One provider of a service.
     *
     * @param protocol the entry's protocol, or empty if the entry applies to every protocol
     */
    record Provider(String protocol, Instance instance) {}

    ProviderFile {
        services = new TreeMap<>(services);
        problems = List.copyOf(problems);
    }

    ProviderFile(Map<String, List<Provider>> services) {
        this(services, List.of());
    }

    /**
     * Parses a file. Unusable entries are skipped.
     *
     * @param json whether the file is JSON; otherwise it is a properties file
     * @throws IllegalArgumentException if no part of the file can be used
     */
    static ProviderFile parse(String text, boolean json) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("it is empty");
        }
        return json ? parseJson(text) : parseProperties(text);
    }

    private static ProviderFile parseJson(String text) {
        Map<String, @Nullable Object> members = JsonReader.readObject(text, MAX_MEMBERS);
        checkServices(members);
        if (!members.isEmpty() && !members.containsKey(SERVICES)) {
            throw new IllegalArgumentException("it has no member \"" + SERVICES + "\", but "
                    + members.keySet().stream()
                            .limit(MAX_PROBLEMS)
                            .map(ProviderFile::shown)
                            .toList());
        }
        Problems problems = new Problems();
        members.keySet().stream()
                .filter(name -> !name.equals(SERVICES))
                .forEach(name -> problems.add(
                        "the member " + shown(name) + " is unknown and has no effect; expected \"" + SERVICES + "\""));
        Map<String, List<Provider>> services = new TreeMap<>();
        if (members.get(SERVICES) instanceof Map<?, ?> listed) {
            listed.forEach((service, providers) ->
                    services.put(String.valueOf(service), jsonProviders(String.valueOf(service), providers, problems)));
        }
        return new ProviderFile(services, problems.all());
    }

    /** @throws IllegalArgumentException if {@code services} is not a JSON object */
    static void checkServices(Map<String, @Nullable Object> members) {
        Object services = members.get(SERVICES);
        if (members.containsKey(SERVICES) && !(services instanceof Map<?, ?>)) {
            throw new IllegalArgumentException("the value of \"" + SERVICES + "\" is " + kind(services)
                    + "; expected an object such as {\"com.acme.Orders\":[\"10.0.0.7:20880\"]}");
        }
    }

    private static List<Provider> jsonProviders(String service, @Nullable Object providers, Problems problems) {
        List<Provider> read = new ArrayList<>();
        if (providers instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                Place place = new Place("entry " + (i + 1) + " of " + shown(service), problems);
                addUnlessBad(read, list.get(i), place);
            }
        } else {
            problems.add("the value of " + shown(service) + " is " + kind(providers)
                    + " and is left out; expected a list of " + ADDRESS_EXPECTED);
        }
        return List.copyOf(read);
    }

    private static void addUnlessBad(List<Provider> read, @Nullable Object provider, Place place) {
        try {
            if (provider instanceof String address) {
                read.add(provider(address, Map.of(), place));
            } else if (provider instanceof Map<?, ?> members) {
                if (!(members.get(ADDRESS) instanceof String address)) {
                    throw new IllegalArgumentException(
                            "it has no \"" + ADDRESS + "\"; expected one with " + ADDRESS_EXPECTED);
                }
                read.add(provider(address, members, place));
            } else {
                throw new IllegalArgumentException("it is " + kind(provider) + "; expected " + ADDRESS_EXPECTED
                        + ", or an object with an address");
            }
        } catch (IllegalArgumentException e) {
            place.problems().add(place.name() + " is left out: " + e.getMessage());
        }
    }

    private static ProviderFile parseProperties(String text) {
        Properties properties = new Properties();
        try {
            properties.load(new StringReader(text));
        } catch (IOException e) {
            throw new IllegalStateException("a string can always be read", e);
        }
        Problems problems = new Problems();
        Map<String, List<Provider>> services = new TreeMap<>();
        for (String service : new TreeSet<>(properties.stringPropertyNames())) {
            List<Provider> providers = new ArrayList<>();
            String[] addresses = properties.getProperty(service).split(",");
            for (int i = 0; i < addresses.length; i++) {
                if (!addresses[i].isBlank()) {
                    addUnlessBad(
                            providers,
                            addresses[i].trim(),
                            new Place("entry " + (i + 1) + " of " + shown(service), problems));
                }
            }
            services.put(service, List.copyOf(providers));
        }
        return new ProviderFile(services, problems.all());
    }

    private static Provider provider(String address, Map<?, ?> members, Place place) {
        Matcher form = ADDRESS_FORM.matcher(address);
        if (!form.matches()) {
            throw new IllegalArgumentException("its address is " + shown(address) + "; expected " + ADDRESS_EXPECTED);
        }
        if (form.group("scope") != null) {
            throw new IllegalArgumentException("its address is " + shown(address)
                    + ", whose part after % has a meaning on one machine only; expected an address without it");
        }
        int port = Integer.parseInt(form.group("port"));
        if (port == 0 || port > MAX_PORT) {
            throw new IllegalArgumentException(
                    "its address is " + shown(address) + "; expected a port from 1 to " + MAX_PORT);
        }
        for (Object key : members.keySet()) {
            if (!KEYS.contains(String.valueOf(key))) {
                place.warn(String.valueOf(key), "unknown and has no effect", "one of " + KEYS);
            }
        }
        Attributes attributes = Attributes.ofWeight(weight(form.group("weight"), members.get(WEIGHT), place))
                .withZone(text(members, ZONE, "", place))
                .withStartedAt(startedAt(members, place));
        String tag = text(members, TAG, "", place);
        return new Provider(
                text(members, PROTOCOL, form.group("protocol") == null ? "" : form.group("protocol"), place),
                new Instance(
                        new Endpoint(form.group("ipv6") == null ? form.group("host") : form.group("ipv6"), port),
                        tag.isEmpty() ? attributes : attributes.withTags(Map.of(Attributes.TAG, tag))));
    }

    /** Returns whether an entry's address has the given host and port. */
    static boolean isAddressOf(String address, String host, int port) {
        Matcher form = ADDRESS_FORM.matcher(address);
        return form.matches()
                && form.group("scope") == null
                && host.equals(form.group("ipv6") == null ? form.group("host") : form.group("ipv6"))
                && port == Integer.parseInt(form.group("port"));
    }

    private static int weight(@Nullable String inAddress, @Nullable Object member, Place place) {
        Object written = member == null ? inAddress : member;
        if (written == null) {
            return Attributes.DEFAULT_WEIGHT;
        }
        String text = String.valueOf(written);
        boolean isNumber = text.matches("\\d{1,7}") && Integer.parseInt(text) <= MAX_WEIGHT;
        if (!isNumber || member instanceof String) {
            place.warn(WEIGHT, shown(written) + ", so " + Attributes.DEFAULT_WEIGHT + " is used", WEIGHT_EXPECTED);
            return Attributes.DEFAULT_WEIGHT;
        }
        return Integer.parseInt(text);
    }

    private static String text(Map<?, ?> members, String key, String otherwise, Place place) {
        Object written = members.get(key);
        if (written instanceof String text) {
            return text;
        }
        if (members.containsKey(key)) {
            place.warn(key, kind(written) + " and has no effect", "a string");
        }
        return otherwise;
    }

    private static long startedAt(Map<?, ?> members, Place place) {
        Object written = members.get(STARTED_AT);
        if (written instanceof Long startedAt) {
            return startedAt;
        }
        if (members.containsKey(STARTED_AT)) {
            place.warn(STARTED_AT, kind(written) + " and has no effect", "milliseconds since 1970");
        }
        return 0;
    }

    /** Returns the kind of a JSON value, for error messages. */
    static String kind(@Nullable Object value) {
        if (value == null) {
            return "null";
        }
        return value instanceof Map<?, ?>
                ? "an object"
                : value instanceof List<?> ? "a list" : value instanceof String ? "a string" : shown(value);
    }

    /** Returns a shortened value in quotes, without control characters, for error messages. */
    private static String shown(Object value) {
        String text = String.valueOf(value).replaceAll("\\p{Cntrl}", "?");
        return "\"" + (text.length() > MAX_SHOWN ? text.substring(0, MAX_SHOWN) + "…" : text) + "\"";
    }

    /** Collects the first problems found in a file, and counts all further problems. */
    private static final class Problems {
        private final List<String> first = new ArrayList<>();
        private int more;

        void add(String problem) {
            if (first.size() < MAX_PROBLEMS) {
                first.add(problem);
            } else {
                more++;
            }
        }

        List<String> all() {
            List<String> all = new ArrayList<>(first);
            if (more > 0) {
                all.add(more + " more of the kind");
            }
            return all;
        }
    }

    /** The position of an entry in the file, for the description of a problem. */
    private record Place(String name, Problems problems) {

        void warn(String key, String what, String expected) {
            problems.add(shown(key) + " in " + name + " is " + what + "; expected " + expected);
        }
    }

    /** Returns the service's providers that offer the subscription's protocol, each address only once. */
    List<Instance> providers(Subscription subscription) {
        Map<Endpoint, Instance> distinct = new LinkedHashMap<>();
        services.getOrDefault(subscription.service().toString(), List.of()).stream()
                .filter(provider ->
                        provider.protocol().isEmpty() || provider.protocol().equals(subscription.protocol()))
                .map(Provider::instance)
                .forEach(instance -> distinct.putIfAbsent(instance.endpoint(), instance));
        return List.copyOf(distinct.values());
    }

    /**
     * If no provider of the service offers the subscription's protocol, returns a sentence that names the service's
     * providers; otherwise an empty string.
     */
    String whyNobody(Subscription subscription) {
        List<Provider> all = services.getOrDefault(subscription.service().toString(), List.of());
        if (all.isEmpty() || !providers(subscription).isEmpty()) {
            return "";
        }
        String named = all.stream()
                .limit(MAX_NAMED)
                .map(provider -> PeerText.name(provider.protocol()) + "://"
                        + provider.instance().endpoint())
                .collect(Collectors.joining(", "));
        return "its " + all.size() + " addresses all have protocols other than " + subscription.protocol() + ": "
                + named + (all.size() > MAX_NAMED ? " and " + (all.size() - MAX_NAMED) + " more" : "");
    }

    /** @param others members of the file other than the services, which are kept unchanged */
    String json(Map<String, ?> others) {
        Map<String, Object> written = new LinkedHashMap<>();
        services.forEach((service, providers) -> written.put(
                service, providers.stream().map(ProviderFile::members).toList()));
        Map<String, Object> members = new LinkedHashMap<>(others);
        members.put(SERVICES, written);
        return JsonWriter.write(members);
    }

    static Map<String, Object> members(Provider provider) {
        Attributes attributes = provider.instance().attributes();
        Map<String, Object> members = new LinkedHashMap<>();
        members.put(ADDRESS, provider.instance().endpoint().toString());
        if (!provider.protocol().isEmpty()) {
            members.put(PROTOCOL, provider.protocol());
        }
        members.put(WEIGHT, (long) attributes.weight());
        if (!attributes.zone().isEmpty()) {
            members.put(ZONE, attributes.zone());
        }
        if (!attributes.tag().isEmpty()) {
            members.put(TAG, attributes.tag());
        }
        if (attributes.startedAtMillis() > 0) {
            members.put(STARTED_AT, attributes.startedAtMillis());
        }
        return members;
    }
}
