package tern.rpc.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import tern.rpc.endpoint.Endpoint;

/** A client's connection without a socket. The test plays the server, which need not read what the client writes. */
public final class EmbeddedConnection implements AutoCloseable {

    private final Connection connection;
    private final EmbeddedChannel channel;
    private final List<ChannelPromise> unread = new ArrayList<>();
    private boolean reads;

    public EmbeddedConnection(ClientProtocol protocol) {
        Duration hour = Duration.ofHours(1);
        ClientTransportSettings settings =
                new ClientTransportSettings("test", hour, hour, hour, hour, hour, hour, 1_024, 1 << 20, 1 << 20);
        connection = new Connection(new Endpoint("127.0.0.1", 1), settings, protocol, null, (changed, state) -> {});
        channel = new EmbeddedChannel(new ChannelInitializer<>() {
            @Override
            protected void initChannel(io.netty.channel.Channel made) {
                made.pipeline().addLast(new Socket()).addLast(connection.handlers());
            }
        });
        connection.opened(channel);
    }

    private final class Socket extends ChannelOutboundHandlerAdapter {
        @Override
        public void write(ChannelHandlerContext context, Object bytes, ChannelPromise promise) {
            ReferenceCountUtil.release(bytes);
            if (reads) {
                promise.trySuccess();
            } else {
                unread.add(promise);
            }
        }
    }

    /** Sets whether, from now on, the server reads what the client writes. */
    public void reads(boolean now) {
        reads = now;
    }

    /** Reads everything that the client has written so far. */
    public void readAll() {
        List.copyOf(unread).forEach(ChannelPromise::trySuccess);
        unread.clear();
    }

    /** Returns the number of writes that the server has not read. */
    public int unread() {
        return unread.size();
    }

    /** Delivers bytes to the client as one complete read, after which the client flushes what it has written. */
    public void send(byte[] bytes) {
        if (channel.isOpen()) {
            channel.writeInbound(Unpooled.wrappedBuffer(bytes));
        }
    }

    public boolean isOpen() {
        return channel.isOpen();
    }

    /** Returns the reason why the client has closed the connection; empty if it has not. */
    public String closeReason() {
        return connection.closeReason();
    }

    @Override
    public void close() {
        readAll();
        connection.close("the test is over");
        channel.finishAndReleaseAll();
    }
}
