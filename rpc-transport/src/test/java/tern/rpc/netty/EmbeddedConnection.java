package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.PendingCall;

/** A client's connection without a socket. The test acts as the server, and can leave written bytes unread. */
public final class EmbeddedConnection implements AutoCloseable {

    private static final Duration HOUR = Duration.ofHours(1);

    private final Connection connection;
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    private final EmbeddedChannel channel;
    private final List<ChannelPromise> unread = new ArrayList<>();
    private boolean reads;

    public EmbeddedConnection(ClientProtocol protocol) {
        this(protocol, settings(HOUR, HOUR, HOUR));
    }

    public EmbeddedConnection(ClientProtocol protocol, ClientTransportSettings settings) {
        connection = new Connection(new Endpoint("127.0.0.1", 1), settings, protocol, null, (changed, state) -> {});
        channel = new EmbeddedChannel(new ChannelInitializer<>() {
            @Override
            protected void initChannel(io.netty.channel.Channel made) {
                made.pipeline()
                        .addLast(new Socket())
                        .addLast(connection.opening().handlers());
            }
        });
        channel.freezeTime();
        connection.opened(channel);
    }

    /** Returns settings without time limits, except for the given limits. */
    public static ClientTransportSettings settings(Duration heartbeat, Duration probeAfter, Duration probeTimeout) {
        return new ClientTransportSettings(
                "test", HOUR, HOUR, HOUR, heartbeat, probeAfter, probeTimeout, 1_024, 1 << 20, 1 << 20);
    }

    private final class Socket extends ChannelOutboundHandlerAdapter {
        @Override
        public void write(ChannelHandlerContext context, Object bytes, ChannelPromise promise) {
            if (bytes instanceof ByteBuf buffer) {
                written.writeBytes(ByteBufUtil.getBytes(buffer));
            }
            ReferenceCountUtil.release(bytes);
            if (reads) {
                promise.trySuccess();
            } else {
                unread.add(promise);
            }
        }
    }

    /** Sends a call. The client writes the request immediately. */
    public void call(PendingCall call) {
        connection.send(call);
        channel.runPendingTasks();
    }

    /** Sends a call. The client writes the request only after it has handled the next bytes from the server. */
    public void callAfterTheNextBytes(PendingCall call) {
        connection.send(call);
    }

    /** Advances the clock of the event loop by one second, and runs all tasks that are due. */
    public void passSecond() {
        channel.advanceTimeBy(1, TimeUnit.SECONDS);
        channel.runPendingTasks();
        channel.runPendingTasks(); // a scheduled task might have queued a write
    }

    /** Returns the time of the event loop's clock. */
    public long now() {
        return channel.eventLoop().ticker().nanoTime();
    }

    /** Returns whether the client has received bytes after the given time. */
    public boolean isHeardAfter(long nanos) {
        return connection.keepAlive().isHeardAfter(nanos);
    }

    /** Returns the bytes that the client has written since the last invocation. */
    public byte[] written() {
        byte[] bytes = written.toByteArray();
        written.reset();
        return bytes;
    }

    /** Makes the server read the bytes that the client writes from this point on. */
    public void beginReading() {
        reads = true;
    }

    /** Reads all bytes that the client has written so far. */
    public void readAll() {
        List.copyOf(unread).forEach(ChannelPromise::trySuccess);
        unread.clear();
    }

    /** Returns the number of writes that the server has not read. */
    public int unread() {
        return unread.size();
    }

    /** Delivers bytes to the client in one read. The client then flushes the bytes that it has written. */
    public void send(byte[] bytes) {
        if (channel.isOpen()) {
            channel.writeInbound(Unpooled.wrappedBuffer(bytes));
        }
    }

    public boolean isOpen() {
        return channel.isOpen();
    }

    /** Returns the reason why the client has closed the connection; empty while the connection is open. */
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
