package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Measures the cost of writing frames of 177 bytes to a channel. Compares writing several frames at a time with writing
 * and flushing each frame separately. The channel has no socket, so the result does not include the cost of the system
 * call.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WriteQueueBenchmark {

    private static final int BYTES = 177;

    @Param({"1", "32"})
    private int frames;

    private final byte[] frame = new byte[BYTES];
    private final Sink sink = new Sink();
    private final EmbeddedChannel channel = new EmbeddedChannel(sink);
    private final WriteQueue queue = new WriteQueue();

    public WriteQueueBenchmark() {
        queue.start(channel);
    }

    @TearDown
    public void stop() {
        channel.finishAndReleaseAll();
    }

    @Benchmark
    public void queued() {
        for (int i = 0; i < frames; i++) {
            queue.add(new Frame(frame));
        }
        channel.runPendingTasks();
    }

    @Benchmark
    public void writtenAndFlushedEach() {
        for (int i = 0; i < frames; i++) {
            channel.eventLoop()
                    .execute(() -> channel.writeAndFlush(
                            channel.alloc().directBuffer(BYTES).writeBytes(frame), channel.voidPromise()));
        }
        channel.runPendingTasks();
    }

    private static final class Frame extends WriteCommand {

        private final byte[] bytes;

        Frame(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        public int bytes() {
            return bytes.length;
        }

        @Override
        protected void write(WriteBatch batch) {
            batch.append(bytes, bytes.length);
        }
    }

    /** A handler that accepts and releases all written data. */
    private static final class Sink extends ChannelOutboundHandlerAdapter {

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            ((ByteBuf) message).release();
            context.write(Unpooled.EMPTY_BUFFER, promise);
        }
    }
}
