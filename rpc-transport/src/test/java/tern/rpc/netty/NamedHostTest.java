package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import tern.rpc.endpoint.DnsEndpoints;
import tern.rpc.netty.peer.Await;

/** Tests connections to host names with several addresses. */
@Timeout(60)
class NamedHostTest {

    private static final String HOST = "shop.example";
    private static final int TIMEOUT_MILLIS = 20_000;

    private final EventLoops loops = EventLoops.start(1);
    private final EventLoop loop = loops.group().next();
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : open) {
            one.close();
        }
        loops.close();
    }

    private static InetAddress address(int last) {
        try {
            return InetAddress.getByAddress(HOST, new byte[] {127, 0, 0, (byte) last});
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private ServerSocket listen(int last, int port) throws IOException {
        ServerSocket server = new ServerSocket(port, 1, address(last));
        open.add(server);
        return server;
    }

    private Future<Channel> connect(int port, int timeoutMillis, DnsEndpoints.Lookup lookup) {
        Bootstrap bootstrap = new Bootstrap()
                .group(loop)
                .channel(loops.socketChannel())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, TIMEOUT_MILLIS);
        return NamedHost.connect(bootstrap, loop, HOST, port, timeoutMillis, lookup, loops.lookups());
    }

    private static String peer(Future<Channel> opened) {
        Channel channel = opened.awaitUninterruptibly().getNow();
        String peer = ((InetSocketAddress) channel.remoteAddress()).getAddress().getHostAddress();
        channel.close().awaitUninterruptibly();
        return peer;
    }

    /** Opens connections that the server does not accept, until the operating system ignores new attempts. */
    private void fill(ServerSocket server) throws IOException {
        while (true) {
            SocketChannel made = SocketChannel.open();
            open.add(made);
            made.setOption(StandardSocketOptions.TCP_NODELAY, true);
            made.configureBlocking(false);
            if (!made.connect(server.getLocalSocketAddress()) && open.size() > 4) {
                return;
            }
        }
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "others have one loopback address")
    void addressThatRefusesIsFollowedByTheNext() throws IOException {
        int port = listen(2, 0).getLocalPort();

        Future<Channel> opened =
                connect(port, TIMEOUT_MILLIS, host -> new InetAddress[] {address(3), address(4), address(2)});

        assertThat(peer(opened)).isEqualTo("127.0.0.2");
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "others have one loopback address")
    void addressThatDoesNotAnswerDoesNotDelayTheNextUntilTheTimeout() throws IOException {
        ServerSocket good = listen(2, 0);
        fill(listen(3, good.getLocalPort()));

        Future<Channel> opened =
                connect(good.getLocalPort(), TIMEOUT_MILLIS, host -> new InetAddress[] {address(3), address(2)});

        assertThat(peer(opened)).isEqualTo("127.0.0.2");
    }

    @Test
    void lookupDoesNotBlockTheEventLoop() throws Exception {
        int port = listen(1, 0).getLocalPort();
        CountDownLatch looking = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        Future<Channel> opened = connect(port, TIMEOUT_MILLIS, host -> {
            looking.countDown();
            Await.until("the resolver answers", () -> answer.getCount() == 0);
            return new InetAddress[] {address(1)};
        });
        looking.await();

        assertThat(loop.submit(() -> "free").get()).isEqualTo("free");

        answer.countDown();
        assertThat(peer(opened)).isEqualTo("127.0.0.1");
    }

    @Test
    void lookupThatTakesTooLongIsNamed() {
        CountDownLatch answer = new CountDownLatch(1);
        open.add(answer::countDown);

        Future<Channel> opened = connect(1, 1, host -> {
            Await.until("the test ends", () -> answer.getCount() == 0);
            return new InetAddress[] {address(1)};
        });

        assertThat(opened.awaitUninterruptibly().cause())
                .hasMessage("the lookup of host shop.example took longer than 1 ms");
    }

    @Test
    void unknownHostIsNamed() {
        Future<Channel> opened = connect(1, TIMEOUT_MILLIS, host -> {
            throw new UnknownHostException(host);
        });

        assertThat(opened.awaitUninterruptibly().cause()).hasMessage("host shop.example cannot be resolved");
    }

    @Test
    void addressFamiliesAlternate() throws UnknownHostException {
        InetAddress six = InetAddress.getByName("2001:db8::1");
        InetAddress otherSix = InetAddress.getByName("2001:db8::2");

        assertThat(NamedHost.alternating(six, otherSix, address(1), address(2), address(3)))
                .containsExactly(six, address(1), otherSix, address(2), address(3));
    }

    @Test
    void callerBeginsWithTheAddressThatItLastReached() throws UnknownHostException {
        InetAddress six = InetAddress.getByName("2001:db8::1");
        List<InetAddress> all = List.of(six, address(1), address(2));

        assertThat(NamedHost.startingWith(address(1), all)).containsExactly(address(1), six, address(2));
        assertThat(NamedHost.startingWith(address(3), all)).isEqualTo(all);
        assertThat(NamedHost.startingWith(null, all)).isEqualTo(all);
    }
}
