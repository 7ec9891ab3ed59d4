package tern.rpc.netty;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.Tls;

/**
 * The connection settings and limits of a client (docs/limits.md).
 *
 * @param application the application name that the client sends to servers; can be empty
 * @param connectTimeout the timeout of one connection attempt
 * @param reconnectMin the upper bound of the first random pause between connection attempts; doubled after each failure
 * @param reconnectMax the maximum pause between attempts
 * @param heartbeat the idle time after which the client sends a heartbeat; the time limit for the answer depends on the
 *     protocol
 * @param probeAfter the time without received bytes after which the client sends a heartbeat while calls wait for an
 *     answer
 * @param probeTimeout the time limit for the answer to a heartbeat while calls wait for an answer
 * @param maxInFlight the maximum number of unanswered calls on one connection, 1 to {@value #MAX_IN_FLIGHT}; additional
 *     calls fail without being sent
 * @param maxQueuedBytes the maximum number of bytes waiting to be written to a connection; while more are waiting, new
 *     requests fail without being sent
 * @param maxRequestBytes the maximum size of a request, in bytes
 * @param maxResponseBytes the maximum size of an answer, in bytes
 * @param tls supplies keys and trusted certificates, and is called for every new connection; null for no TLS
 */
public record ClientTransportSettings(
        String application,
        Duration connectTimeout,
        Duration reconnectMin,
        Duration reconnectMax,
        Duration heartbeat,
        Duration probeAfter,
        Duration probeTimeout,
        int maxInFlight,
        long maxQueuedBytes,
        int maxRequestBytes,
        int maxResponseBytes,
        @Nullable Supplier<Tls> tls) {

    /**
     * The upper bound on {@code maxInFlight}. The bound is needed, because each connection allocates a table with two
     * to four slots per permitted call.
     */
    public static final int MAX_IN_FLIGHT = 1 << 20;

    public ClientTransportSettings {
        if (maxInFlight < 1 || maxInFlight > MAX_IN_FLIGHT) {
            throw new IllegalArgumentException("maxInFlight is " + maxInFlight + "; expected 1 to " + MAX_IN_FLIGHT);
        }
    }

    /**
     * Creates settings without TLS.
     *
     * @param maxMessageBytes the maximum size of a request and the maximum size of an answer, in bytes
     */
    public ClientTransportSettings(
            String application,
            Duration connectTimeout,
            Duration reconnectMin,
            Duration reconnectMax,
            Duration heartbeat,
            Duration probeAfter,
            Duration probeTimeout,
            int maxInFlight,
            long maxQueuedBytes,
            int maxMessageBytes) {
        this(
                application,
                connectTimeout,
                reconnectMin,
                reconnectMax,
                heartbeat,
                probeAfter,
                probeTimeout,
                maxInFlight,
                maxQueuedBytes,
                maxMessageBytes,
                maxMessageBytes,
                null);
    }

    /** Creates settings with all defaults and without TLS. */
    public static ClientTransportSettings named(String application) {
        return new ClientTransportSettings(
                application,
                Duration.ofSeconds(3),
                Duration.ofMillis(200),
                Duration.ofSeconds(30),
                Duration.ofSeconds(60),
                Duration.ofSeconds(5),
                Duration.ofSeconds(10),
                1_024,
                64L << 20,
                8 << 20);
    }

    /** @param connectTimeout the timeout of one attempt to connect */
    public ClientTransportSettings withConnectTimeout(Duration connectTimeout) {
        return with(draft -> draft.connectTimeout = connectTimeout);
    }

    /**
     * @param min the upper bound of the first random pause between connection attempts; doubled after each failure
     * @param max the maximum pause
     */
    public ClientTransportSettings withReconnect(Duration min, Duration max) {
        return with(draft -> {
            draft.reconnectMin = min;
            draft.reconnectMax = max;
        });
    }

    /** @param heartbeat the idle time after which the client sends a heartbeat */
    public ClientTransportSettings withHeartbeat(Duration heartbeat) {
        return with(draft -> draft.heartbeat = heartbeat);
    }

    /**
     * @param after the time without received bytes after which the client sends a heartbeat while calls wait for an
     *     answer
     * @param timeout the time limit for the answer to this heartbeat
     */
    public ClientTransportSettings withProbe(Duration after, Duration timeout) {
        return with(draft -> {
            draft.probeAfter = after;
            draft.probeTimeout = timeout;
        });
    }

    /**
     * @param maxInFlight the maximum number of unanswered calls on one connection
     */
    public ClientTransportSettings withMaxInFlight(int maxInFlight) {
        return with(draft -> draft.maxInFlight = maxInFlight);
    }

    /**
     * @param maxQueuedBytes the maximum number of bytes waiting to be written to a connection; while more are waiting,
     *     new requests fail without being sent
     */
    public ClientTransportSettings withMaxQueuedBytes(long maxQueuedBytes) {
        return with(draft -> draft.maxQueuedBytes = maxQueuedBytes);
    }

    /** @param maxMessageBytes the maximum size of a request and the maximum size of an answer, in bytes */
    public ClientTransportSettings withMaxMessageBytes(int maxMessageBytes) {
        return withMaxMessageBytes(maxMessageBytes, maxMessageBytes);
    }

    /**
     * @param request the maximum size of a request, in bytes
     * @param response the maximum size of an answer, in bytes
     */
    public ClientTransportSettings withMaxMessageBytes(int request, int response) {
        return with(draft -> {
            draft.maxRequestBytes = request;
            draft.maxResponseBytes = response;
        });
    }

    /** @param tls supplies keys and trusted certificates, and is called for every new connection; null for no TLS */
    public ClientTransportSettings withTls(@Nullable Supplier<Tls> tls) {
        return with(draft -> draft.tls = tls);
    }

    private ClientTransportSettings with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return draft.build();
    }

    /** A mutable copy of the settings. */
    private static final class Draft {
        private String application;
        private Duration connectTimeout;
        private Duration reconnectMin;
        private Duration reconnectMax;
        private Duration heartbeat;
        private Duration probeAfter;
        private Duration probeTimeout;
        private int maxInFlight;
        private long maxQueuedBytes;
        private int maxRequestBytes;
        private int maxResponseBytes;
        private @Nullable Supplier<Tls> tls;

        Draft(ClientTransportSettings from) {
            application = from.application;
            connectTimeout = from.connectTimeout;
            reconnectMin = from.reconnectMin;
            reconnectMax = from.reconnectMax;
            heartbeat = from.heartbeat;
            probeAfter = from.probeAfter;
            probeTimeout = from.probeTimeout;
            maxInFlight = from.maxInFlight;
            maxQueuedBytes = from.maxQueuedBytes;
            maxRequestBytes = from.maxRequestBytes;
            maxResponseBytes = from.maxResponseBytes;
            tls = from.tls;
        }

        ClientTransportSettings build() {
            return new ClientTransportSettings(
                    application,
                    connectTimeout,
                    reconnectMin,
                    reconnectMax,
                    heartbeat,
                    probeAfter,
                    probeTimeout,
                    maxInFlight,
                    maxQueuedBytes,
                    maxRequestBytes,
                    maxResponseBytes,
                    tls);
        }
    }
}
