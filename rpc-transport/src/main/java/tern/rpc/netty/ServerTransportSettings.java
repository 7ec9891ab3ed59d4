package tern.rpc.netty;

import io.netty.util.internal.PlatformDependent;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.Tls;

/**
 * The address and the limits of a server (docs/limits.md).
 *
 * @param address the host name or IP address to bind, IPv6 without brackets; null for all addresses
 * @param port the port to bind; 0 for any free port
 * @param maxConnections the maximum number of connections; the server closes additional connections immediately, unless
 *     it can close silent connections to make room
 * @param maxConnectionsPerHost the maximum number of connections from one remote address
 * @param maxInFlight the maximum number of unanswered calls on one connection; the server refuses additional calls, and
 *     its answer states that they were not executed
 * @param maxRequestBytes the maximum size of a request, in bytes
 * @param maxResponseBytes the maximum size of an answer, in bytes
 * @param maxInboundBytes the memory, across all connections, for requests of at least 4 KiB that are incomplete or
 *     waiting for a worker. While it is exhausted, the server does not read from connections that occupy part of it
 * @param maxStreamUnsentBytes the maximum number of answer bytes that one stream may buffer for a slow reader, in
 *     addition to one message of any size; the server ends a stream that exceeds it
 * @param maxUnsentBytes the number of answer bytes that clients may leave unread on all connections together. Above it,
 *     the server ends streams that send more. Above twice this number, it also closes connections of clients that do
 *     not read. Above four times this number, it closes any connection
 * @param idleTimeout the time without received bytes after which the server closes a connection
 * @param firstBytesTimeout the time after the first byte within which the client must send enough bytes to identify the
 *     protocol
 * @param tls supplies keys and trusted certificates, and is called for every new connection; null for no TLS
 * @param clearTextToo whether clients without TLS are accepted on a port with TLS
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

    /** The default for {@link #maxStreamUnsentBytes}. */
    public static final int STREAM_UNSENT_BYTES = 1 << 20;

    /** The default for {@link #maxUnsentBytes}. */
    public static final long UNSENT_BYTES = 64 << 20;

    /**
     * Creates settings without TLS and with the default memory for requests.
     *
     * @param maxMessageBytes the maximum size of a request and the maximum size of an answer, in bytes
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

    /**
     * Returns the default for {@link #maxInboundBytes}: 256 MiB, but at most a quarter of the maximum heap and maximum
     * direct memory together (docs/limits.md).
     */
    public static long defaultInboundBytes() {
        long memory = Runtime.getRuntime().maxMemory() + PlatformDependent.maxDirectMemory();
        return Math.min(MAX_INBOUND_BYTES, memory / 4);
    }

    /** Creates settings with all defaults and without TLS, for the given port on all addresses. */
    public static ServerTransportSettings onPort(int port) {
        return new ServerTransportSettings(
                null, port, 8_192, 1_024, 1_024, 8 << 20, Duration.ofSeconds(180), Duration.ofSeconds(10));
    }

    /**
     * Returns the memory for the headers of open requests on all connections together, in bytes: a quarter of {@link
     * #maxInboundBytes}.
     */
    long maxHeadBytes() {
        return maxInboundBytes / 4;
    }

    /** @param address the host name or IP address to bind, IPv6 without brackets; null for all addresses */
    public ServerTransportSettings withAddress(@Nullable String address) {
        return with(draft -> draft.address = address);
    }

    /** @param port the port to bind; 0 for any free port */
    public ServerTransportSettings withPort(int port) {
        return with(draft -> draft.port = port);
    }

    /**
     * @param all the maximum number of connections
     * @param ofHost the maximum number of connections from one remote address
     */
    public ServerTransportSettings withMaxConnections(int all, int ofHost) {
        return with(draft -> {
            draft.maxConnections = all;
            draft.maxConnectionsPerHost = ofHost;
        });
    }

    /**
     * @param maxInFlight the maximum number of unanswered calls on one connection
     */
    public ServerTransportSettings withMaxInFlight(int maxInFlight) {
        return with(draft -> draft.maxInFlight = maxInFlight);
    }

    /** @param maxMessageBytes the maximum size of a request and the maximum size of an answer, in bytes */
    public ServerTransportSettings withMaxMessageBytes(int maxMessageBytes) {
        return withMaxMessageBytes(maxMessageBytes, maxMessageBytes);
    }

    /**
     * @param request the maximum size of a request, in bytes
     * @param response the maximum size of an answer, in bytes
     */
    public ServerTransportSettings withMaxMessageBytes(int request, int response) {
        return with(draft -> {
            draft.maxRequestBytes = request;
            draft.maxResponseBytes = response;
        });
    }

    /** @param maxInboundBytes the memory for requests; at least the maximum size of one request */
    public ServerTransportSettings withMaxInboundBytes(long maxInboundBytes) {
        return with(draft -> draft.maxInboundBytes = maxInboundBytes);
    }

    /**
     * @param ofStream the maximum number of answer bytes that one stream may buffer
     * @param all the maximum number of answer bytes that all streams together may buffer
     */
    public ServerTransportSettings withMaxUnsentBytes(int ofStream, long all) {
        return with(draft -> {
            draft.maxStreamUnsentBytes = ofStream;
            draft.maxUnsentBytes = all;
        });
    }

    /** @param idleTimeout the time without received bytes after which the server closes a connection */
    public ServerTransportSettings withIdleTimeout(Duration idleTimeout) {
        return with(draft -> draft.idleTimeout = idleTimeout);
    }

    /**
     * @param firstBytesTimeout the time after the first byte within which the client must send enough bytes to identify
     *     the protocol
     */
    public ServerTransportSettings withFirstBytesTimeout(Duration firstBytesTimeout) {
        return with(draft -> draft.firstBytesTimeout = firstBytesTimeout);
    }

    /**
     * @param tls supplies keys and trusted certificates, and is called for every new connection; null for no TLS
     * @param alsoClearText whether clients without TLS are accepted too, as is necessary during a migration to TLS
     */
    public ServerTransportSettings withTls(@Nullable Supplier<Tls> tls, boolean alsoClearText) {
        return with(draft -> {
            draft.tls = tls;
            draft.clearTextToo = alsoClearText;
        });
    }

    private ServerTransportSettings with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return draft.build();
    }

    /** A mutable copy of the settings. */
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
