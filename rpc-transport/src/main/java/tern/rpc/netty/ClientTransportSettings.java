package tern.rpc.netty;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.Tls;

/**
 * How a client connects and what it bears (docs/limits.md).
 *
 * @param application name told to servers; may be empty
 * @param connectTimeout for one attempt
 * @param reconnectMin pause after the first failed attempt; doubled after each, with full jitter
 * @param reconnectMax longest pause
 * @param heartbeat after which a connection without answers is asked for a sign of life; condemned after three times
 * @param probeAfter the same while calls are waiting for an answer
 * @param probeTimeout within which that sign of life must come
 * @param maxInFlight calls of one connection that are not answered yet; more are refused as not executed
 * @param maxQueuedBytes of requests that the socket has not taken yet; more are refused as not executed
 * @param maxRequestBytes of one request that is written
 * @param maxResponseBytes of one answer that is read
 * @param tls keys and trust, looked at for every new connection; null for clear text
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
     * In clear text.
     *
     * @param maxMessageBytes of one request and of one answer
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

    /** All defaults, in clear text. */
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

    /** @param replaced time for one attempt to connect */
    public ClientTransportSettings withConnectTimeout(Duration replaced) {
        return with(draft -> draft.connectTimeout = replaced);
    }

    /**
     * @param min pause after the first failed attempt; doubled after each, with full jitter
     * @param max longest pause
     */
    public ClientTransportSettings withReconnect(Duration min, Duration max) {
        return with(draft -> {
            draft.reconnectMin = min;
            draft.reconnectMax = max;
        });
    }

    /** @param replaced after which a connection without answers is asked for a sign of life */
    public ClientTransportSettings withHeartbeat(Duration replaced) {
        return with(draft -> draft.heartbeat = replaced);
    }

    /**
     * @param after time without an answer, while calls wait for one, after which the server is asked for a sign of life
     * @param timeout within which that sign of life must come
     */
    public ClientTransportSettings withProbe(Duration after, Duration timeout) {
        return with(draft -> {
            draft.probeAfter = after;
            draft.probeTimeout = timeout;
        });
    }

    /** @param replaced calls of one connection that are not answered yet */
    public ClientTransportSettings withMaxInFlight(int replaced) {
        return with(draft -> draft.maxInFlight = replaced);
    }

    /** @param replaced bytes of requests that the socket has not taken yet */
    public ClientTransportSettings withMaxQueuedBytes(long replaced) {
        return with(draft -> draft.maxQueuedBytes = replaced);
    }

    /** @param replaced bytes of one request and of one answer */
    public ClientTransportSettings withMaxMessageBytes(int replaced) {
        return withMaxMessageBytes(replaced, replaced);
    }

    /**
     * @param request bytes of one request that is written
     * @param response bytes of one answer that is read
     */
    public ClientTransportSettings withMaxMessageBytes(int request, int response) {
        return with(draft -> {
            draft.maxRequestBytes = request;
            draft.maxResponseBytes = response;
        });
    }

    /** @param replaced keys and trust, looked at for every new connection; null for clear text */
    public ClientTransportSettings withTls(@Nullable Supplier<Tls> replaced) {
        return with(draft -> draft.tls = replaced);
    }

    private ClientTransportSettings with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return draft.build();
    }

    /** A copy that may be changed before it is built. */
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
