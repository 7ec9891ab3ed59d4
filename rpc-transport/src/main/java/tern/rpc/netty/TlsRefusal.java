package tern.rpc.netty;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import javax.net.ssl.SSLHandshakeException;
import tern.rpc.transport.Tls;

/**
 * Detects that the server has refused the client's certificate. With TLS 1.3, the client receives the refusal after it
 * has completed the handshake. The server has not read any requests that the client sent in the meantime. Confined to
 * the event loop.
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
        if (!connection.opening().wasHeard() && TlsFailure.find(cause, SSLHandshakeException.class) != null) {
            connection.refused(TlsFailure.atClient(cause, connection.endpoint(), tls));
        } else {
            context.fireExceptionCaught(cause);
        }
    }
}
