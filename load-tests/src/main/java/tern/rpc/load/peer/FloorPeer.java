package tern.rpc.load.peer;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The lower bound of a call's cost: Netty with one event loop per side, frames that are as large as dubbo frames but
 * have no content, and 200 worker threads on the server.
 */
final class FloorPeer implements Peer {

    private final Supplier<? extends Executor> workers;
    private final Opened opened = new Opened();

    /** @param workers creates the server's worker threads, which run until the process ends */
    FloorPeer(Supplier<? extends Executor> workers) {
        this.workers = workers;
    }

    @Override
    public void serve(int port, Services services) {
        Executor pool = workers.get();
        EventLoopGroup loop = loop("floor-server");
        Channel listening = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new FloorServer(pool, services.work()));
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), port)
                .syncUninterruptibly()
                .channel();
        opened.add(() -> listening.close().syncUninterruptibly());
    }

    @Override
    public Services connect(int port) {
        FloorClient client = new FloorClient();
        Channel connection = new Bootstrap()
                .group(loop("floor-client"))
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(client)
                .connect(InetAddress.getLoopbackAddress(), port)
                .syncUninterruptibly()
                .channel();
        opened.add(() -> connection.close().syncUninterruptibly());
        return FloorCalls.over(client);
    }

    private EventLoopGroup loop(String name) {
        EventLoopGroup loop =
                new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory(name, true), NioIoHandler.newFactory());
        opened.add(() -> loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly());
        return loop;
    }

    @Override
    public void close() {
        opened.close();
    }
}
