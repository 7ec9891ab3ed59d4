package tern.rpc.cluster;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;

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
     * @param rules the rules in force
     * @param route the {@link Rules#routeKey} of the methods
     */
    record Key(Object source, String protocol, String zone, Rules rules, Object route) {}

    private static final List<String> UNTAGGED = List.of(""); // One object for the many providers without a tag.

    private final long client;
    private final Map<Key, WeakReference<RankedProviders>> byKey =
            new WeakHashMap<>(); // This object's lock guards byKey.

    /** @param client a number that identifies the client */
    Rankings(long client) {
        this.client = client;
    }

    /** Returns the shared providers. An entry is removed when no reference uses its providers. */
    synchronized RankedProviders of(Key key) {
        WeakReference<RankedProviders> known = byKey.get(key);
        RankedProviders providers = known == null ? null : known.get();
        if (providers == null) {
            // The function refers to the key, so that the weak map keeps the entry while the providers are in use.
            providers = new RankedProviders(client, key.zone(), instance -> tags(instance, key));
            byKey.remove(key); // put() alone would keep the old key object
            byKey.put(key, new WeakReference<>(providers));
        }
        return providers;
    }

    private static List<String> tags(Instance instance, Key key) {
        return isSpoken(instance, key.protocol()) ? tags(instance, key.rules()) : List.of();
    }

    /**
     * Returns the tags of a provider. Rules can give a provider several tags. Such a provider belongs to the subset of
     * each tag, so that a call with any of these tags finds a provider.
     */
    static List<String> tags(Instance instance, Rules rules) {
        List<String> ruled = rules == Rules.NONE ? List.of() : rules.tags(instance);
        if (!ruled.isEmpty()) {
            return ruled;
        }
        String tag = instance.attributes().tag();
        return tag.isEmpty() ? UNTAGGED : List.of(tag);
    }

    /** Returns whether a reference with the given protocol uses the provider. */
    static boolean isSpoken(Instance instance, String protocol) {
        String spoken = instance.endpoint().protocol();
        return spoken.isEmpty() || spoken.equals(protocol);
    }
}
