package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests with real sockets that an address with many busy connections does not delay connections from other addresses.
 */
@Timeout(60)
class LoopSharesSocketTest {

    private static final int BUSY = 200;
    private static final int HONEST_READS = 10;
    private static final byte[] BYTES = new byte[32 << 10];

    // written by the event loop until "done" reaches 0, and then read by the test
    private final List<Integer> readsBetween = new ArrayList<>();
    private final CountDownLatch accepted = new CountDownLatch(BUSY + 1);
    private final CountDownLatch done = new CountDownLatch(HONEST_READS);
    private int reads;

    @Test
    void connectionOfAnotherAddressIsReadSoonerThanAllBusyConnections() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try (EventLoops loops = EventLoops.start(1)) {
            Channel server = listen(loops);
            int port = ((InetSocketAddress) server.localAddress()).getPort();
            for (int i = 0; i < BUSY; i++) {
                sockets.add(connect(2, port));
            }
            sockets.add(connect(3, port));
            assertThat(accepted.await(30, TimeUnit.SECONDS)).isTrue();
            CountDownLatch written = new CountDownLatch(1);
            // the event loop is blocked until all bytes have arrived
            loops.group().next().execute(() -> awaitAll(written));
            for (Socket socket : sockets) {
                socket.getOutputStream().write(BYTES);
            }
            written.countDown();

            assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
            server.close().sync();
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
        // The event loop's first pass reads from all connections, which are then paused for a few passes.
        assertThat(readsBetween.subList(2, HONEST_READS)).allMatch(number -> number < BUSY / 4);
    }

    private static void awaitAll(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Socket connect(int last, int port) throws Exception {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) last}), 0));
        socket.connect(new InetSocketAddress("127.0.0.1", port), 10_000);
        return socket;
    }

    private Channel listen(EventLoops loops) throws Exception {
        return new ServerBootstrap()
                .group(loops.group())
                .channel(loops.serverChannel())
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel child) {
                        InetAddress address = ((InetSocketAddress) child.remoteAddress()).getAddress();
                        new SocketReading(child, Duration.ofSeconds(10), LoopShares.join(child.eventLoop(), address));
                        child.pipeline().addLast(new Spinning(address.getAddress()[3] == 3));
                        accepted.countDown();
                    }
                })
                .bind(new InetSocketAddress("127.0.0.1", 0))
                .sync()
                .channel();
    }

    /** A handler that spends time on each read. */
    private final class Spinning extends ChannelInboundHandlerAdapter {

        private final boolean honest;

        Spinning(boolean honest) {
            this.honest = honest;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object bytes) {
            ((ByteBuf) bytes).release();
            if (honest) {
                // each pass of the event loop reads once from the connection
                spin(TimeUnit.NANOSECONDS.toMicros(FairReads.TURN_NANOS));
                if (done.getCount() > 0) { // when "done" has reached 0, the test's thread reads the list
                    readsBetween.add(reads);
                }
                reads = 0;
                done.countDown();
            } else {
                spin(100);
                reads++;
            }
        }
    }

    private static void spin(long micros) {
        long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(micros);
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }
}
