package tern.rpc.netty;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import tern.rpc.limit.Share;

/**
 * Those who have connections to a server, with one share of it for each, however many connections that are. Thread-safe.
 *
 * @param <K> how they are told apart
 */
final class Tenants<K> {

    private record Tenant(int connections, Share share) {}

    private final ConcurrentMap<K, Tenant> present = new ConcurrentHashMap<>();

    /** One more connection. */
    Share join(K key) {
        Tenant joined = present.compute(
                key,
                (same, known) -> known == null
                        ? new Tenant(1, new Share())
                        : new Tenant(known.connections() + 1, known.share()));
        return joined.share();
    }

    /** One connection less. */
    void leave(K key) {
        present.computeIfPresent(
                key,
                (same, known) -> known.connections() == 1 ? null : new Tenant(known.connections() - 1, known.share()));
    }

    /** Whether there are two or more. */
    boolean areSeveral() {
        return present.size() > 1;
    }
}
