package tern.rpc.netty;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import javax.net.ssl.SSLHandshakeException;
import tern.rpc.transport.Tls;

/**
 * Stands behind the TLS of a client. In TLS 1.3 a client learns that its certificate is refused after its own handshake
 * has ended; what it sent meanwhile was not read. Event loop only.
 */
final class TlsRefusal extends ChannelInboundHandlerAdapter {

    private final Connection connection;
    private final Tls tls;

    TlsRefusal(Connection connection, Tls tls) {
        this.connection = connection;
        this.tls = tls;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (!connection.wasHeard() && TlsFailure.find(cause, SSLHandshakeException.class) != null) {
            connection.refused(TlsFailure.atClient(cause, connection.endpoint(), tls));
        } else {
            context.fireExceptionCaught(cause);
        }
    }
}
