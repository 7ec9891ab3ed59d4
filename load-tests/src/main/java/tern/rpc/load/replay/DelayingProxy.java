package tern.rpc.load.replay;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * A proxy in front of a store on the loopback interface. The proxy delays data in each direction, as a network would.
 */
final class DelayingProxy implements AutoCloseable {

    private final MultiThreadIoEventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final DelayLog log = new DelayLog();
    private final Channel server;

    /** @param target the port of the store */
    DelayingProxy(int target, Duration delay) {
        server = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel client) {
                        connect(client, target, delay.toNanos());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
    }

    private void connect(Channel client, int target, long delayNanos) {
        ChannelFuture connected = new Bootstrap()
                .group(client.eventLoop())
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInboundHandlerAdapter())
                .connect(InetAddress.getLoopbackAddress(), target);
        Channel store = connected.channel();
        client.pipeline().addLast(new DelayedRelay(store, delayNanos, log, System::nanoTime));
        connected.addListener(done -> {
            if (done.isSuccess()) {
                store.pipeline().addLast(new DelayedRelay(client, 0, log, System::nanoTime));
                client.config().setAutoRead(true);
            } else {
                client.close();
            }
        });
    }

    int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    String delays() {
        return log.summary();
    }

    @Override
    public void close() {
        loops.shutdownGracefully();
    }
}
