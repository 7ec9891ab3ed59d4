package tern.rpc.netty;

import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.Tls;

/**
 * How a client connects and what it bears (reliability table).
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
 * @param maxMessageBytes of one request or answer
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
        int maxMessageBytes,
        @Nullable Supplier<Tls> tls) {

    /** In clear text. */
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

    public ClientTransportSettings withTls(@Nullable Supplier<Tls> replaced) {
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
                maxMessageBytes,
                replaced);
    }
}
