package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.peer.RawSocket;

@Timeout(60)
class WriteQueueTest {

    /** An eight-byte write command that contains the number of its producer and its own number. */
    private static final class Numbered extends WriteCommand {
        private final byte[] bytes;
        private final AtomicInteger written;

        Numbered(int producer, int number, AtomicInteger written) {
            this.bytes = ByteBuffer.allocate(8).putInt(producer).putInt(number).array();
            this.written = written;
        }

        @Override
        public int bytes() {
            return bytes.length;
        }

        @Override
        protected void write(WriteBatch batch) {
            batch.append(bytes, bytes.length);
        }

        @Override
        protected void written() {
            written.incrementAndGet();
        }
    }

    private static final class Counter extends ChannelOutboundHandlerAdapter {
        final AtomicInteger writes = new AtomicInteger();
        final AtomicInteger flushes = new AtomicInteger();

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
            writes.incrementAndGet();
            super.write(context, message, promise);
        }

        @Override
        public void flush(ChannelHandlerContext context) throws Exception {
            flushes.incrementAndGet();
            super.flush(context);
        }
    }

    private final WriteQueue queue = new WriteQueue();
    private final Counter counter = new Counter();
    private final AtomicInteger written = new AtomicInteger();

    @Test
    void commandsQueuedBeforeTheChannelOpensLeaveInOrderWithOneFlush() {
        for (int i = 0; i < 10; i++) {
            queue.add(new Numbered(0, i, written));
        }
        assertThat(queue.queuedBytes()).isEqualTo(80);
        EmbeddedChannel channel = new EmbeddedChannel(counter);

        queue.start(channel);

        ByteBuf sent = channel.readOutbound();
        for (int i = 0; i < 10; i++) {
            assertThat(sent.readInt()).isZero();
            assertThat(sent.readInt()).isEqualTo(i);
        }
        sent.release();
        assertThat(channel.<ByteBuf>readOutbound()).isNull();
        assertThat(counter.flushes).hasValue(1);
        assertThat(counter.writes).hasValue(1);
        assertThat(written).hasValue(10);
        assertThat(queue.queuedBytes()).isZero();
        channel.close();
    }

    @Test
    void commandForAClosedChannelIsDropped() {
        EmbeddedChannel channel = new EmbeddedChannel(counter);
        queue.start(channel);
        channel.close();

        queue.add(new Numbered(0, 0, written));
        channel.runPendingTasks();

        assertThat(queue.queuedBytes()).isZero();
        assertThat(counter.writes).hasValue(0);
    }

    @Test
    void commandThatWritesNothingTakesItsBytesOffTheAccount() {
        EmbeddedChannel channel = new EmbeddedChannel(counter);
        queue.add(new WriteCommand() {
            @Override
            public int bytes() {
                return 1_000;
            }

            @Override
            protected void write(WriteBatch batch) {
                // a command can write nothing, for example a request whose call has already ended
            }
        });

        queue.start(channel);

        assertThat(queue.queuedBytes()).isZero();
        channel.close();
    }

    @Test
    void commandThatCannotBeWrittenClosesTheChannel() {
        EmbeddedChannel channel = new EmbeddedChannel(counter);
        queue.add(new Numbered(0, 0, written));
        queue.add(new WriteCommand() {
            @Override
            public int bytes() {
                return 1;
            }

            @Override
            protected void write(WriteBatch batch) {
                throw new IllegalStateException("broken");
            }
        });

        queue.start(channel);

        assertThat(channel.isOpen()).isFalse();
        assertThat(queue.queuedBytes()).isZero();
        assertThatThrownBy(channel::checkException).hasMessage("broken");
    }

    @Test
    void framesLargerThanABatchLeaveInOrder() {
        EmbeddedChannel channel = new EmbeddedChannel(counter);
        for (int size : new int[] {10, 300 << 10, 20, 1 << 20, 30}) {
            queue.add(new WriteCommand() {
                @Override
                public int bytes() {
                    return size;
                }

                @Override
                protected void write(WriteBatch batch) {
                    byte[] bytes = new byte[size];
                    Arrays.fill(bytes, (byte) size);
                    batch.append(bytes, size);
                }
            });
        }

        queue.start(channel);

        ByteBuf all = Unpooled.buffer();
        ByteBuf part;
        while ((part = channel.readOutbound()) != null) {
            all.writeBytes(part);
            part.release();
        }
        assertThat(all.readableBytes()).isEqualTo(10 + (300 << 10) + 20 + (1 << 20) + 30);
        assertThat(all.getByte(9)).isEqualTo((byte) 10);
        assertThat(all.getByte(10 + (300 << 10))).isEqualTo((byte) 20);
        assertThat(all.getByte(all.writerIndex() - 1)).isEqualTo((byte) 30);
        assertThat(queue.queuedBytes()).isZero();
        assertThat(counter.flushes).hasValue(1);
        channel.close();
    }

    private static final int PRODUCERS = 8;
    private static final int EACH = 20_000;

    @Test
    void manyProducersKeepTheirOrderAndShareFlushes() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(PRODUCERS);
        try (EventLoops loops = EventLoops.start(1);
                RawServer server = RawServer.start()) {
            Channel channel = new Bootstrap()
                    .group(loops.group())
                    .channel(loops.socketChannel())
                    .handler(counter)
                    .connect(server.endpoint().host(), server.port())
                    .sync()
                    .channel();
            channel.eventLoop().submit(() -> queue.start(channel)).sync();
            RawSocket reader = server.next();
            CountDownLatch start = new CountDownLatch(1);
            List<Future<?>> producing = new ArrayList<>();
            for (int p = 0; p < PRODUCERS; p++) {
                int producer = p;
                producing.add(threads.submit(() -> {
                    start.await();
                    for (int i = 0; i < EACH; i++) {
                        queue.add(new Numbered(producer, i, written));
                    }
                    return null;
                }));
            }
            start.countDown();

            ByteBuffer all = ByteBuffer.wrap(reader.readFully(PRODUCERS * EACH * 8));

            for (Future<?> producer : producing) {
                producer.get(30, TimeUnit.SECONDS);
            }
            int[] next = new int[PRODUCERS];
            while (all.hasRemaining()) {
                int producer = all.getInt();
                assertThat(all.getInt()).isEqualTo(next[producer]++);
            }
            assertThat(counter.flushes.get()).isLessThan(PRODUCERS * EACH / 2);
            assertThat(counter.writes.get()).isLessThan(PRODUCERS * EACH / 2);
            Await.until("all bytes have left", () -> queue.queuedBytes() == 0);
            Await.until("all are told", () -> written.get() == PRODUCERS * EACH);
            channel.close().sync();
        } finally {
            threads.shutdownNow();
        }
    }
}
