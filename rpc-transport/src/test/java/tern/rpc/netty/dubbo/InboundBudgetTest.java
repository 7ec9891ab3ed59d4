package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.server.RpcServer;
import tern.rpc.transport.Token;

/** Tests the memory budget for requests that are incomplete or waiting for a worker. */
class InboundBudgetTest {

    private static final int MESSAGE = 512 << 10;
    private static final int BUDGET = 1 << 20;

    /** How much a single read can exceed the budget, in bytes. */
    private static final int ONE_READ = 64 << 10;

    private static final RawFrame GOOD = Fixtures.frame("dubbo/echo.request.bin");

    private final Sides sides = new Sides();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @AfterEach
    void close() {
        sides.close();
    }

    private RpcServer serve(Duration firstBytes) {
        return sides.serve(
                limits -> limits.withMaxMessageBytes(MESSAGE)
                        .withFirstBytesTimeout(firstBytes)
                        .withMaxInboundBytes(BUDGET),
                settings -> settings.meters(new RpcMeters(registry, Slo.DEFAULT)));
    }

    private long held() {
        return (long) registry.get(RpcMeter.SERVER_INBOUND.key()).gauge().value();
    }

    /** Returns a request with an invalid body, which the server answers with an error. */
    private static byte[] request(int id) {
        return request(id, MESSAGE);
    }

    private static byte[] request(int id, int length) {
        byte[] request =
                Arrays.copyOf(RawFrame.header(RawFrame.TWO_WAY, 0, id, length), RawFrame.HEADER_BYTES + length);
        Arrays.fill(request, RawFrame.HEADER_BYTES, request.length, (byte) 'x');
        return request;
    }

    @Test
    void messagesBeyondTheBudgetAreReadInTurnAndAllAreAnswered() {
        RpcServer server = serve(Duration.ofSeconds(30));
        int peers = 16;
        List<RawSocket> sockets = new ArrayList<>();
        for (int i = 0; i < peers; i++) {
            sockets.add(RawSocket.connect(server.port()).send(Arrays.copyOf(request(i), MESSAGE - 1_000)));
        }
        Await.until("the part of the address is used up", () -> held() > BUDGET * 2 / 5);

        try (RawSocket small = RawSocket.connect(server.port())) {
            assertThat(small.send(GOOD).read().status()).isEqualTo(DubboStatus.OK);
        }
        assertThat(held()).isLessThanOrEqualTo(BUDGET + (long) peers * ONE_READ + MESSAGE);
        for (int i = 0; i < peers; i++) {
            sockets.get(i).send(Arrays.copyOfRange(request(i), MESSAGE - 1_000, MESSAGE + RawFrame.HEADER_BYTES));
        }

        for (int i = 0; i < peers; i++) {
            assertThat(sockets.get(i).read().id()).isEqualTo(i);
            sockets.get(i).close();
        }
        Await.until("all memory is released", () -> held() == 0);
    }

    @Test
    void halfMessagesOfOneAddressDoNotDelayLargeCallsOfAnother() {
        RpcServer server = serve(Duration.ofMinutes(1));
        List<RawSocket> flooding = IntStream.range(0, 40)
                .mapToObj(i -> RawSocket.connect(server.port()).send(Arrays.copyOf(request(i), 60_000)))
                .toList();
        Await.until("the part of the address is used up", () -> held() > BUDGET * 2 / 5);

        try (RawSocket other = RawSocket.connect(server.port(), 9)) {
            for (int id = 0; id < 20; id++) {
                assertThat(other.send(request(id, 5_000)).read().id()).isEqualTo(id);
            }
        }
        flooding.forEach(RawSocket::close);
        Await.until("all memory is released", () -> held() == 0);
    }

    @Test
    void peerThatDoesNotFinishItsMessageMakesWayForOthers() {
        RpcServer server = serve(Duration.ofSeconds(1));
        List<RawSocket> lazy = IntStream.range(0, 6)
                .mapToObj(i -> RawSocket.connect(server.port()).send(Arrays.copyOf(request(i), MESSAGE - 1_000)))
                .toList();
        Await.until("the part of the address is used up", () -> held() > BUDGET * 2 / 5);

        try (RawSocket diligent = RawSocket.connect(server.port())) {
            diligent.send(request(77));

            assertThat(diligent.read().id()).isEqualTo(77);
        }
        lazy.forEach(RawSocket::close);
        Await.until("all memory is released", () -> held() == 0);
    }

    @Test
    void memoryOfPeersThatDisconnectIsReleased() {
        RpcServer server = serve(Duration.ofSeconds(30));
        List<RawSocket> leaving = IntStream.range(0, 8)
                .mapToObj(i -> RawSocket.connect(server.port()).send(Arrays.copyOf(request(i), MESSAGE - 1_000)))
                .toList();
        Await.until("the part of the address is used up", () -> held() > BUDGET * 2 / 5);

        leaving.forEach(RawSocket::close);

        Await.until("all memory is released", () -> held() == 0);
        try (RawSocket next = RawSocket.connect(server.port())) {
            assertThat(next.send(request(5)).read().id()).isEqualTo(5);
        }
    }

    @Test
    void connectionWithATooSlowBodyIsClosed() {
        RpcServer server = serve(Duration.ofMillis(50));

        try (RawSocket slow = RawSocket.connect(server.port())) {
            slow.send(Arrays.copyOf(request(1), 100));

            assertThat(slow.isClosedByPeer()).isTrue();
        }
        try (RawSocket idle = RawSocket.connect(server.port())) {
            assertThat(idle.send(GOOD).read().status()).isEqualTo(DubboStatus.OK);
        }
    }

    @Test
    void connectionWithATooSlowSkippedBodyIsClosed() {
        RpcServer server = serve(Duration.ofMillis(50));

        try (RawSocket slow = RawSocket.connect(server.port())) {
            slow.send(Arrays.copyOf(RawFrame.header(RawFrame.TWO_WAY, 0, 7, 2 * MESSAGE), 100));

            assertThat(slow.read().status()).isEqualTo(DubboStatus.BAD_REQUEST);
            assertThat(slow.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void skippedBodiesUseNoneOfTheBudget() {
        RpcServer server = serve(Duration.ofSeconds(30));
        byte[] tooLarge = Arrays.copyOf(RawFrame.header(RawFrame.TWO_WAY, 0, 7, 2 * MESSAGE), 2 * MESSAGE);

        List<RawSocket> sockets = IntStream.range(0, 16)
                .mapToObj(i -> RawSocket.connect(server.port()).send(tooLarge))
                .toList();
        sockets.forEach(socket -> assertThat(socket.read().status()).isEqualTo(DubboStatus.BAD_REQUEST));

        Await.until("nothing is kept", () -> held() == 0);
        sockets.forEach(socket -> {
            socket.send(new byte[RawFrame.HEADER_BYTES]).send(GOOD);
            assertThat(socket.read().status()).isEqualTo(DubboStatus.OK);
            socket.close();
        });
    }

    @Test
    void manyLargeCallsOnOneConnectionAllSucceed() throws Exception {
        RpcServer server = serve(Duration.ofSeconds(30));
        GreetService greet = sides.refer(new Endpoint("127.0.0.1", server.port()));
        String text = "t".repeat(300 << 10);
        List<CompletableFuture<String>> calls = IntStream.range(0, 40)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> greet.echo(text), task -> new Thread(task).start()))
                .toList();

        for (CompletableFuture<String> call : calls) {
            assertThat(call.get(60, TimeUnit.SECONDS)).hasSameSizeAs(text);
        }
        Await.until("all memory is released", () -> held() == 0);
    }

    /**
     * Tests that a client with a token is served even though many clients without a token have used up their shared
     * budget.
     */
    @Test
    void strangersShareASmallPartOfTheBudget() {
        Token token = Token.of("let-me-in");
        RpcServer server = sides.serve(
                limits -> limits.withMaxMessageBytes(MESSAGE)
                        .withFirstBytesTimeout(Duration.ofSeconds(30))
                        .withMaxInboundBytes(16 * BUDGET),
                settings -> settings.token(token).meters(new RpcMeters(registry, Slo.DEFAULT)));
        GreetService known = Sides.refer(
                sides.client(limits -> limits, settings -> settings.token(token)),
                reference -> {},
                new Endpoint("127.0.0.1", server.port()));
        String large = "x".repeat(MESSAGE / 2);
        assertThat(known.echo(large)).isEqualTo(large);
        int peers = 16;

        List<RawSocket> strangers = IntStream.range(0, peers)
                .mapToObj(i -> RawSocket.connect(server.port()).send(Arrays.copyOf(request(i), MESSAGE - 1_000)))
                .toList();
        Await.until("the strangers' part of the address is used up", () -> held() > BUDGET * 2 / 5);

        for (int i = 0; i < 20; i++) {
            assertThat(known.echo(large)).isEqualTo(large);
        }
        assertThat(held()).isLessThanOrEqualTo(BUDGET + (long) peers * ONE_READ + MESSAGE);
        assertThat(Sides.refer(
                                sides.client(limits -> limits, settings -> settings.token(token)),
                                reference -> {},
                                new Endpoint("127.0.0.1", server.port()))
                        .echo("somebody new"))
                .isEqualTo("somebody new");
        strangers.forEach(RawSocket::close);
        Await.until("all memory is released", () -> held() == 0);
    }
}
