package tern.rpc.netty;

import io.netty.util.internal.PlatformDependent;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.Tls;

/**
 * How a server listens and what it bears (reliability table).
 *
 * @param address host name or IP address to bind, IPv6 without brackets; null for all addresses
 * @param port 0 for a free one
 * @param maxConnections in all; more are closed at once
 * @param maxConnectionsPerHost from one remote address; more are closed at once
 * @param maxInFlight calls of one connection that are not answered yet; more are refused as not executed
 * @param maxMessageBytes of one request or answer
 * @param maxInboundBytes of larger requests of all connections that are not complete or that no worker has read; when it is
 *     used up, connections that hold some are read no more for a while
 * @param maxStreamUnsentBytes of answers that one stream keeps for a caller that reads slowly, beside one message of any
 *     size; a stream with more is ended
 * @param maxUnsentBytes of answers by HTTP that callers have not taken, over all connections; above it, streams that have
 *     more to send are ended
 * @param idleTimeout after which a connection without traffic is closed
 * @param firstBytesTimeout from the first byte on, within which a connection must show its protocol
 * @param tls keys and trust, looked at for every new connection; null for clear text
 * @param clearTextToo whether clients without TLS are served as well when there is TLS
 */
public record ServerTransportSettings(
        @Nullable String address,
        int port,
        int maxConnections,
        int maxConnectionsPerHost,
        int maxInFlight,
        int maxMessageBytes,
        long maxInboundBytes,
        int maxStreamUnsentBytes,
        long maxUnsentBytes,
        Duration idleTimeout,
        Duration firstBytesTimeout,
        @Nullable Supplier<Tls> tls,
        boolean clearTextToo) {

    private static final long MOST_INBOUND_BYTES = 256 << 20;

    /** Default of {@link #maxStreamUnsentBytes}. */
    public static final int STREAM_UNSENT_BYTES = 1 << 20;

    /** Default of {@link #maxUnsentBytes}. */
    public static final long UNSENT_BYTES = 64 << 20;

    /** In clear text, with the default for the requests of all connections. */
    public ServerTransportSettings(
            @Nullable String address,
            int port,
            int maxConnections,
            int maxConnectionsPerHost,
            int maxInFlight,
            int maxMessageBytes,
            Duration idleTimeout,
            Duration firstBytesTimeout) {
        this(
                address,
                port,
                maxConnections,
                maxConnectionsPerHost,
                maxInFlight,
                maxMessageBytes,
                defaultInboundBytes(),
                STREAM_UNSENT_BYTES,
                UNSENT_BYTES,
                idleTimeout,
                firstBytesTimeout,
                null,
                false);
    }

    /** 256 MiB, but no more than a quarter of what heap and direct memory may grow to (reliability table, buffers). */
    public static long defaultInboundBytes() {
        long memory = Runtime.getRuntime().maxMemory() + PlatformDependent.maxDirectMemory();
        return Math.min(MOST_INBOUND_BYTES, memory / 4);
    }

    /** All defaults, in clear text, on the given port of all addresses. */
    public static ServerTransportSettings onPort(int port) {
        return new ServerTransportSettings(
                null, port, 8_192, 1_024, 1_024, 8 << 20, Duration.ofSeconds(180), Duration.ofSeconds(10));
    }

    /** Bytes that the headers of open requests of all connections may hold; a quarter of {@link #maxInboundBytes}. */
    long maxHeadBytes() {
        return maxInboundBytes / 4;
    }

    /** @param alsoClearText whether clients without TLS are served as well, for the time in which they are moved */
    public ServerTransportSettings withTls(@Nullable Supplier<Tls> replaced, boolean alsoClearText) {
        return new ServerTransportSettings(
                address,
                port,
                maxConnections,
                maxConnectionsPerHost,
                maxInFlight,
                maxMessageBytes,
                maxInboundBytes,
                maxStreamUnsentBytes,
                maxUnsentBytes,
                idleTimeout,
                firstBytesTimeout,
                replaced,
                alsoClearText);
    }

    /** @param replaced at least the size of one message */
    public ServerTransportSettings withMaxInboundBytes(long replaced) {
        return new ServerTransportSettings(
                address,
                port,
                maxConnections,
                maxConnectionsPerHost,
                maxInFlight,
                maxMessageBytes,
                replaced,
                maxStreamUnsentBytes,
                maxUnsentBytes,
                idleTimeout,
                firstBytesTimeout,
                tls,
                clearTextToo);
    }

    /**
     * @param ofStream bytes of answers that one stream keeps
     * @param all the same of all streams
     */
    public ServerTransportSettings withMaxUnsentBytes(int ofStream, long all) {
        return new ServerTransportSettings(
                address,
                port,
                maxConnections,
                maxConnectionsPerHost,
                maxInFlight,
                maxMessageBytes,
                maxInboundBytes,
                ofStream,
                all,
                idleTimeout,
                firstBytesTimeout,
                tls,
                clearTextToo);
    }
}
