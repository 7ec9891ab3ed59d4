package tern.rpc.registry;

import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;

/**
 * The content of a provider file: JSON such as {@code {"services": {"com.acme.Orders": [{"address": "10.0.0.7:20880",
 * "weight": 50}]}}}, or properties such as {@code com.acme.Orders=10.0.0.7:20880,10.0.0.8:20880?weight=50}. A service
 * is written as {@code group/interface:version}.
 *
 * @param services the providers by service
 */
record ProviderFile(Map<String, List<Provider>> services) {

    /** The maximum size of a file in bytes. */
    static final int MAX_BYTES = 16 * 1024 * 1024;

    private static final int MAX_MEMBERS = 1_000_000;
    private static final int MAX_WEIGHT = 1_000_000;
    private static final int MAX_NAMED = 5;
    private static final String SERVICES = "services";

    private static final Pattern ADDRESS = Pattern.compile("(?:(?<protocol>[a-z][a-z0-9+.-]*)://)?"
            + "(?:\\[(?<ipv6>[0-9a-fA-F:.%]+)]|(?<host>[\\w.-]+)):(?<port>\\d{1,5})"
            + "(?:\\?weight=(?<weight>\\d{1,7}))?");

    /**
     * One provider of a service.
     *
     * @param protocol the protocol to which the entry applies, or empty if it applies to every protocol
     */
    record Provider(String protocol, Instance instance) {}

    ProviderFile {
        services = new TreeMap<>(services);
    }

    /**
     * Parses a file.
     *
     * @param json whether the file is JSON; otherwise it is a properties file
     * @throws IllegalArgumentException if the file is invalid; the message names the service and the invalid part
     */
    static ProviderFile parse(String text, boolean json) {
        return json ? parseJson(text) : parseProperties(text);
    }

    private static ProviderFile parseJson(String text) {
        Map<String, List<Provider>> services = new TreeMap<>();
        if (!text.isBlank() && JsonReader.readObject(text, MAX_MEMBERS).get(SERVICES) instanceof Map<?, ?> listed) {
            listed.forEach((service, providers) -> {
                List<Provider> read = new ArrayList<>();
                if (providers instanceof List<?> list) {
                    list.forEach(provider -> read.add(jsonProvider(String.valueOf(service), provider)));
                }
                services.put(String.valueOf(service), List.copyOf(read));
            });
        }
        return new ProviderFile(services);
    }

    private static Provider jsonProvider(String service, @Nullable Object provider) {
        if (provider instanceof String address) {
            return provider(service, address, Map.of());
        }
        if (provider instanceof Map<?, ?> members && members.get("address") instanceof String address) {
            return provider(service, address, members);
        }
        throw new IllegalArgumentException("a provider of " + service + " has no address");
    }

    private static ProviderFile parseProperties(String text) {
        Properties properties = new Properties();
        try {
            properties.load(new StringReader(text));
        } catch (IOException e) {
            throw new IllegalStateException("a string can always be read", e);
        }
        Map<String, List<Provider>> services = new TreeMap<>();
        for (String service : properties.stringPropertyNames()) {
            List<Provider> providers = new ArrayList<>();
            for (String address : properties.getProperty(service).split(",")) {
                if (!address.isBlank()) {
                    providers.add(provider(service, address.trim(), Map.of()));
                }
            }
            services.put(service, List.copyOf(providers));
        }
        return new ProviderFile(services);
    }

    private static Provider provider(String service, String address, Map<?, ?> members) {
        Matcher form = ADDRESS.matcher(address);
        if (!form.matches()) {
            throw new IllegalArgumentException("a provider of " + service
                    + " has an address of another form; expected host:port or protocol://host:port");
        }
        String host = form.group("ipv6") == null ? form.group("host") : form.group("ipv6");
        String protocol = form.group("protocol") == null ? "" : form.group("protocol");
        int weight = form.group("weight") == null ? Attributes.DEFAULT_WEIGHT : Integer.parseInt(form.group("weight"));
        Attributes attributes = Attributes.ofWeight(weight(members.get("weight"), weight));
        if (members.get("zone") instanceof String zone) {
            attributes = attributes.withZone(zone);
        }
        if (members.get("tag") instanceof String tag) {
            attributes = attributes.withTags(Map.of(Attributes.TAG, tag));
        }
        if (members.get("startedAt") instanceof Long startedAt) {
            attributes = attributes.withStartedAt(startedAt);
        }
        return new Provider(
                members.get("protocol") instanceof String named ? named : protocol,
                new Instance(new Endpoint(host, Integer.parseInt(form.group("port"))), attributes));
    }

    private static int weight(@Nullable Object written, int otherwise) {
        return written instanceof Long weight ? (int) Math.max(0, Math.min(weight, MAX_WEIGHT)) : otherwise;
    }

    /** Returns the providers of the service that offer the subscription's protocol. */
    List<Instance> providers(Subscription subscription) {
        return services.getOrDefault(subscription.service().toString(), List.of()).stream()
                .filter(provider ->
                        provider.protocol().isEmpty() || provider.protocol().equals(subscription.protocol()))
                .map(Provider::instance)
                .toList();
    }

    /**
     * Returns a sentence that names the service's providers if all of them offer other protocols than the
     * subscription's; otherwise an empty string.
     */
    String whyNobody(Subscription subscription) {
        List<Provider> all = services.getOrDefault(subscription.service().toString(), List.of());
        if (all.isEmpty() || !providers(subscription).isEmpty()) {
            return "";
        }
        String named = all.stream()
                .limit(MAX_NAMED)
                .map(provider ->
                        provider.protocol() + "://" + provider.instance().endpoint())
                .collect(Collectors.joining(", "));
        return "its " + all.size() + " addresses are all of other protocols than " + subscription.protocol() + ": "
                + named + (all.size() > MAX_NAMED ? " and " + (all.size() - MAX_NAMED) + " more" : "");
    }

    /** Returns this content with the services of a registration. They replace all entries with the same address. */
    ProviderFile with(Registration registration) {
        Map<String, List<Provider>> changed = without(registration).services();
        for (Registration.Service service : registration.services()) {
            List<Provider> providers =
                    new ArrayList<>(changed.getOrDefault(service.key().toString(), List.of()));
            Attributes attributes = Attributes.ofWeight(service.weight())
                    .withZone(registration.attributes().getOrDefault(Registration.ZONE, ""))
                    .withStartedAt(registration.startedAtMillis());
            String tag = registration.attributes().get(Attributes.TAG);
            Attributes tagged = tag == null ? attributes : attributes.withTags(Map.of(Attributes.TAG, tag));
            Endpoint endpoint = new Endpoint(registration.host(), registration.port());
            registration
                    .protocols()
                    .forEach(protocol -> providers.add(new Provider(protocol, new Instance(endpoint, tagged))));
            changed.put(service.key().toString(), List.copyOf(providers));
        }
        return new ProviderFile(changed);
    }

    /** Returns this content without the entries for a registration's address. */
    ProviderFile without(Registration registration) {
        Endpoint own = new Endpoint(registration.host(), registration.port());
        Map<String, List<Provider>> changed = new TreeMap<>();
        services.forEach((service, providers) -> {
            List<Provider> others = providers.stream()
                    .filter(provider -> !provider.instance().endpoint().equals(own))
                    .toList();
            if (!others.isEmpty()) {
                changed.put(service, others);
            }
        });
        return new ProviderFile(changed);
    }

    /** Returns whether this content lists exactly a registration's services under the registration's address. */
    boolean has(Registration registration) {
        return with(registration).equals(this);
    }

    String json() {
        Map<String, Object> written = new LinkedHashMap<>();
        services.forEach((service, providers) -> written.put(
                service, providers.stream().map(ProviderFile::members).toList()));
        return JsonWriter.write(Map.of(SERVICES, written));
    }

    private static Map<String, Object> members(Provider provider) {
        Attributes attributes = provider.instance().attributes();
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("address", provider.instance().endpoint().toString());
        if (!provider.protocol().isEmpty()) {
            members.put("protocol", provider.protocol());
        }
        members.put("weight", attributes.weight());
        if (!attributes.zone().isEmpty()) {
            members.put("zone", attributes.zone());
        }
        if (!attributes.tag().isEmpty()) {
            members.put("tag", attributes.tag());
        }
        if (attributes.startedAtMillis() > 0) {
            members.put("startedAt", attributes.startedAtMillis());
        }
        return members;
    }
}
