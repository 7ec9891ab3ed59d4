package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.util.unit.DataSize;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.triple.Cors;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.server.RpcServer;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;
import tern.rpc.settings.RpcStartException;
import tern.rpc.transport.Tls.ClientAuth;
import tern.rpc.transport.Token;

/**
 * The validated settings of the server.
 *
 * @param limits the limits on concurrent calls
 * @param tokens the accepted tokens; empty to accept every caller
 * @param ledger whether calls record their time by phase
 * @param exceptionTexts whether callers get the message of an exception even if they do not have the exception's class
 * @param exceptionFrames the number of stack frames sent with an exception
 * @param unpackedRatio the maximum ratio of decompressed to compressed bytes in a message
 * @param shutdownTimeout the maximum duration of the drain
 */
record ServerSettings(
        ServerTransportSettings transport,
        HttpSettings http,
        int threads,
        int queueCapacity,
        Duration maxQueueWait,
        Duration maxStreamWait,
        ServerLimits limits,
        int ioThreads,
        List<Token> tokens,
        boolean genericCalls,
        boolean ledger,
        boolean exceptionTexts,
        int exceptionFrames,
        int unpackedRatio,
        Duration shutdownTimeout) {

    /** The maximum number of threads. A larger number is probably a typing error. */
    static final int MAX_THREADS = 10_000;

    static final int MAX_QUEUED = 1_000_000;
    private static final int MAX_FRAMES = 64; // the maximum number of stack frames per exception (docs/limits.md)
    private static final DataSize MIN_MESSAGE = DataSize.ofKilobytes(1);
    private static final DataSize MAX_MESSAGE = DataSize.ofMegabytes(1_024);

    static ServerSettings of(RpcServerProperties server, RpcLimitsProperties limits, TlsBundles bundles) {
        int threads = PropertyCheck.between("rpc.server.threads", server.threads(), 1, MAX_THREADS);
        return new ServerSettings(
                withTls(transport(server, limits), server.ssl(), bundles),
                http(server),
                threads,
                queueCapacity(server.queueCapacity(), threads),
                PropertyCheck.moreThanZero("rpc.server.max-queue-wait", server.maxQueueWait()),
                PropertyCheck.notNegative("rpc.limits.max-stream-wait", limits.maxStreamWait()),
                ServerLimits.of(server, threads),
                PropertyCheck.between("rpc.server.io-threads", server.ioThreads(), 0, 256),
                tokens(server.token()),
                server.genericCalls(),
                server.ledger(),
                server.exceptionTexts(),
                PropertyCheck.between("rpc.server.exception-frames", server.exceptionFrames(), 0, MAX_FRAMES),
                PropertyCheck.atLeast("rpc.limits.max-unpacked-ratio", limits.maxUnpackedRatio(), 1),
                PropertyCheck.notNegative("rpc.server.shutdown-timeout", server.shutdownTimeout()));
    }

    /**
     * Returns the accepted tokens. An empty token is rejected, because it might come from an unset variable, and the
     * server would then accept every caller.
     */
    private static List<Token> tokens(@Nullable List<Token> set) {
        if (set == null) {
            return List.of();
        }
        if (set.isEmpty()) {
            throw new InvalidPropertyException("rpc.server.token", "empty", "one token or more");
        }
        for (int i = 0; i < set.size(); i++) {
            String place = set.size() == 1 ? "" : " at entry " + (i + 1) + " of " + set.size();
            SettingCheck.usable("rpc.server.token", place, set.get(i));
        }
        return List.copyOf(set);
    }

    private static int queueCapacity(@Nullable Integer set, int threads) {
        return set == null ? 2 * threads : PropertyCheck.between("rpc.server.queue-capacity", set, 0, MAX_QUEUED);
    }

    private static ServerTransportSettings transport(RpcServerProperties server, RpcLimitsProperties limits) {
        return new ServerTransportSettings(
                address(server.address()),
                PropertyCheck.between("rpc.server.port", server.port(), 0, 65_535),
                PropertyCheck.atLeast("rpc.limits.max-connections", limits.maxConnections(), 1),
                PropertyCheck.atLeast("rpc.limits.max-connections-per-host", limits.maxConnectionsPerHost(), 1),
                PropertyCheck.between("rpc.limits.max-calls-per-connection", limits.maxCallsPerConnection(), 1, 65_536),
                maxRequestBytes(limits),
                maxResponseBytes(limits),
                maxInboundBytes(limits),
                Math.toIntExact(SettingCheck.between(
                                "rpc.limits.max-unsent-per-stream",
                                limits.maxUnsentPerStream(),
                                DataSize.ofKilobytes(64),
                                MAX_MESSAGE)
                        .toBytes()),
                SettingCheck.atLeast(
                                "rpc.limits.max-unsent-answers",
                                limits.maxUnsentAnswers(),
                                "rpc.limits.max-unsent-per-stream",
                                limits.maxUnsentPerStream())
                        .toBytes(),
                PropertyCheck.moreThanZero("rpc.server.idle-timeout", server.idleTimeout()),
                PropertyCheck.moreThanZero("rpc.limits.first-bytes-timeout", limits.firstBytesTimeout()),
                null,
                false);
    }

    /** Returns the maximum memory for requests, in bytes. The memory must be large enough for at least one request. */
    private static long maxInboundBytes(RpcLimitsProperties limits) {
        DataSize set = limits.maxInboundBytes();
        return set == null
                ? Math.max(ServerTransportSettings.defaultInboundBytes(), maxRequestBytes(limits))
                : SettingCheck.atLeast(
                                "rpc.limits.max-inbound-bytes",
                                set,
                                maxRequestProperty(limits),
                                DataSize.ofBytes(maxRequestBytes(limits)))
                        .toBytes();
    }

    private static HttpSettings http(RpcServerProperties server) {
        Cors cors = cors(server.cors());
        try {
            return new HttpSettings(
                    cors, server.http().formBodies(), server.http().textBodies(), Set.copyOf(server.allowedHosts()));
        } catch (IllegalArgumentException e) {
            throw new InvalidPropertyException(
                    "rpc.server.allowed-hosts",
                    server.allowedHosts(),
                    "names or addresses without scheme and port, such as orders.internal, *.shop.example or [::1]");
        }
    }

    /**
     * Returns whether a web page in a browser could call the server by DNS rebinding. DNS rebinding is possible if the
     * server listens on all addresses, accepts every host name, and requires no credentials.
     *
     * @param authorizers whether the server has authorizers
     */
    boolean mayPagesCall(boolean authorizers) {
        return transport.address() == null && http.allowedHosts().isEmpty() && !identifiesCallers(authorizers);
    }

    /**
     * Returns whether a caller needs a token, a certificate or an authorizer's permission.
     *
     * @param authorizers whether the server has authorizers
     */
    boolean identifiesCallers(boolean authorizers) {
        boolean certificates =
                transport.tls() != null && transport.tls().get().clientAuth() == tern.rpc.transport.Tls.ClientAuth.NEED;
        return !tokens.isEmpty() || authorizers || certificates;
    }

    private static Cors cors(RpcServerProperties.Cors cors) {
        if (cors.allowCredentials() && cors.allowedOrigins().contains("*")) {
            throw new InvalidPropertyException(
                    "rpc.server.cors.allow-credentials", true, "false where rpc.server.cors.allowed-origins is *");
        }
        try {
            return new Cors(
                    Set.copyOf(cors.allowedOrigins()),
                    Set.copyOf(cors.allowedHeaders()),
                    cors.allowCredentials(),
                    PropertyCheck.notNegative("rpc.server.cors.max-age", cors.maxAge()));
        } catch (IllegalArgumentException e) {
            throw new InvalidPropertyException(
                    "rpc.server.cors.allowed-origins",
                    cors.allowedOrigins(),
                    "sites with scheme and without path, such as https://shop.example, or *");
        }
    }

    private static ServerTransportSettings withTls(
            ServerTransportSettings transport, RpcServerProperties.Ssl ssl, TlsBundles bundles) {
        String bundle = ssl.bundle();
        if (bundle != null) {
            if (ssl.optional() && ssl.clientAuth() == ClientAuth.NEED) {
                throw new RpcStartException(
                        "rpc.server.ssl.client-auth is need, but rpc.server.ssl.optional=true serves clients in clear"
                                + " text, which have no certificate",
                        "Set rpc.server.ssl.client-auth=want for as long as clear text is served, or leave out"
                                + " rpc.server.ssl.optional.",
                        null);
            }
            return transport.withTls(
                    bundles.ofServer("rpc.server.ssl.bundle", bundle, ssl.clientAuth()), ssl.optional());
        }
        if (ssl.clientAuth() != ClientAuth.NONE) {
            throw withoutBundle(
                    "rpc.server.ssl.client-auth", ssl.clientAuth().name().toLowerCase(Locale.ROOT));
        }
        if (ssl.optional()) {
            throw withoutBundle("rpc.server.ssl.optional", "true");
        }
        return transport;
    }

    private static RpcStartException withoutBundle(String property, String value) {
        return new RpcStartException(
                property + " is " + value + ", but rpc.server.ssl.bundle is not set",
                "Set rpc.server.ssl.bundle to the name of a bundle under spring.ssl.bundle, or leave out " + property
                        + ".",
                null);
    }

    /** Returns a description of the TLS settings for the log; an empty string if the server does not use TLS. */
    String security() {
        if (transport.tls() == null) {
            return "";
        }
        String certificates = switch (transport.tls().get().clientAuth()) {
            case NONE -> "";
            case WANT -> " (client certificates wanted)";
            case NEED -> " (client certificates needed)";
        };
        return " with TLS" + certificates + (transport.clearTextToo() ? " and in clear text" : "");
    }

    static int maxRequestBytes(RpcLimitsProperties limits) {
        return messageBytes("rpc.limits.max-request", limits.maxRequest(), limits);
    }

    /** Returns the property that determines {@link #maxRequestBytes}. */
    static String maxRequestProperty(RpcLimitsProperties limits) {
        return limits.maxRequest() == null ? "rpc.limits.max-message" : "rpc.limits.max-request";
    }

    static int maxResponseBytes(RpcLimitsProperties limits) {
        return messageBytes("rpc.limits.max-response", limits.maxResponse(), limits);
    }

    private static int messageBytes(String property, @Nullable DataSize set, RpcLimitsProperties limits) {
        DataSize both = SettingCheck.between("rpc.limits.max-message", limits.maxMessage(), MIN_MESSAGE, MAX_MESSAGE);
        DataSize size = set == null ? both : SettingCheck.between(property, set, MIN_MESSAGE, MAX_MESSAGE);
        return Math.toIntExact(size.toBytes());
    }

    /** Returns the address without brackets. Users can write IPv6 addresses with or without brackets. */
    private static @Nullable String address(@Nullable String set) {
        if (set == null || set.isBlank()) {
            return null;
        }
        String address = set.trim();
        boolean hasPort = address.contains("]:") || address.matches("[^:]*:[^:]*");
        if (hasPort || address.contains("/")) {
            throw new InvalidPropertyException(
                    "rpc.server.address",
                    "'" + set + "'",
                    "a host name or IP address of this machine without scheme and port; rpc.server.port is the port");
        }
        return address.startsWith("[") && address.endsWith("]") ? address.substring(1, address.length() - 1) : address;
    }

    void applyTo(RpcServer.Builder server) {
        server.workers(threads, queueCapacity)
                .maxQueueWait(maxQueueWait)
                .maxStreamWait(maxStreamWait)
                .genericCalls(genericCalls)
                .exceptionTexts(exceptionTexts)
                .ledger(ledger);
        tokens.forEach(server::token);
    }
}
