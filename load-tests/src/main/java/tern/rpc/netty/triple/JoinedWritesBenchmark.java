package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
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
 * Sixteen answers over HTTP/2 on their way to the socket, five small buffers each, joined or not. The channel has no socket:
 * what a vectored write of eighty buffers costs more than one of one buffer comes on top.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class JoinedWritesBenchmark {

    private static final int ANSWERS = 16;
    private static final int[] BUFFERS = {9, 12, 9, 40, 30};

    @Param({"true", "false"})
    private boolean joined;

    private final Sink sink = new Sink();
    private EmbeddedChannel channel = new EmbeddedChannel();

    @Setup(Level.Trial)
    public void start() {
        ChannelHandler[] handlers =
                joined ? new ChannelHandler[] {sink, new JoinedWrites()} : new ChannelHandler[] {sink};
        channel = new EmbeddedChannel(handlers);
    }

    @TearDown
    public void stop() {
        channel.finishAndReleaseAll();
    }

    @Benchmark
    public int answers() {
        sink.buffers = 0;
        for (int answer = 0; answer < ANSWERS; answer++) {
            for (int bytes : BUFFERS) {
                channel.write(channel.alloc().directBuffer(bytes).writeZero(bytes));
            }
        }
        channel.flush();
        return sink.buffers;
    }

    /** Counts what would be handed to the socket. */
    private static final class Sink extends ChannelOutboundHandlerAdapter {

        private int buffers;

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            buffers++;
            ((ByteBuf) message).release();
            promise.setSuccess();
        }
    }
}
