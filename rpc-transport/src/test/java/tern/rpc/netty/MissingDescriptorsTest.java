package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.netty.channel.Channel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.netty.peer.RawSocket;

/** Tests that a server with few or no free file descriptors closes silent connections and refuses new connections. */
class MissingDescriptorsTest extends ConnectionLimitFixture {

    @Test
    void fewDescriptorsLowerTheLimit() {
        int port;
        List<String> lines;
        try (CapturedLog log = new CapturedLog(NettyServerTransport.class.getName(), Level.INFO, line -> {})) {
            port = serve(8_192, 1_024, 16);
            lines = log.lines();
        }
        List<RawSocket> silent = new ArrayList<>();
        for (int i = 1; i <= 11; i++) {
            silent.add(connect(port, 2, i));
        }
        try (RawSocket refused = RawSocket.connect(port, 2)) {
            assertThat(refused.isClosedByPeer()).as("nobody is silent yet").isTrue();
        }
        later.addAndGet(11 * SECOND);

        try (RawSocket newcomer = RawSocket.connect(port, 9)) {
            assertThat(isServed(newcomer)).isTrue();
        }

        assertThat(silent.get(0).isClosedByPeer()).isTrue();
        assertThat(lines)
                .singleElement()
                .asString()
                .contains("accepts at most 11 connections instead of 8192", "only 16 files");
    }

    /** Fails in the same way as the operating system when the process has no free file descriptor. */
    private void failToAccept() {
        Channel socket = Objects.requireNonNull(Objects.requireNonNull(port).socket());
        IOException failure = new IOException("accept(..) failed: Too many open files");
        // the exception is passed on the event loop, so that the server has handled it when this method returns
        socket.eventLoop()
                .submit(() -> socket.pipeline().fireExceptionCaught(failure))
                .syncUninterruptibly();
    }

    @Test
    void missingDescriptorsCloseSilentConnectionsAndAreLoggedOnce() {
        int port = serve(100, 100);
        List<RawSocket> silent = new ArrayList<>();
        for (int i = 1; i <= 20; i++) {
            silent.add(connect(port, 2, i));
        }
        later.addAndGet(11 * SECOND);

        List<String> lines;
        try (CapturedLog log = new CapturedLog(NettyServerTransport.class.getName())) {
            failToAccept();
            Await.until("they are closed", () -> connections() == 4);
            failToAccept();
            Await.until("the others are closed", () -> connections() == 0);
            lines = log.lines();
        }

        assertThat(silent).allMatch(RawSocket::isClosedByPeer);
        assertThat(lines)
                .singleElement()
                .asString()
                .contains("Too many open files", "20 of 100 connections", "rpc.limits.max-connections");
        try (RawSocket newcomer = RawSocket.connect(port, 9)) {
            assertThat(isServed(newcomer)).isTrue();
        }
    }

    @Test
    void connectionsAreRefusedForTenSecondsAfterDescriptorsWereMissing() {
        int port = serve(8, 8);
        for (int i = 1; i <= 2; i++) {
            connect(port, 2, i).send(request("hold"));
            Await.until("it runs", () -> holding.tryAcquire());
        }

        failToAccept();

        try (RawSocket refused = RawSocket.connect(port, 2)) {
            assertThat(refused.isClosedByPeer()).isTrue();
        }
        later.addAndGet(11 * SECOND);
        try (RawSocket newcomer = RawSocket.connect(port, 9)) {
            assertThat(isServed(newcomer)).isTrue();
        }
    }
}
