package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.env.Environment;
import tern.rpc.limit.FixedLimit;
import tern.rpc.limit.Limit;
import tern.rpc.registry.RuledLimit;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.autoconfigure.ServerLimits.Method;

/**
 * Changes the limits of the running server when properties or rules change. A limit in a rule takes precedence over the
 * property of the same method. Thread-safe.
 */
final class RunningLimits {

    private static final Logger LOG = LoggerFactory.getLogger(RunningLimits.class);

    private final ObjectProvider<RpcServer> server;
    private ServerLimits properties; // guarded by this
    private Duration maxQueueWait; // guarded by this

    // the limits from rules, by registry; guarded by this
    private final Map<String, List<RuledLimit>> rules = new TreeMap<>();
    // the limits in effect; null before the first change; guarded by this
    private @Nullable Map<Method, MethodLimit> inForce;

    /**
     * The limit on the concurrent calls to a method.
     *
     * @param fixed the maximum number of calls; null for an adaptive limit; 0 if a rule removes the limit
     * @param rule the rule that sets the limit; empty if a property sets the limit
     */
    private record MethodLimit(@Nullable Integer fixed, String rule) {

        boolean isNone() {
            return fixed != null && fixed == 0;
        }

        @Override
        public String toString() {
            return (fixed == null ? "adaptive" : isNone() ? "none" : fixed)
                    + (rule.isEmpty() ? "" : ", set by the rule " + rule);
        }
    }

    RunningLimits(ObjectProvider<RpcServer> server, ServerSettings settings) {
        this.server = server;
        this.properties = settings.limits();
        this.maxQueueWait = settings.maxQueueWait();
    }

    /** Applies changed properties. If a value is invalid, logs a warning and changes nothing. */
    synchronized void change(Environment environment) {
        RpcServer running = server.getIfAvailable();
        if (running == null) {
            return;
        }
        try {
            ChangeableLimits changed = ChangeableLimits.in(environment);
            ServerLimits next = ServerLimits.of(changed.maxConcurrency(), properties.threads(), changed.services());
            Map<Method, MethodLimit> wanted = wanted(running, next);
            if (!Objects.equals(next.server(), properties.server())) {
                running.controls().limit(next.server() == null ? null : new FixedLimit(next.server()));
                LOG.info("rpc.server.max-concurrency is now {}", changed.maxConcurrency());
            }
            if (!changed.maxQueueWait().equals(maxQueueWait)) {
                maxQueueWait = changed.maxQueueWait();
                running.controls().maxQueueWait(maxQueueWait);
                LOG.info("rpc.server.max-queue-wait is now {} ms", maxQueueWait.toMillis());
            }
            use(running, wanted);
            properties = next;
        } catch (RuntimeException e) { // binding and validation can throw many types of exceptions
            LOG.warn("Changed properties under rpc.server are not applied", e);
        }
    }

    /** Replaces the current limits from the rules of a registry with the given ones. */
    synchronized void rule(String registry, List<RuledLimit> limits) {
        rules.put(registry, List.copyOf(limits));
        RpcServer running = server.getIfAvailable();
        if (running != null) {
            use(running, wanted(running, properties));
        }
    }

    private Map<Method, MethodLimit> wanted(RpcServer running, ServerLimits settings) {
        Map<Method, MethodLimit> wanted = ofMethods(running, settings);
        rules.values()
                .forEach(limits -> limits.forEach(limit -> running.exports().stream()
                        .filter(export -> export.service().name().equals(limit.interfaceName()))
                        .flatMap(export -> export.service().methods().stream())
                        .filter(method ->
                                limit.method().isEmpty() || limit.method().equals(method.name()))
                        .forEach(method -> apply(limit, new Method(limit.interfaceName(), method.name()), wanted))));
        return wanted;
    }

    private static void apply(RuledLimit limit, Method method, Map<Method, MethodLimit> wanted) {
        wanted.put(method, new MethodLimit(limit.maxConcurrency(), limit.rule()));
    }

    private static Map<Method, MethodLimit> ofMethods(RpcServer running, ServerLimits settings) {
        Map<Method, MethodLimit> limits = new HashMap<>();
        settings.ofMethods(running.exports())
                .forEach((method, fixed) -> limits.put(method, new MethodLimit(fixed.orElse(null), "")));
        return limits;
    }

    private void use(RpcServer running, Map<Method, MethodLimit> wanted) {
        // Before the first change of a limit, the server uses the limits that the properties had at startup.
        Map<Method, MethodLimit> before = inForce == null ? ofMethods(running, properties) : inForce;
        Set<Method> methods = new HashSet<>(before.keySet());
        methods.addAll(wanted.keySet());
        for (Method method : methods) {
            MethodLimit next = wanted.get(method);
            if (!Objects.equals(next, before.get(method))) {
                running.controls().limit(method.interfaceName(), method.name(), limit(next));
                LOG.info(
                        "The limit on running calls of {}/{} is now {}",
                        method.interfaceName(),
                        method.name(),
                        next == null ? "none" : next);
            }
        }
        inForce = wanted;
    }

    private @Nullable Limit limit(@Nullable MethodLimit next) {
        if (next == null || next.isNone()) {
            return null;
        }
        return next.rule().isEmpty() || next.fixed() == null
                ? properties.ofMethod(next.fixed())
                : new FixedLimit(next.fixed(), "the rule " + next.rule());
    }
}
