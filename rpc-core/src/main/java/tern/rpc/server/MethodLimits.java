package tern.rpc.server;

import java.util.HashMap;
import java.util.Map;
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
 * one limiter. Immutable.
 */
final class MethodLimits {

    /**
     * @param interfaceName the interface name
     * @param method the method name
     */
    record Key(String interfaceName, String method) {}

    private final Map<Key, MethodLimiter> limiters = new HashMap<>();

    /** Returns the failure of a call that the limiter refused. */
    static RpcException full(MethodDescriptor method, MethodLimiter refusing) {
        int running = refusing.inside();
        return RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                method + " refused the call: " + running + " of " + refusing.limit() + " are running ("
                        + refusing.describe() + ", set by rpc.server.services.<name>.methods." + method.name()
                        + ".max-concurrency)"
                        + (running < refusing.limit() ? "; the rest is left to callers with fewer calls" : ""),
                Executed.NO);
    }

    /** @param servedAtOnce the number of calls that the server can run concurrently, over all methods */
    MethodLimits(Map<Key, Supplier<Limit>> limits, int servedAtOnce, NanoClock clock) {
        limits.forEach(
                (key, limit) -> limiters.put(key, new MethodLimiter(new Limiter(limit.get(), servedAtOnce, clock))));
    }

    @Nullable
    MethodLimiter of(MethodDescriptor method) {
        if (limiters.isEmpty()) {
            return null;
        }
        return limiters.get(new Key(method.service().name(), method.name()));
    }
}
