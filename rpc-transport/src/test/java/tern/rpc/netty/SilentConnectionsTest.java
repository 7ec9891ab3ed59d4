package tern.rpc.netty;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.Channel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.health.HealthService;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ServerTransport;

/** Tests which silent connections the server closes to admit new connections when the connection limit is reached. */
class SilentConnectionsTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /** @param quietSeconds the time since the last answer */
    private record Known(String name, InetAddress network, boolean isInUse, boolean hasMadeCalls, long quietSeconds)
            implements SilentConnections.Open {
        @Override
        public long quietSinceNanos() {
            return -quietSeconds * SECOND;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private final List<Known> open = new ArrayList<>();

    private static InetAddress host(int host) {
        try {
            return InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) host});
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private void unused(int host, int seconds) {
        open.add(new Known("unused " + seconds, host(host), false, false, seconds));
    }

    private void used(int host, int seconds) {
        open.add(new Known("used " + seconds, host(host), false, true, seconds));
    }

    private List<String> chosen(int newcomer, boolean own, int most) {
        return SilentConnections.choose(open, host(newcomer), own, most, 0).stream()
                .map(Known::toString)
                .toList();
    }

    @Test
    void unusedGoFirstAndTheOldestOfThem() {
        used(1, 500);
        unused(1, 20);
        unused(1, 30);
        used(1, 70);

        assertThat(chosen(2, false, 4)).containsExactly("unused 30", "unused 20", "used 500", "used 70");
    }

    @Test
    void connectionsThatWereUsedAMinuteAgoOrRunACallStay() {
        used(1, 59);
        unused(1, 9);
        open.add(new Known("busy", host(1), true, true, 500));

        assertThat(chosen(2, false, 4)).isEmpty();
    }

    @Test
    void addressWithTheMostConnectionsLosesFirst() {
        unused(1, 500);
        unused(2, 20);
        unused(2, 30);
        unused(2, 40);

        assertThat(chosen(3, false, 2)).containsExactly("unused 40", "unused 30");
    }

    @Test
    void addressLosesNothingToOneThatHasMore() {
        unused(1, 500);
        for (int i = 0; i < 3; i++) {
            used(2, 5);
        }

        assertThat(chosen(2, false, 1)).isEmpty();
        assertThat(chosen(3, false, 1)).containsExactly("unused 500");
    }

    @Test
    void addressWithManyMoreConnectionsLosesUnusedOnesSooner() {
        for (int i = 0; i < 20; i++) {
            unused(1, 2);
        }

        assertThat(chosen(2, false, 1)).containsExactly("unused 2");
        assertThat(chosen(1, false, 1)).isEmpty();
    }

    @Test
    void addressWithManyMoreConnectionsLosesUsedOnesAfterTenSeconds() {
        for (int i = 0; i < 20; i++) {
            used(1, 9 + i % 2);
        }

        assertThat(chosen(2, false, 1)).containsExactly("used 10");
        assertThat(chosen(2, false, 20)).hasSize(10).containsOnly("used 10");
        assertThat(chosen(1, false, 1)).isEmpty();
    }

    @Test
    void addressAtItsLimitLosesOneOfItsConnections() {
        unused(1, 20);
        for (int i = 0; i < 5; i++) {
            unused(2, 500);
        }

        assertThat(chosen(1, true, 4)).containsExactly("unused 20");
    }

    /**
     * Connections may change while a sort compares them. A sort of the changing connections themselves could throw an
     * exception.
     */
    @Test
    void connectionsMayChangeWhileTheyAreChosen() {
        Random random = new Random(1);
        List<SilentConnections.Open> changing = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            changing.add(new SilentConnections.Open() {
                @Override
                public InetAddress network() {
                    return host(1);
                }

                @Override
                public boolean isInUse() {
                    return false;
                }

                @Override
                public boolean hasMadeCalls() {
                    return random.nextBoolean();
                }

                @Override
                public long quietSinceNanos() {
                    return -(100 + random.nextInt(100)) * SECOND;
                }
            });
        }

        assertThat(SilentConnections.choose(changing, host(2), false, 100, 0)).hasSize(100);
    }

    /** A service whose methods the tests call. */
    public interface Work {
        String hold(String name);

        String quick(String name);
    }

    private final EventLoops loops = EventLoops.start(2);
    private final AtomicLong later = new AtomicLong();
    private final Semaphore holding = new Semaphore(0);
    private final Semaphore release = new Semaphore(0);
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final List<AutoCloseable> closing = new ArrayList<>();

    private @Nullable NettyServerTransport port;

    private int serve(int connections, int perHost) {
        return serve(connections, perHost, DescriptorLimit.UNKNOWN);
    }

    private int serve(int connections, int perHost, long descriptors) {
        port = new NettyServerTransport(
                ServerTransportSettings.onPort(0)
                        .withMaxConnections(connections, perHost)
                        .withIdleTimeout(Duration.ofHours(1))
                        .withFirstBytesTimeout(Duration.ofHours(1)),
                loops,
                new AllProtocols().ofServer(),
                () -> System.nanoTime() + later.get(),
                descriptors);
        ServerTransport transport = ResourceLedger.watch(port);
        RpcServer server = RpcServer.builder(transport)
                .export(ServiceExport.of(Work.class, new Work() {
                    @Override
                    public String hold(String name) {
                        holding.release();
                        release.acquireUninterruptibly();
                        return name;
                    }

                    @Override
                    public String quick(String name) {
                        return name;
                    }
                }))
                .export(new HealthService().export())
                .meters(new RpcMeters(registry, Slo.DEFAULT))
                .build();
        closing.add(server);
        server.start();
        return server.port();
    }

    @AfterEach
    void close() throws Exception {
        release.release(1_000);
        for (int i = closing.size() - 1; i >= 0; i--) {
            closing.get(i).close();
        }
        loops.close();
    }

    private RawSocket connect(int port, int host, int count) {
        RawSocket made = RawSocket.connect(port, host);
        closing.add(made);
        Await.until("it is known", () -> connections() == count);
        return made;
    }

    private double connections() {
        return registry.get(RpcMeter.SERVER_CONNECTIONS.key()).gauge().value();
    }

    private static byte[] request(String method) {
        return ("POST /" + Work.class.getName() + "/" + method
                        + " HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n\"a\"")
                .getBytes(US_ASCII);
    }

    private static boolean isServed(RawSocket socket) {
        StringBuilder answer = new StringBuilder();
        socket.send(request("quick"));
        while (answer.indexOf("\r\n\r\n\"a\"") < 0) {
            answer.append((char) socket.readFully(1)[0]);
        }
        return answer.indexOf("HTTP/1.1 200") == 0;
    }

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

    /** Fails as the operating system does when the process has no free file descriptor. */
    private void failToAccept() {
        Channel socket = Objects.requireNonNull(Objects.requireNonNull(port).socket());
        IOException failure = new IOException("accept(..) failed: Too many open files");
        // runs on the event loop, so that the server has handled the failure when this method returns
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
     * A new connection from an address that may not replace any connection is refused. Tests that the next connection
     * from another address is still accepted immediately, without the pause of 100 ms between two searches.
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
        // The frame header: HEADERS with END_HEADERS on stream 1.
        bytes.writeBytes(new byte[] {0, 0, (byte) head, 1, 4, 0, 0, 0, 1});
        bytes.writeBytes(new byte[] {(byte) 0x83, (byte) 0x86}); // The block begins with :method POST and :scheme http.
        bytes.writeBytes(new byte[] {4, (byte) path.length}); // The next field is :path.
        bytes.writeBytes(path);
        bytes.writeBytes(new byte[] {0x0F, 0x10, (byte) type.length}); // The next field is content-type.
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
        while (frame != 0) { // DATA has the frame type 0 and contains the health status
            frame = nextHttp2Frame(watching);
        }
        later.addAndGet(11 * SECOND);

        try (RawSocket newcomer = RawSocket.connect(port, 9)) {
            assertThat(isServed(newcomer)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 9})
    void connectionsWhoseRequestIsUnderWayLetNobodyInBeyondTheLimit(int newcomer) {
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
                    // another event loop closes the connections, so the number of open connections decreases a moment
                    // later
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
