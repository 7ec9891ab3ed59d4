package tern.rpc.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.NetUtil;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.DnsEndpoints;
import tern.rpc.endpoint.Endpoint;

/**
 * One attempt to open a client socket, including the TLS handshake. The outcome is reported on the event loop of the
 * socket.
 */
final class ConnectAttempt {

    interface Outcome {

        /** Called when the channel exists but is not open yet. Not called for an endpoint with a host name. */
        void connecting(Channel channel);

        /** Called when the channel is open and, with TLS, the handshake is complete. */
        void opened(Channel channel);

        void failed(String reason);
    }

    private final Endpoint endpoint;
    private final ClientTransportSettings settings;
    private final @Nullable TlsContext tls;
    private final Supplier<ChannelHandler> handlers;
    private final Outcome outcome;

    /**
     * @param tls null for no TLS
     * @param handlers creates the handlers of the channel
     */
    ConnectAttempt(
            Endpoint endpoint,
            ClientTransportSettings settings,
            @Nullable TlsContext tls,
            Supplier<ChannelHandler> handlers,
            Outcome outcome) {
        this.endpoint = endpoint;
        this.settings = settings;
        this.tls = tls;
        this.handlers = handlers;
        this.outcome = outcome;
    }

    void start(EventLoops loops, EventLoop loop) {
        Bootstrap bootstrap = new Bootstrap()
                .group(loop)
                .channel(loops.socketChannel())
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.RECVBUF_ALLOCATOR, FairReads.SHARED)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int)
                        settings.connectTimeout().toMillis());
        String host = endpoint.host();
        if (NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host)) {
            toAddress(bootstrap);
        } else {
            toName(bootstrap, loops, loop);
        }
    }

    private void toAddress(Bootstrap bootstrap) {
        ChannelFuture connecting = bootstrap.handler(handlers.get()).connect(endpoint.host(), endpoint.port());
        // A failed attempt might have no channel, for example because file descriptors have run out.
        if (connecting.cause() == null) {
            outcome.connecting(connecting.channel());
        }
        connecting.addListener(done -> {
            if (done.isSuccess()) {
                connected(connecting.channel());
            } else {
                outcome.failed(CallEnds.describe(done.cause()));
            }
        });
    }

    /**
     * Connects to a host name. Several channels can try to connect. Only the first channel that connects gets the
     * handlers.
     */
    private void toName(Bootstrap bootstrap, EventLoops loops, EventLoop loop) {
        long timeoutMillis = settings.connectTimeout().toMillis();
        NamedHost.connect(
                        bootstrap,
                        loop,
                        endpoint.host(),
                        endpoint.port(),
                        timeoutMillis,
                        DnsEndpoints.Lookup.SYSTEM,
                        loops.lookups())
                .addListener(done -> {
                    if (done.isSuccess()) {
                        Channel made = (Channel) done.getNow();
                        made.pipeline().addLast(handlers.get());
                        connected(made);
                    } else {
                        outcome.failed(CallEnds.describe(done.cause()));
                    }
                });
    }

    private void connected(Channel connected) {
        if (tls == null) {
            outcome.opened(connected);
        } else {
            secure(connected, tls);
        }
    }

    private void secure(Channel connected, TlsContext context) {
        SslHandler handler = connected.pipeline().get(SslHandler.class);
        if (handler == null) {
            outcome.failed("there is no TLS for this connection; an earlier message has the reason");
            return;
        }
        handler.handshakeFuture().addListener(done -> {
            if (done.isSuccess()) {
                outcome.opened(connected);
            } else {
                outcome.failed(TlsFailure.atClient(done.cause(), endpoint, context.tls()));
            }
        });
    }
}
