package tern.rpc.netty;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.health.HealthService;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawSocket;

/** Tests that a server at its connection limit closes silent connections to admit new ones, over real sockets. */
class ReplacedConnectionsTest extends ConnectionLimitFixture {

    @ParameterizedTest
    @ValueSource(strings = {"", "GE", "PRI * HTTP/2.0"})
    void silentConnectionsGiveWayToANewcomer(String firstBytes) {
        int port = serve(6, 6);
        List<RawSocket> silent = new ArrayList<>();
        for (int i = 1; i <= 6; i++) {
            silent.add(connect(port, 2 + i % 2, i).send(firstBytes.getBytes(US_ASCII)));
        }
        try (RawSocket refused = RawSocket.connect(port, 9)) {
            assertThat(refused.isClosedByPeer()).as("nobody is silent yet").isTrue();
        }
        later.addAndGet(11 * SECOND);

        for (int i = 0; i < 3; i++) {
            try (RawSocket newcomer = RawSocket.connect(port, 9)) {
                assertThat(isServed(newcomer)).isTrue();
            }
        }
        assertThat(silent.get(0).isClosedByPeer()).isTrue();
    }

    @Test
    void connectionWithARunningCallStays() {
        int port = serve(2, 2);
        RawSocket busy = connect(port, 2, 1).send(request("hold"));
        Await.until("it runs", () -> holding.tryAcquire());
        RawSocket silent = connect(port, 2, 2);
        later.addAndGet(3_600 * SECOND);

        RawSocket newcomer = RawSocket.connect(port, 9);
        closing.add(newcomer);
        newcomer.send(request("hold"));
        Await.until("it runs", () -> holding.tryAcquire());

        assertThat(silent.isClosedByPeer()).isTrue();
        try (RawSocket refused = RawSocket.connect(port, 10)) {
            assertThat(refused.isClosedByPeer()).isTrue();
        }
        release.release(2);
        assertThat(new String(busy.readFully(12), US_ASCII)).isEqualTo("HTTP/1.1 200");
    }

    @Test
    void dubboClientIsAskedToStopBeforeItsConnectionCloses() {
        int port = serve(1, 1);
        RawSocket silent = connect(port, 2, 1).send(RawFrame.heartbeat(7));
        assertThat(silent.read().id()).isEqualTo(7);
        later.addAndGet(11 * SECOND);

        try (RawSocket newcomer = RawSocket.connect(port, 9)) {
            assertThat(isServed(newcomer)).isTrue();
        }

        assertThat(silent.read().flags()).isEqualTo(RawFrame.READ_ONLY);
        assertThat(silent.isClosedByPeer()).isTrue();
    }

    @Test
    void http2ClientGetsGoawayBeforeItsConnectionIsClosed() {
        int port = serve(1, 1);
        RawSocket silent = connect(port, 2, 1)
                .send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII))
                .send(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0});
        assertThat(nextHttp2Frame(silent)).as("SETTINGS").isEqualTo(4);
        later.addAndGet(11 * SECOND);

        try (RawSocket newcomer = RawSocket.connect(port, 9)) {
            assertThat(isServed(newcomer)).isTrue();
        }

        int frame = nextHttp2Frame(silent);
        while (frame != 7) {
            frame = nextHttp2Frame(silent);
        }
        assertThat(frame).as("GOAWAY").isEqualTo(7);
    }

    private static int nextHttp2Frame(RawSocket socket) {
        byte[] head = socket.readFully(9);
        socket.readFully((head[0] & 0xFF) << 16 | (head[1] & 0xFF) << 8 | (head[2] & 0xFF));
        return head[3];
    }

    /**
     * If no silent connection may be closed for an address, its new connection is refused. Tests that the next
     * connection, from another address, is accepted immediately, without the pause of 100 ms between two searches.
     */
    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void refusedAddressDelaysNoOther(int perHost) {
        int port = serve(3, perHost);
        for (int i = 1; i <= 2; i++) {
            connect(port, 2, i).send(request("hold"));
            Await.until("it runs", () -> holding.tryAcquire());
        }
        RawSocket silent = connect(port, 3, 3);
        later.addAndGet(11 * SECOND);

        try (RawSocket refused = RawSocket.connect(port, 2)) {
            assertThat(refused.isClosedByPeer()).isTrue();
        }
        try (RawSocket newcomer = RawSocket.connect(port, 9)) {
            assertThat(isServed(newcomer)).isTrue();
        }
        assertThat(silent.isClosedByPeer()).isTrue();
    }

    @Test
    void addressAtItsLimitLosesItsSilentConnection() {
        int port = serve(10, 2);
        RawSocket first = connect(port, 2, 1);
        connect(port, 2, 2);
        RawSocket other = connect(port, 3, 3);
        later.addAndGet(11 * SECOND);

        try (RawSocket newcomer = RawSocket.connect(port, 2)) {
            assertThat(isServed(newcomer)).isTrue();
        }

        assertThat(first.isClosedByPeer()).isTrue();
        assertThat(isServed(other)).isTrue();
    }

    /**
     * Sends the headers of an unfinished request, followed by a PING. The answer to the PING shows that the server has
     * read the headers.
     */
    private static RawSocket beginRequest(RawSocket socket) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII));
        bytes.writeBytes(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0});
        bytes.writeBytes(requestHeaders("/" + Work.class.getName() + "/quick"));
        bytes.writeBytes(new byte[] {0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}); // a PING frame
        socket.send(bytes.toByteArray());
        int frame = nextHttp2Frame(socket);
        while (frame != 6) {
            assertThat(frame).as("neither an answer nor RST_STREAM").isNotIn(1, 3, 7);
            frame = nextHttp2Frame(socket);
        }
        return socket;
    }

    /** Returns a HEADERS frame that begins a gRPC request on stream 1. */
    private static byte[] requestHeaders(String called) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] path = called.getBytes(US_ASCII);
        byte[] type = "application/grpc".getBytes(US_ASCII);
        int head = 2 + 2 + path.length + 3 + type.length;
        // the header of a HEADERS frame with END_HEADERS on stream 1
        bytes.writeBytes(new byte[] {0, 0, (byte) head, 1, 4, 0, 0, 0, 1});
        bytes.writeBytes(new byte[] {(byte) 0x83, (byte) 0x86}); // the fields :method POST and :scheme http
        bytes.writeBytes(new byte[] {4, (byte) path.length}); // a field with the name :path
        bytes.writeBytes(path);
        bytes.writeBytes(new byte[] {0x0F, 0x10, (byte) type.length}); // a field with the name content-type
        bytes.writeBytes(type);
        return bytes.toByteArray();
    }

    @Test
    void connectionThatOnlyWatchesTheHealthGivesWay() {
        int port = serve(1, 1);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII));
        bytes.writeBytes(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0});
        bytes.writeBytes(requestHeaders("/" + HealthService.NAME + "/Watch"));
        bytes.writeBytes(new byte[] {0, 0, 5, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0}); // a DATA frame with an empty message
        RawSocket watching = connect(port, 2, 1).send(bytes.toByteArray());
        int frame = nextHttp2Frame(watching);
        while (frame != 0) { // skips all frames until a DATA frame (type 0), which contains the health status
            frame = nextHttp2Frame(watching);
        }
        later.addAndGet(11 * SECOND);

        try (RawSocket newcomer = RawSocket.connect(port, 9)) {
            assertThat(isServed(newcomer)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 9})
    void newcomersAreRefusedWhileRequestsArriveOnAllConnections(int newcomer) {
        int port = serve(2, 2);
        beginRequest(connect(port, 2, 1));
        beginRequest(connect(port, 2, 2));
        later.addAndGet(3_600 * SECOND);

        try (RawSocket refused = RawSocket.connect(port, newcomer)) {
            assertThat(refused.isClosedByPeer()).isTrue();
        }
        assertThat(connections()).isEqualTo(2);
    }

    @Test
    void connectionThatClosesWhileItIsChosenDoesNotRaiseTheLimit() {
        int port = serve(4, 4);
        List<RawSocket> silent = new ArrayList<>();
        for (int i = 1; i <= 4; i++) {
            silent.add(connect(port, 2, i));
        }
        later.set(11 * SECOND);
        try (CapturedLog log = new CapturedLog(NettyServerTransport.class.getName(), line -> {
                    silent.forEach(RawSocket::close);
                    // the connections are closed on another event loop, so the number of open connections decreases a
                    // moment later
                    Await.until("one is gone", () -> connections() < 4);
                });
                RawSocket newcomer = RawSocket.connect(port, 9)) {
            assertThat(isServed(newcomer)).isTrue();
            assertThat(log.lines()).singleElement().asString().contains("are closed for one from");
        }
        Await.until("all are gone", () -> connections() == 0);
        later.set(0);
        for (int i = 1; i <= 4; i++) {
            connect(port, 3, i);
        }

        try (RawSocket refused = RawSocket.connect(port, 10)) {
            assertThat(refused.isClosedByPeer()).isTrue();
        }
    }
}
