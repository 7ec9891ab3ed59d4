package tern.rpc.netty;

import io.netty.channel.Channel;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.NetUtil;
import java.util.List;
import java.util.function.Supplier;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.Tls;

/**
 * Creates the TLS handlers of one side with the current keys and trusted certificates. New connections use the
 * supplier's current settings. Unusable new settings are reported once and ignored. Thread-safe.
 */
final class TlsContext {

    private static final Logger LOG = LoggerFactory.getLogger(TlsContext.class);

    /** The protocols that a server offers by ALPN. The actual protocol is still identified by the first bytes. */
    private static final List<String> SERVED_BY_NAME = List.of("h2", "http/1.1");

    /** A context with its settings. */
    private record Built(Tls tls, SslContext context) {}

    private final Supplier<Tls> source;
    private final boolean server;
    private final List<String> applicationProtocols;
    private @Nullable Tls refused; // guarded by this
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
     * Creates the context of a server.
     *
     * @throws IllegalArgumentException if the current settings of the supplier cannot be used
     */
    static TlsContext ofServer(Supplier<Tls> source) {
        return new TlsContext(source, true, SERVED_BY_NAME);
    }

    /**
     * @param applicationProtocols offered to the server (ALPN); empty to offer none
     * @throws IllegalArgumentException if the current settings of the supplier cannot be used
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

    /** The settings of new connections. */
    Tls tls() {
        return current().tls();
    }

    /** Creates the handler of a connection that a client opened. */
    SslHandler newHandler(Channel channel) {
        Built now = current();
        return patient(now, now.context().newHandler(channel.alloc()));
    }

    /**
     * Creates the handler of a connection to a server. The server's certificate must contain the name of the endpoint.
     */
    SslHandler newHandler(Channel channel, Endpoint endpoint) {
        Built now = current();
        SslHandler handler = now.context().newHandler(channel.alloc(), endpoint.name(), endpoint.port());
        SSLParameters parameters = handler.engine().getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        SNIHostName name = sni(endpoint.name());
        if (name != null) {
            parameters.setServerNames(List.of(name));
        }
        handler.engine().setSSLParameters(parameters);
        return patient(now, handler);
    }

    /** The server name to send. Java by itself sends only names that contain a dot. */
    private static @Nullable SNIHostName sni(String host) {
        if (NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host)) {
            return null;
        }
        try {
            return new SNIHostName(host);
        } catch (IllegalArgumentException e) {
            return null; // not a valid name, for example with an underscore
        }
    }

    private static SslHandler patient(Built now, SslHandler handler) {
        handler.setHandshakeTimeoutMillis(now.tls().handshakeTimeout().toMillis());
        return handler;
    }
}
