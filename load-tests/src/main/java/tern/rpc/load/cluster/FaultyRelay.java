package tern.rpc.load.cluster;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Forwards connections to one provider, and can simulate a faulty network. A change of the mode affects both open and
 * new connections. Thread-safe.
 */
public final class FaultyRelay implements AutoCloseable {

    /** The modes in which the relay handles connections. */
    public enum Mode {
        /** Forwards all bytes. */
        PASS,
        /**
         * Accepts connections but reads no bytes, like a stopped process. The bytes are forwarded when the mode
         * changes.
         */
        FREEZE,
        /** Accepts connections but discards all bytes, like a firewall that has lost its record of the connections. */
        SWALLOW,
        /** Resets all open connections, and each new connection. */
        RESET,
        /** Delays all bytes by {@link #DELAY_MILLIS} in each direction. */
        DELAY,
        /** Closes the port and every connection. */
        CLOSED
    }

    static final int DELAY_MILLIS = 150;

    private final EventLoopGroup loops;
    private final InetAddress host;
    private final int target;
    private final int port;
    private final Set<Side> sides = ConcurrentHashMap.newKeySet();
    private volatile Mode mode = Mode.PASS;
    private @Nullable Channel listening; // guarded by this

    /**
     * Opens a port.
     *
     * @param host the address on which the relay listens
     * @param target the provider's port on the loopback interface
     */
    public FaultyRelay(EventLoopGroup loops, InetAddress host, int target) {
        this.loops = loops;
        this.host = host;
        this.target = target;
        Channel opened = listen(0);
        this.listening = opened;
        this.port = ((InetSocketAddress) opened.localAddress()).getPort();
    }

    /** Creates an event loop for relays, with one thread. */
    static EventLoopGroup loop() {
        return new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("relay", true), NioIoHandler.newFactory());
    }

    public int port() {
        return port;
    }

    private Channel listen(int wanted) {
        return new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .option(ChannelOption.SO_BACKLOG, 1_024)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel client) {
                        accepted(client);
                    }
                })
                .bind(host, wanted)
                .syncUninterruptibly()
                .channel();
    }

    private void accepted(Channel client) {
        if (mode == Mode.RESET) {
            reset(client);
            return;
        }
        Side side = new Side();
        client.pipeline().addLast(side);
        new Bootstrap()
                .group(client.eventLoop())
                .channel(NioSocketChannel.class)
                .option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new Side())
                .connect(InetAddress.getLoopbackAddress(), target)
                .addListener((ChannelFutureListener) connected -> {
                    Channel server = connected.channel();
                    if (!connected.isSuccess()) {
                        reset(client);
                        return;
                    }
                    side.join(client, server);
                    server.pipeline().get(Side.class).join(server, client);
                });
    }

    private static void reset(Channel channel) {
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
        channel.close();
    }

    /** Changes the mode. Connections that lost bytes are reset when the relay forwards bytes again. */
    public synchronized void mode(Mode changed) {
        Mode before = mode;
        mode = changed;
        Channel open = listening;
        if (changed == Mode.CLOSED && open != null) {
            open.close().syncUninterruptibly();
            listening = null;
        }
        if (changed != Mode.CLOSED && open == null) {
            listening = listen(port);
        }
        boolean cut = changed == Mode.RESET || changed == Mode.CLOSED || before == Mode.SWALLOW;
        sides.forEach(cut ? Side::cut : Side::follow);
    }

    @Override
    public synchronized void close() {
        mode(Mode.CLOSED);
    }

    /** One end of a relayed connection. Thread-safe. */
    private final class Side extends ChannelInboundHandlerAdapter {

        private volatile @Nullable Channel here;
        private volatile @Nullable Channel there;

        void join(Channel own, Channel peer) {
            here = own;
            there = peer;
            sides.add(this);
            follow();
            if (mode == Mode.RESET || mode == Mode.CLOSED) {
                cut();
            }
        }

        void follow() {
            Channel own = here;
            if (own != null) {
                own.config().setAutoRead(mode != Mode.FREEZE);
            }
        }

        void cut() {
            Channel own = here;
            if (own != null) {
                reset(own);
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object bytes) {
            Channel peer = there;
            if (mode == Mode.SWALLOW || peer == null) {
                ReferenceCountUtil.release(bytes);
            } else if (mode == Mode.DELAY) {
                context.executor().schedule(() -> peer.writeAndFlush(bytes), DELAY_MILLIS, TimeUnit.MILLISECONDS);
            } else {
                peer.writeAndFlush(bytes);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            sides.remove(this);
            Channel peer = there;
            if (peer != null) {
                peer.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
            context.close();
        }
    }
}
