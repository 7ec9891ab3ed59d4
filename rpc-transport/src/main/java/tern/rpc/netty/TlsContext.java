package tern.rpc.netty;

import io.netty.channel.Channel;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.NetUtil;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.Tls;

/**
 * Creates the TLS handlers of a client or a server with the current keys and trusted certificates. Every new connection
 * uses the supplier's current settings. If new settings are unusable, the error is logged once and new connections use
 * the previous settings. Thread-safe.
 */
final class TlsContext {

    private static final Logger LOG = LoggerFactory.getLogger(TlsContext.class);

    /**
     * The protocol names that a server offers in ALPN negotiation. The server ignores the result of the negotiation,
     * because the first decrypted bytes identify the actual protocol.
     */
    private static final List<String> SERVED_BY_NAME = List.of("h2", "http/1.1");

    /**
     * The number of further TLS 1.2 handshakes that a client accepts on a connection. Some servers request the client's
     * certificate by a second handshake.
     */
    private static final int FURTHER_HANDSHAKES_OF_SERVERS = 1;

    /** A TLS context, and the settings that it was created from. */
    private record Built(Tls tls, SslContext context) {}

    private final Supplier<Tls> source;
    private final boolean server;
    private final List<String> applicationProtocols;
    private @Nullable Tls refused; // the most recent settings that were unusable; guarded by this
    private volatile Built built;

    private TlsContext(Supplier<Tls> source, boolean server, List<String> applicationProtocols) {
        this.source = source;
        this.server = server;
        this.applicationProtocols = applicationProtocols;
        Tls first = source.get();
        try {
            this.built = build(first);
        } catch (SSLException e) {
            throw new IllegalArgumentException(first.name() + " cannot be used: " + e.getMessage(), e);
        }
    }

    /**
     * Creates the TLS context of a server.
     *
     * @throws IllegalArgumentException if the supplier's current settings cannot be used
     */
    static TlsContext ofServer(Supplier<Tls> source) {
        return new TlsContext(source, true, SERVED_BY_NAME);
    }

    /**
     * Creates the TLS context of a client.
     *
     * @param applicationProtocols the protocol names that the client offers in ALPN negotiation; empty to offer none
     * @throws IllegalArgumentException if the supplier's current settings cannot be used
     */
    static TlsContext ofClient(Supplier<Tls> source, List<String> applicationProtocols) {
        return new TlsContext(source, false, applicationProtocols);
    }

    private Built build(Tls tls) throws SSLException {
        SslContextBuilder builder;
        if (server) {
            if (tls.keys() == null || tls.certificates().isEmpty()) {
                throw new IllegalArgumentException(
                        tls.name() + " cannot be used: it has no key with a certificate, which a server needs");
            }
            builder = SslContextBuilder.forServer(tls.keys()).clientAuth(clientAuth(tls));
        } else {
            builder = SslContextBuilder.forClient().keyManager(tls.keys());
        }
        if (tls.trust() != null) {
            builder.trustManager(tls.trust());
        }
        if (!tls.ciphers().isEmpty()) {
            builder.ciphers(tls.ciphers());
        }
        if (!applicationProtocols.isEmpty()) {
            builder.applicationProtocolConfig(new ApplicationProtocolConfig(
                    Protocol.ALPN,
                    SelectorFailureBehavior.NO_ADVERTISE,
                    SelectedListenerFailureBehavior.ACCEPT,
                    applicationProtocols));
        }
        return new Built(tls, builder.protocols(tls.protocols()).build());
    }

    private static ClientAuth clientAuth(Tls tls) {
        return switch (tls.clientAuth()) {
            case NONE -> ClientAuth.NONE;
            case WANT -> ClientAuth.OPTIONAL;
            case NEED -> ClientAuth.REQUIRE;
        };
    }

    private Built current() {
        Built known = built;
        Tls tls = source.get();
        return tls.equals(known.tls()) ? known : changed(tls);
    }

    private synchronized Built changed(Tls tls) {
        if (!tls.equals(built.tls()) && !tls.equals(refused)) {
            try {
                built = build(tls);
                LOG.debug("New connections use the new version of {}", tls);
            } catch (SSLException | RuntimeException e) {
                refused = tls;
                LOG.error("{} was changed and cannot be used; new connections keep using the previous version", tls, e);
            }
        }
        return built;
    }

    /** Returns the settings for new connections. */
    Tls tls() {
        return current().tls();
    }

    /**
     * Creates the TLS handler of a connection that a server has accepted. Records without application data are limited
     * if Java's TLS is used.
     *
     * @param handshakes runs the computations of the handshake
     * @param closing called with the reason before a connection with too many such records is closed
     */
    SslHandler newHandler(Channel channel, Executor handshakes, Consumer<String> closing) {
        Built now = current();
        if (!(now.context() instanceof JdkSslContext)) { // LimitedTlsEngine can wrap only the engine of the JDK
            return limited(now, channel, now.context().newHandler(channel.alloc(), handshakes));
        }
        TlsRecordLimit limit = new TlsRecordLimit(channel, NanoClock.SYSTEM, 0, closing);
        LimitedTlsEngine engine = new LimitedTlsEngine(now.context().newEngine(channel.alloc()), limit);
        return limited(now, channel, new ServerTlsHandler(engine, handshakes));
    }

    /**
     * Creates the TLS handler of a connection that a client opens. The server's certificate must contain the endpoint's
     * host name. Records without application data are limited if Java's TLS is used.
     *
     * @param closing called with the reason before a connection with too many such records is closed
     */
    SslHandler newHandler(Channel channel, Endpoint endpoint, Consumer<String> closing) {
        Built now = current();
        SslHandler handler;
        if (now.context() instanceof JdkSslContext) {
            handler = new SslHandler(new LimitedTlsEngine(
                    now.context().newEngine(channel.alloc(), endpoint.name(), endpoint.port()),
                    new TlsRecordLimit(channel, NanoClock.SYSTEM, FURTHER_HANDSHAKES_OF_SERVERS, closing)));
        } else {
            handler = now.context().newHandler(channel.alloc(), endpoint.name(), endpoint.port());
        }
        SSLParameters parameters = handler.engine().getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        SNIHostName name = sni(endpoint.name());
        if (name != null) {
            parameters.setServerNames(List.of(name));
        }
        handler.engine().setSSLParameters(parameters);
        return limited(now, channel, handler);
    }

    /**
     * Returns the server name to send in the handshake; null if the host is an IP address or not a valid name. By
     * default, Java sends only names that contain a dot.
     */
    private static @Nullable SNIHostName sni(String host) {
        if (NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host)) {
            return null;
        }
        try {
            return new SNIHostName(host);
        } catch (IllegalArgumentException e) {
            return null; // the host is not a valid server name, for example because it contains an underscore
        }
    }

    /**
     * Limits the time of the handshake, and closes the connection when the peer ends the TLS session. A peer can end
     * the session without closing the socket, for example if a proxy keeps the socket open. Calls on such a connection
     * would wait for bytes that the peer can no longer send.
     */
    private static SslHandler limited(Built now, Channel channel, SslHandler handler) {
        handler.setHandshakeTimeoutMillis(now.tls().handshakeTimeout().toMillis());
        handler.sslCloseFuture().addListener(ended -> {
            if (ended.isSuccess()) { // a failed handshake closes the channel itself, after it has sent an alert
                channel.close();
            }
        });
        return handler;
    }
}
