package tern.rpc.netty;

import io.netty.util.internal.PlatformDependent;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.Tls;

/**
 * How a server listens and what it bears (docs/limits.md).
 *
 * @param address host name or IP address to bind, IPv6 without brackets; null for all addresses
 * @param port 0 for a free one
 * @param maxConnections in all; more are closed at once
 * @param maxConnectionsPerHost from one remote address; more are closed at once
 * @param maxInFlight calls of one connection that are not answered yet; more are refused as not executed
 * @param maxRequestBytes of one request that is read
 * @param maxResponseBytes of one answer that is written
 * @param maxInboundBytes of larger requests of all connections that are not complete or that no worker has read; when it is
 *     used up, connections that hold some are read no more for a while
 * @param maxStreamUnsentBytes of answers that one stream keeps for a caller that reads slowly, beside one message of any
 *     size; a stream with more is ended
 * @param maxUnsentBytes of answers that callers have not taken, over all connections; above it, streams that have more to
 *     send are ended, and with two and four times as much connections that do not read are closed
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
        int maxRequestBytes,
        int maxResponseBytes,
        long maxInboundBytes,
        int maxStreamUnsentBytes,
        long maxUnsentBytes,
        Duration idleTimeout,
        Duration firstBytesTimeout,
        @Nullable Supplier<Tls> tls,
        boolean clearTextToo) {

    private static final long MAX_INBOUND_BYTES = 256 << 20;

    /** Default of {@link #maxStreamUnsentBytes}. */
    public static final int STREAM_UNSENT_BYTES = 1 << 20;

    /** Default of {@link #maxUnsentBytes}. */
    public static final long UNSENT_BYTES = 64 << 20;

    /**
     * In clear text, with the default for the requests of all connections.
     *
     * @param maxMessageBytes of one request and of one answer
     */
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
                maxMessageBytes,
                defaultInboundBytes(),
                STREAM_UNSENT_BYTES,
                UNSENT_BYTES,
                idleTimeout,
                firstBytesTimeout,
                null,
                false);
    }

    /** 256 MiB, but no more than a quarter of what heap and direct memory may grow to (docs/limits.md). */
    public static long defaultInboundBytes() {
        long memory = Runtime.getRuntime().maxMemory() + PlatformDependent.maxDirectMemory();
        return Math.min(MAX_INBOUND_BYTES, memory / 4);
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

    /** @param replaced host name or IP address to bind, IPv6 without brackets; null for all addresses */
    public ServerTransportSettings withAddress(@Nullable String replaced) {
        return with(draft -> draft.address = replaced);
    }

    /** @param replaced 0 for a free one */
    public ServerTransportSettings withPort(int replaced) {
        return with(draft -> draft.port = replaced);
    }

    /**
     * @param all connections; more are closed at once
     * @param ofHost connections from one remote address
     */
    public ServerTransportSettings withMaxConnections(int all, int ofHost) {
        return with(draft -> {
            draft.maxConnections = all;
            draft.maxConnectionsPerHost = ofHost;
        });
    }

    /** @param replaced calls of one connection that are not answered yet */
    public ServerTransportSettings withMaxInFlight(int replaced) {
        return with(draft -> draft.maxInFlight = replaced);
    }

    /** @param replaced bytes of one request and of one answer */
    public ServerTransportSettings withMaxMessageBytes(int replaced) {
        return withMaxMessageBytes(replaced, replaced);
    }

    /**
     * @param request bytes of one request that is read
     * @param response bytes of one answer that is written
     */
    public ServerTransportSettings withMaxMessageBytes(int request, int response) {
        return with(draft -> {
            draft.maxRequestBytes = request;
            draft.maxResponseBytes = response;
        });
    }

    /** @param replaced at least the size of one request */
    public ServerTransportSettings withMaxInboundBytes(long replaced) {
        return with(draft -> draft.maxInboundBytes = replaced);
    }

    /**
     * @param ofStream bytes of answers that one stream keeps
     * @param all the same of all streams
     */
    public ServerTransportSettings withMaxUnsentBytes(int ofStream, long all) {
        return with(draft -> {
            draft.maxStreamUnsentBytes = ofStream;
            draft.maxUnsentBytes = all;
        });
    }

    /** @param replaced after which a connection without traffic is closed */
    public ServerTransportSettings withIdleTimeout(Duration replaced) {
        return with(draft -> draft.idleTimeout = replaced);
    }

    /** @param replaced within which a connection must show its protocol, from the first byte on */
    public ServerTransportSettings withFirstBytesTimeout(Duration replaced) {
        return with(draft -> draft.firstBytesTimeout = replaced);
    }

    /**
     * @param replaced keys and trust, looked at for every new connection; null for clear text
     * @param alsoClearText whether clients without TLS are served as well, for the time in which they are moved
     */
    public ServerTransportSettings withTls(@Nullable Supplier<Tls> replaced, boolean alsoClearText) {
        return with(draft -> {
            draft.tls = replaced;
            draft.clearTextToo = alsoClearText;
        });
    }

    private ServerTransportSettings with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return draft.build();
    }

    /** A copy that may be changed before it is built. */
    private static final class Draft {
        private @Nullable String address;
        private int port;
        private int maxConnections;
        private int maxConnectionsPerHost;
        private int maxInFlight;
        private int maxRequestBytes;
        private int maxResponseBytes;
        private long maxInboundBytes;
        private int maxStreamUnsentBytes;
        private long maxUnsentBytes;
        private Duration idleTimeout;
        private Duration firstBytesTimeout;
        private @Nullable Supplier<Tls> tls;
        private boolean clearTextToo;

        Draft(ServerTransportSettings from) {
            address = from.address;
            port = from.port;
            maxConnections = from.maxConnections;
            maxConnectionsPerHost = from.maxConnectionsPerHost;
            maxInFlight = from.maxInFlight;
            maxRequestBytes = from.maxRequestBytes;
            maxResponseBytes = from.maxResponseBytes;
            maxInboundBytes = from.maxInboundBytes;
            maxStreamUnsentBytes = from.maxStreamUnsentBytes;
            maxUnsentBytes = from.maxUnsentBytes;
            idleTimeout = from.idleTimeout;
            firstBytesTimeout = from.firstBytesTimeout;
            tls = from.tls;
            clearTextToo = from.clearTextToo;
        }

        ServerTransportSettings build() {
            return new ServerTransportSettings(
                    address,
                    port,
                    maxConnections,
                    maxConnectionsPerHost,
                    maxInFlight,
                    maxRequestBytes,
                    maxResponseBytes,
                    maxInboundBytes,
                    maxStreamUnsentBytes,
                    maxUnsentBytes,
                    idleTimeout,
                    firstBytesTimeout,
                    tls,
                    clearTextToo);
        }
    }
}
