package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.concurrent.Future;
import java.security.Principal;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.netty.ServerProtocol.Match;

/**
 * Identifies the protocol of a connection by its first bytes (docs/wire-protocol.md 1.15) and replaces itself with the
 * protocol's handlers. If the bytes begin a TLS handshake, another detector checks the first decrypted bytes.
 */
final class ProtocolDetector extends ByteToMessageDecoder {

    private static final Logger LOG = LoggerFactory.getLogger(ProtocolDetector.class);

    private final List<? extends ServerProtocol> protocols;
    private final ServerConnection connection;
    private final TlsGate gate;
    private final boolean insideTls;
    private boolean refused;
    private @Nullable Future<?> timeout;

    ProtocolDetector(List<? extends ServerProtocol> protocols, ServerConnection connection, TlsGate gate) {
        this(protocols, connection, gate, false);
    }

    private ProtocolDetector(
            List<? extends ServerProtocol> protocols, ServerConnection connection, TlsGate gate, boolean insideTls) {
        this.protocols = protocols;
        this.connection = connection;
        this.gate = gate;
        this.insideTls = insideTls;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        connection.opened();
    }

    /**
     * Starts the timeout when the first bytes arrive. Before its first byte, a client may stay silent, as idle Dubbo
     * clients do. After its first byte, it must continue its message.
     */
    private void startTimeout(ChannelHandlerContext context) {
        timeout = context.executor()
                .schedule(
                        () -> refuse(context, "the client did not send enough bytes in time to identify its protocol"),
                        connection.settings().firstBytesTimeout().toNanos(),
                        TimeUnit.NANOSECONDS);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (refused) {
            in.skipBytes(in.readableBytes());
            return;
        }
        Match tls = insideTls ? Match.NO : TlsGate.match(in);
        if (tls == Match.YES) {
            takeTls(context, in);
            return;
        }
        boolean undecided = tls == Match.MAYBE;
        for (ServerProtocol protocol : protocols) {
            Match match = protocol.match(in);
            if (match == Match.YES) {
                take(protocol, context, in);
                return;
            }
            undecided |= match == Match.MAYBE;
        }
        if (undecided) {
            if (timeout == null) {
                startTimeout(context);
            }
        } else {
            in.skipBytes(in.readableBytes());
            refuse(context, "its first bytes match no protocol that this server supports");
        }
    }

    private void takeTls(ChannelHandlerContext context, ByteBuf in) {
        cancelTimeout();
        SslHandler handler = gate.newHandler(context.channel(), connection);
        if (handler == null) {
            refused = true;
            in.skipBytes(in.readableBytes());
            gate.refuseTls(context, connection);
            return;
        }
        context.pipeline().addAfter(context.name(), null, new ProtocolDetector(protocols, connection, gate, true));
        context.pipeline().replace(this, "tls", handler);
    }

    private void take(ServerProtocol protocol, ChannelHandlerContext context, ByteBuf in) {
        cancelTimeout();
        if (!insideTls && !gate.takesClearText()) {
            refused = true;
            in.skipBytes(in.readableBytes());
            gate.refuseClearText(context, connection, protocol);
            return;
        }
        connection.speaks(protocol);
        context.pipeline().replace(this, protocol.name(), protocol.serverHandler(connection));
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (handshake.isSuccess()) {
                connection.secured(peer(context));
            } else {
                gate.handshakeFailed(context.channel(), handshake.cause());
            }
        }
        super.userEventTriggered(context, event);
    }

    private static @Nullable Principal peer(ChannelHandlerContext context) {
        try {
            return context.pipeline()
                    .get(SslHandler.class)
                    .engine()
                    .getSession()
                    .getPeerPrincipal();
        } catch (SSLPeerUnverifiedException e) {
            return null; // the client has not sent a certificate
        }
    }

    private static void refuse(ChannelHandlerContext context, String reason) {
        LOG.debug("Closing {}: {}", context.channel(), reason);
        context.close();
    }

    private void cancelTimeout() {
        if (timeout != null) {
            timeout.cancel(false);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
        cancelTimeout();
        super.channelInactive(context);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        LOG.debug("Closing {}", context.channel(), cause);
        context.close();
    }
}
