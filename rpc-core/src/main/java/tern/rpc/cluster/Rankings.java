package tern.rpc.cluster;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import tern.rpc.endpoint.Instance;

/**
 * The ranked providers of a client's sources. References to several services of one application get the same list, and
 * share the order of its providers. Thread-safe.
 */
final class Rankings {

    /**
     * The providers that references share.
     *
     * @param source the key of the source of the list
     * @param protocol the references' protocol; endpoints with another protocol are ignored
     * @param zone the client's zone; may be empty
     */
    private record Key(Object source, String protocol, String zone) {}

    private static final List<String> UNTAGGED = List.of(""); // One object for the many providers without a tag.

    private final long client;
    private final Map<Key, WeakReference<RankedProviders>> byKey =
            new WeakHashMap<>(); // This object's lock guards this field.

    /** @param client a number that identifies the client */
    Rankings(long client) {
        this.client = client;
    }

    long client() {
        return client;
    }

    /** Returns the providers of a source, for references without rules. An entry ends when no reference uses it. */
    synchronized RankedProviders of(Object source, String protocol, String zone) {
        Key key = new Key(source, protocol, zone);
        WeakReference<RankedProviders> known = byKey.get(key);
        RankedProviders providers = known == null ? null : known.get();
        if (providers == null) {
            // The function refers to the key, so that the entry exists as long as the providers.
            providers = new RankedProviders(client, zone, instance -> tags(instance, key));
            byKey.remove(key); // put() alone would keep the old key object
            byKey.put(key, new WeakReference<>(providers));
        }
        return providers;
    }

    private static List<String> tags(Instance instance, Key key) {
        return isSpoken(instance, key.protocol()) ? tags(instance) : List.of();
    }

    /** Returns the tag of a provider, according to its own attributes. */
    static List<String> tags(Instance instance) {
        String tag = instance.attributes().tag();
        return tag.isEmpty() ? UNTAGGED : List.of(tag);
    }

    /** Returns whether a reference with the given protocol uses the provider. */
    static boolean isSpoken(Instance instance, String protocol) {
        String spoken = instance.endpoint().protocol();
        return spoken.isEmpty() || spoken.equals(protocol);
    }
}
