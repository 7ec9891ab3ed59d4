package tern.rpc.server;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.limit.Limit;
import tern.rpc.limit.Limiter;

/** The limiters of single methods. Overloads share one, and so do exports of an interface. Used at start-up. */
final class MethodLimits {

    /** @param interfaceName and {@code method} by their names */
    record Key(String interfaceName, String method) {}

    private final Map<Key, Limiter> limiters = new HashMap<>();

    /** @param servedAtOnce calls of all methods together */
    MethodLimits(Map<Key, Supplier<Limit>> limits, int servedAtOnce, NanoClock clock) {
        limits.forEach((key, limit) -> limiters.put(key, new Limiter(limit.get(), servedAtOnce, clock)));
    }

    @Nullable
    Limiter of(MethodDescriptor method) {
        return limiters.get(new Key(method.service().name(), method.name()));
    }
}
