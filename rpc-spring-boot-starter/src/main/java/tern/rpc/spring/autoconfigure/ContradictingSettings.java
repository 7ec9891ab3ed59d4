package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.Environment;

/**
 * Finds pairs of valid properties that contradict each other, so that one of the two cannot have the effect that its
 * user expects. Lists these pairs in one warning at startup. A pair of defaults is never listed.
 */
final class ContradictingSettings {

    private static final Logger LOG = LoggerFactory.getLogger(ContradictingSettings.class);

    private static final String CALLS = "rpc.server.max-concurrency";
    private static final String THREADS = "rpc.server.threads";
    private static final String HOST = "rpc.limits.max-connections-per-host";
    private static final String CONNECTIONS = "rpc.limits.max-connections";
    private static final String WAIT = "rpc.server.max-queue-wait";
    private static final String LATENCY = "rpc.slo.latency";
    private static final String TIMEOUT = "rpc.client.timeout";
    private static final String IDLE = "rpc.server.idle-timeout";
    private static final String HEARTBEAT = "rpc.client.heartbeat";
    private static final String PHASE = "spring.lifecycle.timeout-per-shutdown-phase";

    private final Environment environment;
    private final List<String> found = new ArrayList<>();

    private ContradictingSettings(Environment environment) {
        this.environment = environment;
    }

    /** Returns a description of each pair of properties that contradict each other. */
    static List<String> find(
            Environment environment,
            RpcServerProperties server,
            RpcClientProperties client,
            RpcLimitsProperties limits,
            RpcSloProperties slo) {
        ContradictingSettings settings = new ContradictingSettings(environment);
        settings.addCounts(server, limits);
        settings.addTimes(server, client, slo);
        settings.addShutdown(server);
        return List.copyOf(settings.found);
    }

    static void log(List<String> contradictions) {
        if (!contradictions.isEmpty()) {
            LOG.warn("Settings that contradict each other: {}", String.join("; ", contradictions));
        }
    }

    private void addCounts(RpcServerProperties server, RpcLimitsProperties limits) {
        Integer calls = number(server.maxConcurrency());
        if (calls != null) {
            addIf(
                    calls < server.threads() && isSet(THREADS),
                    THREADS + " is " + server.threads() + ", but " + CALLS + " admits only " + calls
                            + " calls at once");
            server.services()
                    .forEach((name, service) -> service.methods().forEach((method, settings) -> {
                        Integer own = number(settings.maxConcurrency());
                        addIf(
                                own != null && own > calls,
                                "rpc.server.services." + name + ".methods." + method + ".max-concurrency is " + own
                                        + ", but " + CALLS + " admits only " + calls + " calls at once");
                    }));
        }
        addIf(
                limits.maxConnectionsPerHost() > limits.maxConnections() && isSet(HOST),
                HOST + " is " + limits.maxConnectionsPerHost() + ", but " + CONNECTIONS + " accepts only "
                        + limits.maxConnections() + " connections");
    }

    /** Adds Spring's limit for a phase of the shutdown, if it is shorter. Draining is not interrupted by this limit. */
    private void addShutdown(RpcServerProperties server) {
        Duration phase = phase();
        addIf(
                phase != null && phase.compareTo(server.shutdownTimeout()) < 0,
                PHASE + " is " + environment.getProperty(PHASE)
                        + ", but the RPC server waits for running calls for at most "
                        + text(server.shutdownTimeout()) + " (rpc.server.shutdown-timeout)");
    }

    private @Nullable Duration phase() {
        try {
            String value = environment.getProperty(PHASE);
            return value == null ? null : DurationStyle.detectAndParse(value);
        } catch (IllegalArgumentException e) {
            return null; // Spring reports the wrong value.
        }
    }

    private void addTimes(RpcServerProperties server, RpcClientProperties client, RpcSloProperties slo) {
        addIf(
                server.maxQueueWait().compareTo(slo.latency()) > 0 && isSet(WAIT),
                WAIT + " is " + text(server.maxQueueWait()) + ", but a call that waits longer than "
                        + text(slo.latency()) + " misses " + LATENCY);
        addIf(
                slo.latency().compareTo(client.timeout()) > 0 && (isSet(LATENCY) || isSet(TIMEOUT)),
                LATENCY + " is " + text(slo.latency()) + ", but calls of this application end after "
                        + text(client.timeout()) + " (" + TIMEOUT + ")");
        addIf(
                server.idleTimeout().compareTo(client.heartbeat()) <= 0 && (isSet(IDLE) || isSet(HEARTBEAT)),
                IDLE + " is " + text(server.idleTimeout())
                        + ", but clients with these settings keep a connection open by a heartbeat only every "
                        + text(client.heartbeat()) + " (" + HEARTBEAT
                        + "), so servers close connections without calls");
    }

    private static @Nullable Integer number(@Nullable String value) {
        try {
            return value == null ? null : Integer.valueOf(value.trim());
        } catch (NumberFormatException e) {
            return null; // The value is adaptive. A wrong value stops the start elsewhere.
        }
    }

    private static String text(Duration time) {
        return DurationStyle.SIMPLE.print(time, time.toMillis() % 1000 == 0 ? ChronoUnit.SECONDS : ChronoUnit.MILLIS);
    }

    private boolean isSet(String property) {
        String value = environment.getProperty(property);
        return value != null && !value.isBlank();
    }

    private void addIf(boolean contradiction, String description) {
        if (contradiction) {
            found.add(description);
        }
    }
}
