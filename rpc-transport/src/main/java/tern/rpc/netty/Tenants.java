package tern.rpc.netty;

import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import tern.rpc.limit.Share;

/**
 * The tenants that have connections to a server. Each tenant has one {@link Share}, which counts the calls on all its
 * connections. A tenant without connections is kept while its methods run, so that these calls are still counted after
 * it has reconnected. Thread-safe.
 *
 * @param <K> the type of the key that identifies a tenant
 */
final class Tenants<K> {

    /**
     * The number of tenants without connections that are checked for removal each time a connection is opened or
     * closed. The number is greater than one, so that the queue of such tenants shrinks.
     */
    private static final int LOOKED_AT = 2;

    /** @param listed whether the tenant's key is in {@link #left}, the queue of tenants without connections */
    private record Tenant(int connections, Share share, boolean listed) {
        Tenant with(int connections) {
            return new Tenant(connections, share, listed);
        }

        Tenant listed(boolean listed) {
            return new Tenant(connections, share, listed);
        }
    }

    private final Function<K, String> nameOf;
    private final ConcurrentMap<K, Tenant> present = new ConcurrentHashMap<>();
    // the keys of tenants whose last connection was closed; contains no duplicates
    private final Queue<K> left = new ConcurrentLinkedQueue<>();

    /** @param nameOf returns the readable name of a tenant */
    Tenants(Function<K, String> nameOf) {
        this.nameOf = nameOf;
    }

    /** Increments the tenant's connection count and returns the tenant's {@link Share}. */
    Share join(K key) {
        forgetIdle();
        Tenant joined = present.compute(
                key,
                (same, known) -> known == null
                        ? new Tenant(1, new Share(nameOf.apply(key)), false)
                        : known.with(known.connections() + 1));
        return joined.share();
    }

    /** Decrements the tenant's connection count after a connection has closed. */
    void leave(K key) {
        present.computeIfPresent(key, (same, known) -> {
            Tenant after = known.with(known.connections() - 1);
            if (after.connections() > 0 || after.listed()) {
                return after;
            }
            if (isIdle(after)) {
                return null;
            }
            left.add(key);
            return after.listed(true);
        });
        forgetIdle();
    }

    private void forgetIdle() {
        for (int i = 0; i < LOOKED_AT; i++) {
            K key = left.poll();
            if (key == null) {
                return;
            }
            present.computeIfPresent(key, (same, known) -> {
                if (known.connections() > 0) {
                    return known.listed(false);
                }
                if (isIdle(known)) {
                    return null;
                }
                left.add(key);
                return known;
            });
        }
    }

    private static boolean isIdle(Tenant tenant) {
        return tenant.share().held() == 0 && tenant.share().streaming() == 0;
    }

    /** Returns the number of tenants that are queued for removal. Used by tests. Takes linear time. */
    int remembered() {
        return left.size();
    }

    /** Returns whether there are at least two tenants. */
    boolean areSeveral() {
        return present.size() > 1;
    }
}
