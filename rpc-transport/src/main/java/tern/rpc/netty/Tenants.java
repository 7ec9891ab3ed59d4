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

    /** @param listed whether its key stands among those that are {@link #left} */
    private record Tenant(int connections, Share share, boolean listed) {
        Tenant with(int replaced) {
            return new Tenant(replaced, share, listed);
        }

        Tenant listed(boolean replaced) {
            return new Tenant(connections, share, replaced);
        }
    }

    private final Function<K, String> nameOf;
    private final ConcurrentMap<K, Tenant> present = new ConcurrentHashMap<>();
    private final Queue<K> left = new ConcurrentLinkedQueue<>(); // had no connection when they were added; each once

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
                        ? new Tenant(1, new Share(nameOf.apply(key)), false)
                        : known.with(known.connections() + 1));
        return joined.share();
    }

    /** One connection less. */
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

    /** How many are to be looked at again. For tests; counts them. */
    int remembered() {
        return left.size();
    }

    /** Whether there are two or more. */
    boolean areSeveral() {
        return present.size() > 1;
    }
}
