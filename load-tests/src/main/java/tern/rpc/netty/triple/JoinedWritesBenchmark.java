package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Writes sixteen HTTP/2 responses to a local socket. Each response consists of five small buffers. The buffers are
 * either copied into one buffer or passed to one vectored write.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class JoinedWritesBenchmark {

    private static final int ANSWERS = 16;
    private static final int[] BUFFERS = {9, 12, 9, 40, 30};

    @Param({"true", "false"})
    private boolean joined;

    private EmbeddedChannel channel = new EmbeddedChannel();
    private @Nullable Loopback loopback;

    @Setup(Level.Trial)
    public void start() throws IOException {
        Loopback opened = new Loopback();
        Sink sink = new Sink(opened.socket);
        channel = joined ? new EmbeddedChannel(sink, new JoinedWrites()) : new EmbeddedChannel(sink);
        loopback = opened;
    }

    @TearDown
    public void stop() throws IOException {
        channel.finishAndReleaseAll();
        if (loopback != null) {
            loopback.close();
        }
    }

    /** A connection whose peer reads and discards all data. */
    private static final class Loopback implements AutoCloseable {

        private final ServerSocketChannel listening;
        private final SocketChannel socket;

        Loopback() throws IOException {
            listening = ServerSocketChannel.open();
            listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            socket = SocketChannel.open(listening.getLocalAddress());
            Thread reader = new Thread(this::readAll, "reader");
            reader.setDaemon(true);
            reader.start();
        }

        private void readAll() {
            try (SocketChannel accepted = listening.accept()) {
                ByteBuffer read = ByteBuffer.allocateDirect(64 << 10);
                while (accepted.read(read) >= 0) {
                    read.clear();
                }
            } catch (IOException e) {
                // The benchmark has closed the socket, so the peer stops reading.
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
            listening.close();
        }
    }

    @Benchmark
    public void answers() {
        for (int answer = 0; answer < ANSWERS; answer++) {
            for (int bytes : BUFFERS) {
                channel.write(channel.alloc().directBuffer(bytes).writeZero(bytes));
            }
        }
        channel.flush();
    }

    /** Writes all buffers of a flush to the socket in one gathering write, as Netty's channel does. */
    private static final class Sink extends ChannelOutboundHandlerAdapter {

        private final SocketChannel socket;
        private final List<ByteBuf> written = new ArrayList<>();

        Sink(SocketChannel socket) {
            this.socket = socket;
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            written.add((ByteBuf) message);
            promise.setSuccess();
        }

        @Override
        public void flush(ChannelHandlerContext context) throws IOException {
            ByteBuffer[] buffers = new ByteBuffer[written.size()];
            long left = 0;
            for (int i = 0; i < buffers.length; i++) {
                buffers[i] = written.get(i).nioBuffer();
                left += buffers[i].remaining();
            }
            while (left > 0) {
                left -= socket.write(buffers);
            }
            written.forEach(ByteBuf::release);
            written.clear();
        }
    }
}
