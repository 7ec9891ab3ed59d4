package tern.rpc.netty;

import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import tern.rpc.limit.Share;

/**
 * Those who have connections to a server, with one share of it for each, however many connections that are. A tenant
 * without connections stays as long as its methods run, so that it does not get a new share by connecting anew.
 * Thread-safe.
 *
 * @param <K> how they are told apart
 */
final class Tenants<K> {

    /** Tenants without connections that each connection looks at; more than one, so that they become fewer. */
    private static final int LOOKED_AT = 2;

    private record Tenant(int connections, Share share) {}

    private final Function<K, String> nameOf;
    private final ConcurrentMap<K, Tenant> present = new ConcurrentHashMap<>();
    private final Queue<K> left = new ConcurrentLinkedQueue<>(); // had no connection when they were added

    /** @param nameOf a tenant, for people */
    Tenants(Function<K, String> nameOf) {
        this.nameOf = nameOf;
    }

    /** One more connection. */
    Share join(K key) {
        forgetIdle();
        Tenant joined = present.compute(
                key,
                (same, known) -> known == null
                        ? new Tenant(1, new Share(nameOf.apply(key)))
                        : new Tenant(known.connections() + 1, known.share()));
        return joined.share();
    }

    /** One connection less. */
    void leave(K key) {
        Tenant after = present.computeIfPresent(key, (same, known) -> {
            int connections = known.connections() - 1;
            return connections == 0 && isIdle(known) ? null : new Tenant(connections, known.share());
        });
        if (after != null && after.connections() == 0) {
            left.add(key);
        }
        forgetIdle();
    }

    private void forgetIdle() {
        for (int i = 0; i < LOOKED_AT; i++) {
            K key = left.poll();
            if (key == null) {
                return;
            }
            Tenant stays = present.computeIfPresent(
                    key, (same, known) -> known.connections() == 0 && isIdle(known) ? null : known);
            if (stays != null && stays.connections() == 0) {
                left.add(key);
            }
        }
    }

    private static boolean isIdle(Tenant tenant) {
        return tenant.share().held() == 0 && tenant.share().streaming() == 0;
    }

    /** Whether there are two or more. */
    boolean areSeveral() {
        return present.size() > 1;
    }
}
