package tern.rpc.registry.dubbo;

import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceKey;

/**
 * Keeps the interface-level entries of one list in a compact form. Parses an entry only if its name was not in the
 * previous list. Keeps hashes of the names instead of the names to save memory. The names are not needed, because the
 * registry sends all names again with each list. Providers with equal attributes share one attribute object. Not
 * thread-safe.
 */
public final class KnownProviders {

    /**
     * All parameters that a consumer uses, except the start time and the parameters that identify the service.
     */
    private static final List<String> USED = List.of(
            ProviderUrl.APPLICATION,
            ProviderUrl.CATEGORY,
            ProviderUrl.DISABLED,
            ProviderUrl.ENABLED,
            ProviderUrl.FURTHER_PROTOCOL,
            ReadAttributes.TAG,
            ReadAttributes.TOKEN,
            ReadAttributes.WEIGHT,
            ReadAttributes.ZONE);

    private final NameHash hash = new NameHash();
    private long[] hashes = {}; // the hashes of the names in the current list, in ascending order

    // The providers, in the order of their names' hashes. An element is null if the provider's entry is invalid.
    private @Nullable Provider[] providers = {};
    private final SortedEntries<Provider> sorted = new SortedEntries<>(Provider.BY_ADDRESS);

    /**
     * Replaces the list.
     *
     * @param names the names of all nodes
     * @param leftOut receives each new name that is not a valid entry, with the reason
     * @return whether the list has changed
     */
    public boolean replace(List<String> names, BiConsumer<String, IllegalArgumentException> leftOut) {
        long[] unsorted = hashes(names);
        long[] next = unsorted.clone();
        Arrays.sort(next);
        if (Arrays.equals(next, hashes)) {
            return false;
        }
        @Nullable Provider[] nextProviders = new @Nullable Provider[next.length];
        long[] added = new long[next.length]; // the hashes of the new names, in ascending order
        int additions = 0;
        int before = 0;
        for (int i = 0; i < next.length; i++) {
            while (before < hashes.length && hashes[before] < next[i]) {
                remove(providers[before++]);
            }
            if (before < hashes.length && hashes[before] == next[i]) {
                nextProviders[i] = providers[before++];
            } else {
                added[additions++] = next[i];
            }
        }
        while (before < hashes.length) {
            remove(providers[before++]);
        }
        if (additions > 0) {
            parse(names, unsorted, Arrays.copyOf(added, additions), next, nextProviders, leftOut);
        }
        hashes = next;
        providers = nextProviders;
        return true;
    }

    private void remove(@Nullable Provider provider) {
        if (provider != null) {
            sorted.remove(provider);
        }
    }

    /**
     * Parses the new names of a list.
     *
     * @param added the hashes of the new names, sorted
     * @param next the hashes of all names, sorted
     * @param nextProviders receives each new provider at the index of its hash
     */
    private void parse(
            List<String> names,
            long[] unsorted,
            long[] added,
            long[] next,
            @Nullable Provider[] nextProviders,
            BiConsumer<String, IllegalArgumentException> leftOut) {
        ProviderParser parser = parser();
        int i = 0;
        for (String name : names) {
            long own = unsorted[i++];
            if (Arrays.binarySearch(added, own) >= 0) {
                Provider provider = parse(name, parser, leftOut);
                nextProviders[Arrays.binarySearch(next, own)] = provider;
                if (provider != null) {
                    sorted.add(provider);
                }
            }
        }
    }

    private long[] hashes(List<String> names) {
        long[] all = new long[names.size()];
        int i = 0;
        for (String name : names) {
            all[i++] = hash.of(name);
        }
        return all;
    }

    /** Returns a parser that reuses the attribute objects of the current providers. */
    private ProviderParser parser() {
        ProviderParser parser = new ProviderParser();
        Set<Shared> added = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Provider provider : providers) {
            if (provider != null && added.add(provider.shared())) {
                parser.add(provider.shared());
            }
        }
        return parser;
    }

    private static @Nullable Provider parse(
            String name, ProviderParser parser, BiConsumer<String, IllegalArgumentException> leftOut) {
        try {
            return parser.parse(name);
        } catch (IllegalArgumentException e) {
            leftOut.accept(name, e);
            return null;
        }
    }

    /**
     * Returns the providers whose entries are valid, sorted by address. The list is immutable, and the same object is
     * returned until a provider changes.
     */
    public List<Provider> providers() {
        return sorted.list();
    }

    /**
     * The attributes shared by all providers with the same configuration.
     *
     * @param parameters the parameters that a consumer uses, apart from parameters that identify the service and the
     *     start time
     */
    public record Shared(String protocol, ServiceKey service, Map<String, String> parameters) {

        static Shared of(ProviderUrl url) {
            Map<String, String> used = new HashMap<>();
            for (String name : USED) {
                String value = url.parameters().get(name);
                if (value != null && !Limits.isTooLong(name, value)) {
                    used.put(name, value);
                }
            }
            return new Shared(url.protocol(), url.service(), Map.copyOf(used));
        }
    }

    /**
     * A service in one process.
     *
     * @param host the host; an IPv6 address has no brackets
     * @param startedAtMillis the start time in milliseconds since 1970; 0 if unknown
     * @param shared all attributes except the start time; processes with equal attributes share this object
     */
    public record Provider(String host, int port, long startedAtMillis, Shared shared) {

        public static final Comparator<Provider> BY_ADDRESS =
                Comparator.comparing(Provider::host).thenComparingInt(Provider::port);

        public String protocol() {
            return shared.protocol();
        }

        public ServiceKey service() {
            return shared.service();
        }

        /** Returns a parameter that a consumer uses; empty if it is missing. */
        public String parameter(String name) {
            return shared.parameters().getOrDefault(name, "");
        }

        /** Returns an attribute of the provider; null if it is missing. */
        public @Nullable String attribute(String name) {
            return name.equals(ReadAttributes.TIMESTAMP)
                    ? String.valueOf(startedAtMillis)
                    : shared.parameters().get(name);
        }
    }
}
