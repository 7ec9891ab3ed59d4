package tern.rpc.cluster;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.TimeLimit;
import tern.rpc.endpoint.Rules;

/** The time limits that rules set. Each limit is computed once. Thread-safe. */
final class TimeLimits {

    private final Rules rules;
    private final Map<String, Optional<TimeLimit>> byMethod = new ConcurrentHashMap<>();

    TimeLimits(Rules rules) {
        this.rules = rules;
    }

    @Nullable
    TimeLimit of(String method) {
        return byMethod.computeIfAbsent(method, this::limit).orElse(null);
    }

    private Optional<TimeLimit> limit(String method) {
        Duration timeout = rules.timeout(method);
        return timeout == null ? Optional.empty() : Optional.of(new TimeLimit(timeout, rules.timeoutFrom(method)));
    }
}
