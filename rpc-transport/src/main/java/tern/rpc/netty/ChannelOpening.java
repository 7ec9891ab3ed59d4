package tern.rpc.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Opens the channel of a client connection with the handlers of the connection's protocol, and with TLS if required.
 * Reports the outcome to the connection. Immutable.
 */
final class ChannelOpening implements ConnectAttempt.Outcome {

    private final Connection connection;
    private final ClientProtocol protocol;
    private final @Nullable TlsContext tls;

    /** @param tls null for no TLS */
    ChannelOpening(Connection connection, ClientProtocol protocol, @Nullable TlsContext tls) {
        this.connection = connection;
        this.protocol = protocol;
        this.tls = tls;
    }

    void start(EventLoops loops, EventLoop loop) {
        new ConnectAttempt(connection.endpoint(), connection.settings(), tls, this::handlers, this).start(loops, loop);
    }

    /** Creates the handlers of the channel. */
    ChannelHandler handlers() {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel made) {
                if (tls != null) {
                    made.pipeline()
                            .addLast(tls.newHandler(made, connection.endpoint()))
                            .addLast(new TlsRefusal(connection, tls.tls()));
                }
                made.pipeline().addLast(new FirstBytes(connection, protocol));
                made.pipeline().addLast(protocol.clientHandler(connection));
            }
        };
    }

    @Override
    public void connecting(Channel made) {
        connection.connecting(made);
    }

    @Override
    public void opened(Channel opened) {
        connection.opened(opened);
    }

    @Override
    public void failed(String reason) {
        connection.close(reason);
    }

    /**
     * Starts waiting for the first bytes from the server. The connection is closed if none arrive within the connect
     * timeout. Sends a ping if a server of this protocol does not send bytes first.
     *
     * @return false if there is nothing to wait for: the protocol has no ping, and its servers do not send bytes first
     */
    boolean listenFirst(Channel opened) {
        if (!protocol.isServerFirst()) {
            WriteCommand ping = protocol.ping(connection);
            if (ping == null) {
                return false;
            }
            WriteQueue aheadOfCalls = new WriteQueue();
            aheadOfCalls.add(ping);
            aheadOfCalls.start(opened);
        }
        long patienceMillis = connection.settings().connectTimeout().toMillis();
        opened.eventLoop()
                .schedule(
                        () -> connection.closeIfConnecting(
                                "it accepted the connection, but sent nothing for " + patienceMillis + " ms"),
                        patienceMillis,
                        TimeUnit.MILLISECONDS);
        return true;
    }
}
