package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.SslHandler;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;
import tern.rpc.netty.ServerProtocol.Match;
import tern.rpc.transport.Tls;

/**
 * Decides whether a port accepts TLS, unencrypted connections or both, and refuses all other connections. Warnings name
 * the setting to change, and are logged at a limited rate. Thread-safe.
 */
final class TlsGate implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(TlsGate.class);

    /** The minimum time between two warnings of the same kind. */
    private static final Duration PAUSE = Duration.ofMinutes(1);

    private static final byte HANDSHAKE_RECORD = 0x16;
    private static final byte MAJOR_VERSION = 3;
    private static final int MAX_MINOR_VERSION = 4;

    /**
     * The TLS record that contains the fatal alert unexpected_message (RFC 8446, section 6). Clients without TLS
     * recognize it as TLS.
     */
    private static final byte[] ALERT = {0x15, 3, 3, 0, 2, 2, 10};

    /**
     * The answer to a client that begins a handshake. The answer is not a TLS record, so every client reports that the
     * server does not use TLS. If the answer were a TLS alert, clients would report that their keys or ciphers were
     * refused.
     */
    private static final byte[] NO_TLS = "This port does not use TLS.\r\n".getBytes(StandardCharsets.US_ASCII);

    private final @Nullable TlsContext context;
    private final TlsHandshakes handshakes = new TlsHandshakes();
    private final boolean clearTextToo;
    private final SeldomWarning unexpectedTls;
    private final SeldomWarning unexpectedClearText;
    private final SeldomWarning failedHandshake;

    /**
     * @param source supplies keys and trusted certificates; null for a port without TLS
     * @param clearTextToo whether clients without TLS are accepted too
     * @throws IllegalArgumentException if clients must present a certificate although clients without TLS are accepted
     */
    TlsGate(@Nullable Supplier<Tls> source, boolean clearTextToo, NanoClock clock) {
        this.context = source == null ? null : TlsContext.ofServer(source);
        this.clearTextToo = clearTextToo;
        if (context != null && clearTextToo && needsCertificates(context)) {
            throw new IllegalArgumentException(context.tls().name()
                    + " needs certificates of clients (rpc.server.ssl.client-auth), which clear-text clients"
                    + " (rpc.server.ssl.optional) do not have; leave out one of the two");
        }
        this.unexpectedTls = new SeldomWarning(LOG, clock, PAUSE);
        this.unexpectedClearText = new SeldomWarning(LOG, clock, PAUSE);
        this.failedHandshake = new SeldomWarning(LOG, clock, PAUSE);
    }

    /** Returns whether the given bytes begin a TLS handshake. */
    static Match match(ByteBuf firstBytes) {
        int start = firstBytes.readerIndex();
        int length = firstBytes.readableBytes();
        boolean possible = (length < 1 || firstBytes.getByte(start) == HANDSHAKE_RECORD)
                && (length < 2 || firstBytes.getByte(start + 1) == MAJOR_VERSION)
                && (length < 3 || firstBytes.getUnsignedByte(start + 2) <= MAX_MINOR_VERSION);
        if (!possible) {
            return Match.NO;
        }
        return length < 3 ? Match.MAYBE : Match.YES;
    }

    /** Creates the TLS handler of an accepted connection; returns null if the port does not accept TLS. */
    @Nullable
    SslHandler newHandler(Channel channel, ServerConnection connection) {
        if (context == null) {
            return null;
        }
        SslHandler handler = context.newHandler(
                channel, handshakes.of(connection.network()), how -> connection.logClosing(how, null));
        // a handler of a TLS library other than Java's cannot count its bytes
        if (handler instanceof ServerTlsHandler counting) {
            counting.countIn(connection.newIncompleteInput(connection::violated));
        }
        return handler;
    }

    boolean takesClearText() {
        // the settings might have changed since the server started
        return context == null || (clearTextToo && !needsCertificates(context));
    }

    private static boolean needsCertificates(TlsContext current) {
        return current.tls().clientAuth() == Tls.ClientAuth.NEED;
    }

    /**
     * Answers a client that begins a TLS handshake on a port without TLS. Without the answer, the client would wait for
     * its handshake timeout.
     */
    void refuseTls(ChannelHandlerContext handler, ServerConnection connection) {
        unexpectedTls.warn("Closing a connection from " + connection.remoteAddress()
                + ": the client uses TLS, but this port does not (set rpc.server.ssl.bundle, or leave out"
                + " rpc.client.ssl.bundle at the client)");
        handler.writeAndFlush(Unpooled.wrappedBuffer(NO_TLS));
        connection.closeWhenWritten();
    }

    /**
     * Refuses a client that uses a served protocol without the required TLS. The alert tells the client that the port
     * uses TLS and that the server has not read a request.
     */
    void refuseClearText(ChannelHandlerContext handler, ServerConnection connection, ServerProtocol protocol) {
        unexpectedClearText.warn("Closing a connection from " + connection.remoteAddress() + ": the client speaks "
                + protocol.name() + " in clear text, but this port requires TLS (set rpc.client.ssl.bundle at the"
                + " client, or rpc.server.ssl.optional=true here until every client has it)");
        handler.writeAndFlush(Unpooled.wrappedBuffer(ALERT));
        connection.closeWhenWritten();
    }

    /** Called when the TLS handshake of a connection has failed. */
    void handshakeFailed(Channel channel, Throwable cause) {
        if (cause instanceof ClosedChannelException) {
            LOG.debug("{} was closed during its TLS handshake", channel, cause);
        } else {
            failedHandshake.warn(
                    "Closing a connection from " + channel.remoteAddress() + ": its TLS handshake failed with "
                            + (context == null ? "" : context.tls()) + ": " + TlsFailure.inWords(cause));
        }
    }

    /** Stops the threads that run TLS handshakes. Later handshakes fail. */
    @Override
    public void close() {
        handshakes.close();
    }
}
