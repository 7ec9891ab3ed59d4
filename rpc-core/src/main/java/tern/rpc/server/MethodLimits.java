package tern.rpc.server;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.limit.Limit;
import tern.rpc.limit.Limiter;

/**
 * The limiters of methods that have their own limit. All overloads of a method, in all exports of an interface, share
 * one limiter. Thread-safe.
 */
final class MethodLimits {

    /**
     * @param interfaceName the interface name
     * @param method the method name
     */
    record Key(String interfaceName, String method) {}

    private final Map<Key, MethodLimiter> limiters = new ConcurrentHashMap<>();
    // Removed limiters. If a removed limit is set again, its old limiter is used again, so that calls from before the
    // removal still count.
    private final Map<Key, MethodLimiter> removed = new ConcurrentHashMap<>();
    private final int servedAtOnce;
    private final NanoClock clock;

    /** Returns the failure of a call that the limiter refused. */
    static RpcException full(MethodDescriptor method, MethodLimiter refusing) {
        int running = refusing.inside();
        return RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                method + " refused the call: " + running + " of " + refusing.limit() + " are running ("
                        + refusing.describe("rpc.server.services.<name>.methods." + method.name() + ".max-concurrency")
                        + ")"
                        + (running < refusing.limit() ? "; the rest is reserved for callers with fewer calls" : ""),
                Executed.NO);
    }

    /** @throws IllegalArgumentException if one of the limited methods is not exported */
    static void check(Set<Key> limited, List<ServiceExport> exports) {
        for (Key key : limited) {
            boolean exported = exports.stream()
                    .map(ServiceExport::service)
                    .anyMatch(service -> service.name().equals(key.interfaceName())
                            && !service.overloads(key.method()).isEmpty());
            if (!exported) {
                throw new IllegalArgumentException(
                        "a limit is set for " + key.interfaceName() + "/" + key.method() + ", which is not exported");
            }
        }
    }

    /** @param servedAtOnce the number of calls that the server can run concurrently, over all methods */
    MethodLimits(Map<Key, Supplier<Limit>> limits, int servedAtOnce, NanoClock clock) {
        this.servedAtOnce = servedAtOnce;
        this.clock = clock;
        limits.forEach((key, limit) -> set(key, limit.get()));
    }

    /**
     * Sets, replaces or removes a method's limit.
     *
     * @param limit the new limit; null for none
     * @return the method's limiter; null for none
     */
    @Nullable
    MethodLimiter set(Key key, @Nullable Limit limit) {
        return limiters.compute(key, (same, current) -> {
            if (limit == null) {
                if (current != null) {
                    removed.put(key, current);
                }
                return null;
            }
            MethodLimiter known = current == null ? removed.remove(key) : current;
            if (known == null) {
                return new MethodLimiter(new Limiter(limit, servedAtOnce, clock));
            }
            known.change(limit, clock.nanoTime());
            return known;
        });
    }

    @Nullable
    MethodLimiter of(MethodDescriptor method) {
        if (limiters.isEmpty()) {
            return null;
        }
        return limiters.get(new Key(method.service().name(), method.name()));
    }
}
