package tern.rpc.netty.dubbo;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;

/**
 * Tests bytes that a correct client never sends to a server. Before and after each case, correct requests on a second connection must
 * succeed.
 */
@Timeout(120)
class DubboBadInputTest {

    private static final byte[] GOOD = Fixtures.bytes("dubbo-probe/ok.request.bin");
    private static final RawFrame GOOD_REQUEST = RawFrame.of(GOOD);
    private static final RawFrame GOOD_ANSWER = Fixtures.frame("dubbo-probe/ok.response.bin");

    private static final int MAX_BYTES = 100_000;
    private static final int MAX_IN_FLIGHT = 4;
    private static final int MAX_PER_HOST = 8;

    private final Sides sides = new Sides();
    private final ExecutorService callers = Executors.newCachedThreadPool();
    private RpcServer server;
    private RawSocket wellBehaved;

    @BeforeEach
    void start() {
        server = sides.serve(limited(Duration.ofSeconds(60)), settings -> {});
        wellBehaved = RawSocket.connect(server.port());
        assertStillServed(wellBehaved);
    }

    @AfterEach
    void close() {
        assertStillServed(wellBehaved);
        wellBehaved.close();
        Await.until("every connection is gone", () -> server.connections() == 0);
        callers.shutdownNow();
        sides.close();
    }

    private static UnaryOperator<ServerTransportSettings> limited(Duration firstBytes) {
        return limits -> limits.withMaxConnections(100, MAX_PER_HOST)
                .withMaxInFlight(MAX_IN_FLIGHT)
                .withMaxMessageBytes(MAX_BYTES)
                .withFirstBytesTimeout(firstBytes);
    }

    private static void assertStillServed(RawSocket socket) {
        socket.send(GOOD);
        assertThat(socket.read()).isEqualTo(GOOD_ANSWER);
    }

    private RawSocket connect() {
        return RawSocket.connect(server.port());
    }

    private static byte[] concat(byte[]... parts) {
        ByteBuffer all = ByteBuffer.allocate(
                Arrays.stream(parts).mapToInt(part -> part.length).sum());
        Arrays.stream(parts).forEach(all::put);
        return all.array();
    }

    // Invalid arguments

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void nullForAPrimitiveParameterIsRefusedByItsName(int missing) {
        OutputBuffer body = new OutputBuffer();
        ObjectWriter writer = HessianSerializer.builder().build().newWriter();
        writer.start(body);
        for (String head : List.of("2.0.2", GreetService.class.getName(), "0.0.0", "add", "II")) {
            writer.writeString(head);
        }
        for (int i = 0; i < 2; i++) {
            writer.writeObject(i == missing ? null : 5);
        }
        writer.startMap();
        writer.endMap();
        writer.finish();
        byte[] bytes = body.toByteArray();
        try (RawSocket socket = connect()) {
            socket.send(concat(RawFrame.header(RawFrame.TWO_WAY, 0, 4711, bytes.length), bytes));

            RawFrame answer = socket.read();
            assertThat(answer.id()).isEqualTo(4711);
            assertThat(answer.status()).isEqualTo(DubboStatus.BAD_REQUEST);
            assertThat(answer.text())
                    .contains("GreetService/add, parameter " + (missing + 1) + " (" + (missing == 0 ? "a" : "b")
                            + ") is missing: expected int");
            assertStillServed(socket);
        }
    }

    // Invalid frames

    @Test
    void wrongMagicAtTheStartClosesTheConnection() {
        for (byte[] start :
                List.of(new byte[] {0}, new byte[] {(byte) 0xDA, 0}, "GET / HTTP/1.1\r\n".getBytes(US_ASCII))) {
            try (RawSocket socket = connect()) {
                socket.send(start);

                assertThat(socket.isClosedByPeer()).isTrue();
            }
        }
    }

    @Test
    void wrongMagicInMidStreamClosesTheConnection() {
        try (RawSocket socket = connect()) {
            assertStillServed(socket);

            socket.send(concat(new byte[] {1, 2, 3}, GOOD));

            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    private static void assertTooLarge(RawFrame answer, int length) {
        assertThat(answer.id()).isEqualTo(4711);
        assertThat(answer.flags()).isEqualTo(RawFrame.RESPONSE);
        assertThat(answer.status()).isEqualTo(DubboStatus.BAD_REQUEST);
        assertThat(answer.text())
                .contains("RESOURCE_EXHAUSTED", length + " bytes", String.valueOf(MAX_BYTES), "rpc.limits");
    }

    @ParameterizedTest
    @ValueSource(ints = {MAX_BYTES + 1, 1 << 20, 64 << 20})
    void requestThatIsTooLargeIsRefusedByItsIdBeforeItsBodyArrivesAndTheBodyIsSkipped(int length) {
        try (RawSocket socket = connect()) {
            socket.send(RawFrame.header(RawFrame.TWO_WAY, 0, 4711, length));
            assertTooLarge(socket.read(), length);

            byte[] part = new byte[Math.min(length, 1 << 20)];
            for (int left = length; left > 0; left -= part.length) {
                socket.send(Arrays.copyOf(part, Math.min(left, part.length)));
            }

            assertStillServed(socket);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {(64 << 20) + 1, Integer.MAX_VALUE})
    void requestThatIsTooLargeToBeSkippedIsRefusedAndTheConnectionClosed(int length) {
        try (RawSocket socket = connect()) {
            socket.send(RawFrame.header(RawFrame.TWO_WAY, 0, 4711, length));

            assertTooLarge(socket.read(), length);
            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void skippedBodyMayLookLikeARequestAndArriveInPieces() {
        byte[] body = Arrays.copyOf(GOOD, MAX_BYTES + 1);
        try (RawSocket socket = connect()) {
            socket.send(concat(RawFrame.header(RawFrame.TWO_WAY, 0, 4711, body.length), Arrays.copyOf(body, 100)));
            socket.send(concat(Arrays.copyOfRange(body, 100, body.length), GOOD));

            assertTooLarge(socket.read(), body.length);
            assertThat(socket.read()).isEqualTo(GOOD_ANSWER);
            assertStillServed(socket);
        }
    }

    @Test
    void connectionMayEndInTheMiddleOfASkippedBody() {
        try (RawSocket socket = connect()) {
            socket.send(concat(RawFrame.header(RawFrame.TWO_WAY, 0, 4711, 1 << 20), new byte[1_000]))
                    .endOutput();

            assertTooLarge(socket.read(), 1 << 20);
            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void oneWayRequestThatIsTooLargeIsSkippedWithoutAnAnswer() {
        try (RawSocket socket = connect()) {
            socket.send(concat(RawFrame.header(RawFrame.ONE_WAY, 0, 4711, MAX_BYTES + 1), new byte[MAX_BYTES + 1]));

            assertStillServed(socket);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE})
    void negativeLengthClosesTheConnection(int length) {
        try (RawSocket socket = connect()) {
            socket.send(RawFrame.header(RawFrame.TWO_WAY, 0, 4711, length));

            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void requestOfTheGreatestAllowedLengthIsRead() {
        try (RawSocket socket = connect()) {
            // bytes after the attachments must not change the answer, because the server does not read them
            byte[] body = Arrays.copyOf(GOOD_REQUEST.body(), MAX_BYTES);
            socket.send(new RawFrame(RawFrame.TWO_WAY, 0, 1, body));

            assertThat(socket.read()).isEqualTo(GOOD_ANSWER.withId(1));
        }
    }

    @Test
    void requestCutAtAnyByteIsForgottenWithItsConnection() {
        for (int length = 1; length < GOOD.length; length++) {
            try (RawSocket socket = connect()) {
                socket.send(Arrays.copyOf(GOOD, length)).endOutput();

                assertThat(socket.isClosedByPeer()).isTrue();
            }
        }
    }

    @Test
    void requestSentByteByByteIsAnswered() {
        try (RawSocket socket = connect()) {
            socket.sendByteByByte(GOOD).sendByteByByte(GOOD);

            assertThat(socket.read()).isEqualTo(GOOD_ANSWER);
            assertThat(socket.read()).isEqualTo(GOOD_ANSWER);
        }
    }

    /** A frame decoder that collects the decoded frames. */
    private static final class Collecting extends DubboFrameDecoder {
        private final List<RawFrame> frames = new ArrayList<>();
        private int broken;

        Collecting() {
            super(MAX_BYTES);
        }

        @Override
        void frame(int flags, int status, long id, ByteBuf body) {
            byte[] bytes = new byte[body.readableBytes()];
            body.readBytes(bytes);
            body.release();
            frames.add(new RawFrame(flags, status, id, bytes));
        }

        @Override
        boolean tooLarge(int flags, long id, int length) {
            return true;
        }

        @Override
        void broken(String how) {
            broken++;
        }
    }

    @Test
    void framesSplitAtAnyPointAreReassembled() {
        byte[] three = concat(
                GOOD,
                RawFrame.header(RawFrame.TWO_WAY, 0, 1, MAX_BYTES + 1),
                new byte[MAX_BYTES + 1],
                RawFrame.heartbeat(2).bytes());
        for (int split = 1; split < three.length; split += split < 300 || split > three.length - 50 ? 1 : 1_013) {
            Collecting collecting = new Collecting();
            EmbeddedChannel channel = new EmbeddedChannel(collecting);

            channel.writeInbound(Unpooled.copiedBuffer(three, 0, split));
            channel.writeInbound(Unpooled.copiedBuffer(three, split, three.length - split));

            assertThat(collecting.frames).containsExactly(GOOD_REQUEST, RawFrame.heartbeat(2));
            assertThat(collecting.broken).isZero();
            channel.finishAndReleaseAll();
        }
    }

    // Invalid contents

    @Test
    void serializationOfDubboIsNamedWithTheSettingToChange() {
        try (RawSocket socket = connect()) {
            socket.send(GOOD_REQUEST.withFlags(0xC0 | 23));

            assertThat(socket.read().text())
                    .contains("serialization 23 (fastjson2) is not supported; set serialization=hessian2 for the");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 6, 21, 23, 31})
    void unknownSerializationIsRefusedAndTheConnectionGoesOn(int serialization) {
        try (RawSocket socket = connect()) {
            socket.send(GOOD_REQUEST.withFlags(0xC0 | serialization));

            RawFrame answer = socket.read();
            assertThat(answer.id()).isEqualTo(GOOD_REQUEST.id());
            assertThat(answer.flags()).isEqualTo(RawFrame.RESPONSE);
            assertThat(answer.status()).isEqualTo(DubboStatus.BAD_REQUEST);
            assertThat(answer.text()).contains("serialization " + serialization);
            assertStillServed(socket);
        }
    }

    @Test
    void everyByteOfFlagsIsAnsweredOrPassedOver() {
        try (RawSocket socket = connect()) {
            for (int flags = 0; flags < 256; flags++) {
                socket.send(GOOD_REQUEST.withFlags(flags).withId(1_000 + flags));
                socket.send(RawFrame.heartbeat(flags));
                RawFrame frame = socket.read();
                while (frame.flags() != RawFrame.HEARTBEAT_ANSWER || frame.id() >= 1_000) {
                    assertThat(frame.id()).isBetween(1_000L, 1_255L);
                    frame = socket.read();
                }
            }
        }
    }

    @Test
    void eventsThatAreLongOrUnknownDoNoHarm() {
        try (RawSocket socket = connect()) {
            // events of up to 14 bytes are not rejected; this event is not a heartbeat, so the server ignores it
            socket.send(new RawFrame(RawFrame.HEARTBEAT, 0, 1, new byte[14]));
            socket.send(new RawFrame(RawFrame.HEARTBEAT, 0, 2, new byte[15]));
            RawFrame answer = socket.read();
            assertThat(answer.id()).isEqualTo(2);
            assertThat(answer.status()).isEqualTo(DubboStatus.BAD_REQUEST);

            socket.send(new RawFrame(RawFrame.HEARTBEAT, 0, 3, new byte[MAX_BYTES]));
            assertThat(socket.read().id()).isEqualTo(3);

            assertStillServed(socket);
        }
    }

    @Test
    void bodyThatDoesNotDecodeIsRefusedAndOtherCallsAreNotAffected() {
        try (RawSocket socket = connect()) {
            byte[] body = GOOD_REQUEST.body();
            for (int length = 0; length < body.length; length++) {
                socket.send(new RawFrame(RawFrame.TWO_WAY, 0, length, Arrays.copyOf(body, length)));
                socket.send(GOOD_REQUEST.withId(100_000 + length));
                Set<Long> ids = new HashSet<>();
                for (int i = 0; i < 2; i++) {
                    RawFrame answer = socket.read();
                    ids.add(answer.id());
                    if (answer.id() >= 100_000) {
                        assertThat(answer.status()).isEqualTo(DubboStatus.OK);
                    } else {
                        assertThat(answer.status())
                                .as("cut at " + length + ": " + answer)
                                .isEqualTo(DubboStatus.BAD_REQUEST);
                    }
                }
                assertThat(ids).containsExactlyInAnyOrder((long) length, 100_000L + length);
            }
        }
    }

    @Test
    void everyDamagedByteOfABodyIsAnswered() {
        try (RawSocket socket = connect()) {
            byte[] body = GOOD_REQUEST.body();
            for (int i = 0; i < body.length; i++) {
                for (int value : new int[] {0, 0x43, 0x4D, 0x51, 0x58, 0x7F, 0xFF}) {
                    byte[] damaged = body.clone();
                    damaged[i] = (byte) value;
                    socket.send(new RawFrame(RawFrame.TWO_WAY, 0, i, damaged));

                    RawFrame answer = socket.read();
                    assertThat(answer.id()).isEqualTo(i);
                    assertThat(answer.status())
                            .isIn(DubboStatus.OK, DubboStatus.BAD_REQUEST, DubboStatus.SERVICE_NOT_FOUND);
                }
            }
        }
    }

    @Test
    void clientThatSendsOnlyHeartbeatsIsDisconnected() {
        try (RawSocket socket = connect()) {
            for (int i = 0; i < FramesWithoutCall.MAX_FRAMES; i++) {
                socket.send(RawFrame.heartbeat(i));
                assertThat(socket.read()).isEqualTo(RawFrame.heartbeatAnswer(i));
            }

            socket.send(RawFrame.heartbeat(-1));

            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void clientThatSendsOnlyResponsesIsDisconnected() {
        try (RawSocket socket = connect()) {
            for (int i = 0; i < FramesWithoutCall.MAX_FRAMES; i++) {
                socket.send(new RawFrame(RawFrame.RESPONSE, DubboStatus.OK, i, new byte[] {(byte) 0x92}));
            }
            socket.send(GOOD_REQUEST);
            assertThat(socket.read().status()).isEqualTo(DubboStatus.OK);

            socket.send(new RawFrame(RawFrame.RESPONSE, DubboStatus.OK, -1, new byte[] {(byte) 0x92}));

            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    private static final int FUZZED = 10_000;

    @Test
    void randomFramesAreSurvived() {
        Random random = new Random(20_880);
        RawSocket socket = connect();
        for (int i = 0; i < FUZZED; i++) {
            try {
                socket.send(randomFrame(random, i));
                if (i % 50 == 49) {
                    socket.send(RawFrame.heartbeat(-7));
                    socket.read(id -> id == -7);
                }
                if (i % 100 == 99) {
                    // the damaged header might announce a longer body, so the server would treat the following bytes as
                    // part of that body
                    socket.send(damagedHeader(random));
                    socket.close();
                    socket = connect();
                }
            } catch (UncheckedIOException closed) {
                socket.close();
                socket = connect();
            }
        }
        socket.close();
    }

    /** Returns a valid request with some damaged bytes, or occasionally random bytes. */
    private static byte[] randomFrame(Random random, int number) {
        byte[] body = GOOD_REQUEST.body().clone();
        switch (random.nextInt(4)) {
            case 0 -> {
                body = new byte[random.nextInt(200)];
                random.nextBytes(body);
            }
            case 1 -> body = Arrays.copyOf(body, random.nextInt(body.length));
            default -> {
                for (int i = random.nextInt(5); i >= 0; i--) {
                    body[random.nextInt(body.length)] = (byte) random.nextInt();
                }
            }
        }
        int flags = random.nextInt(4) == 0 ? random.nextInt(256) : RawFrame.TWO_WAY;
        return new RawFrame(flags, random.nextInt(256), number, body).bytes();
    }

    private static byte[] damagedHeader(Random random) {
        byte[] frame = GOOD.clone();
        frame[random.nextInt(RawFrame.HEADER_BYTES)] = (byte) random.nextInt();
        return frame;
    }

    // Connection behaviour

    @Test
    void repeatedRequestIdsAreAnsweredEachTime() {
        try (RawSocket socket = connect()) {
            socket.send(concat(GOOD, GOOD, GOOD));

            for (int i = 0; i < 3; i++) {
                assertThat(socket.read()).isEqualTo(GOOD_ANSWER);
            }
        }
    }

    @Test
    void responseSentToAServerIsPassedOver() {
        try (RawSocket socket = connect()) {
            socket.send(GOOD_ANSWER).send(RawFrame.heartbeatAnswer(9));

            assertStillServed(socket);
        }
    }

    @Test
    void clientThatStopsInsideItsFirstBytesIsClosedAndASilentOneIsNot() {
        RpcServer impatient = sides.serve(limited(Duration.ofMillis(100)), settings -> {});
        try (RawSocket silent = RawSocket.connect(impatient.port());
                RawSocket slow = RawSocket.connect(impatient.port())) {
            slow.send(new byte[] {(byte) 0xDA});

            assertThat(slow.isClosedByPeer()).isTrue();
            assertStillServed(silent);
        }
    }

    @Test
    void connectionsAboveTheLimitOfOneHostAreClosed() {
        List<RawSocket> sockets = new ArrayList<>();
        for (int i = 1; i < MAX_PER_HOST; i++) {
            sockets.add(connect());
            assertStillServed(sockets.get(i - 1));
        }

        try (RawSocket oneMore = connect()) {
            assertThat(oneMore.isClosedByPeer()).isTrue();
        }

        sockets.remove(0).close();
        Await.until("one has left", () -> server.connections() == MAX_PER_HOST - 1);
        try (RawSocket instead = connect()) {
            assertStillServed(instead);
        }
        sockets.forEach(RawSocket::close);
    }

    @Test
    void callsAboveTheLimitInFlightAreRefused() {
        RawFrame slow = Fixtures.frame("dubbo/timeout.request.bin");
        try (RawSocket socket = connect()) {
            for (int i = 0; i < MAX_IN_FLIGHT; i++) {
                socket.send(slow.withId(i));
            }
            socket.send(GOOD_REQUEST.withId(4711));

            RawFrame answer = socket.read();

            assertThat(answer.id()).isEqualTo(4711);
            assertThat(answer.status()).isEqualTo(DubboStatus.THREADPOOL_EXHAUSTED);
            assertThat(answer.text()).contains("4 of 4", "rpc.limits");
            socket.send(RawFrame.heartbeat(1));
            assertThat(socket.read()).isEqualTo(RawFrame.heartbeatAnswer(1));
        }
    }

    @Test
    void tooLargeResultIsReportedAsTooLarge() {
        RpcServer narrow = sides.serve(
                limits -> limits.withMaxMessageBytes(2_000),
                settings -> settings.filter((call, next) ->
                        next.invoke(call).thenApply(response -> response.withValue("x".repeat(2_001)))));
        try (RawSocket socket = RawSocket.connect(narrow.port())) {
            socket.send(GOOD);

            RawFrame answer = socket.read();

            assertThat(answer.id()).isEqualTo(GOOD_REQUEST.id());
            assertThat(answer.status()).isEqualTo(DubboStatus.SERIALIZATION_ERROR);
            assertThat(answer.text()).contains("longer than");
        }
    }

    @Test
    void peerThatReadsNothingDoesNotKeepTheOthersWaiting() throws Exception {
        try (RawSocket deaf = connect()) {
            RawFrame large = Fixtures.frame("dubbo/bigstring.request.bin");
            Future<?> sending = callers.submit(() -> {
                try {
                    for (int i = 0; i < 100_000; i++) {
                        deaf.send(large);
                    }
                } catch (UncheckedIOException closed) {
                    return; // the test has ended and closed the connection
                }
            });
            for (int i = 0; i < 200; i++) {
                assertStillServed(wellBehaved);
            }
            deaf.close();
            sending.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void ourClientIsNotAffectedByBadInputOfOthers() {
        GreetService service = sides.refer(new Endpoint("127.0.0.1", server.port()));
        for (int i = 0; i < 20; i++) {
            try (RawSocket socket = connect()) {
                socket.send(concat(GOOD, new byte[] {9}));
                assertThat(service.echo("x" + i)).isEqualTo("x" + i);
                assertThat(socket.read()).isEqualTo(GOOD_ANSWER);
            }
        }
        sides.closeClients();
    }
}
