package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetServer;
import com.example.wire.GreetService;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.ServerContext;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.netty.triple.Http2Wire.Answer;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoWriter;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests how a server reacts to hostile peers, faulty peers and peers that disconnect. */
@Timeout(60)
class Http2ServerTest {

    private static final String ECHO = "/com.example.wire.GreetService/echo";
    static final byte[] HELLO = hello("hello");
    private static final long ENHANCE_YOUR_CALM = 0xB;
    private static final long FRAME_SIZE_ERROR = 0x6;

    private final TripleSides sides = new TripleSides();

    @AfterEach
    void close() throws Exception {
        sides.close();
    }

    private RpcServer serve() {
        return sides.serve(limits -> limits, settings -> {});
    }

    /** Returns Triple's wrapper message with one string argument, as in the captured calls. */
    private static byte[] hello(String text) {
        OutputBuffer out = new OutputBuffer();
        ProtoWriter.text(out, 1, "hessian4");
        byte[] ascii = text.getBytes(StandardCharsets.US_ASCII);
        byte[] value = ByteBuffer.allocate(1 + ascii.length)
                .put((byte) ascii.length)
                .put(ascii)
                .array();
        ProtoWriter.bytes(out, 2, value);
        ProtoWriter.text(out, 3, "java.lang.String");
        return out.toByteArray();
    }

    private static void call(Http2Wire wire, int stream) {
        wire.request(stream, ECHO, false);
        wire.message(stream, true, 0, HELLO);
    }

    @Test
    void manyCallsShareAConnection() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            for (int stream = 1; stream < 400; stream += 2) {
                call(wire, stream);
            }

            for (int stream = 1; stream < 400; stream += 2) {
                assertThat(wire.answer(stream).header("grpc-status")).isEqualTo("0");
            }
        }
    }

    @Test
    void rapidResetsEndTheConnection() {
        assertCutOff(
                wire -> {
                    for (int i = 0; i < 400; i++) {
                        wire.request(1 + 2 * i, ECHO, false);
                        wire.frame(Http2Wire.RST_STREAM, 0, 1 + 2 * i, (byte) 0, (byte) 0, (byte) 0, (byte) 8);
                    }
                },
                ENHANCE_YOUR_CALM);
    }

    /**
     * Tests clients that reset streams because the call has timed out. A slow server might read the request and the
     * reset together.
     */
    @Test
    void resetsOfCallsWithShortTimeLimitsDoNotEndTheConnection() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            for (int i = 0; i < 400; i++) {
                wire.request(1 + 2 * i, ECHO, false, "grpc-timeout", "50m");
                wire.frame(Http2Wire.RST_STREAM, 0, 1 + 2 * i, (byte) 0, (byte) 0, (byte) 0, (byte) 8);
            }

            call(wire, 801);

            assertThat(wire.answer(801).header("grpc-status")).isEqualTo("0");
        }
    }

    /**
     * If the client changes the size of the header table, the next header block must begin with the new size (RFC 7541,
     * 4.2).
     */
    @Test
    void answersAnnounceEachSizeOfTheHeaderTableThatTheClientSets() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            int stream = 1;
            for (int[] sizes : new int[][] {{0}, {1_024}, {4_096}, {0, 4_096}, {65_536}, {0}}) {
                for (int size : sizes) {
                    wire.headerTable(size);
                }
                for (int i = 0; i < 2; i++) {
                    call(wire, stream);
                    assertThat(wire.answer(stream).header("grpc-status")).isEqualTo("0");
                    stream += 2;
                }
            }
        }
    }

    /** A service that returns more bytes than the initial flow-control windows permit. */
    public interface Large {
        byte[] seven(String text);
    }

    @Test
    void clientThatTakesNoAnswersGetsNoMoreCallsServed() {
        AtomicInteger served = new AtomicInteger();
        Large large = text -> {
            served.incrementAndGet();
            return new byte[7 << 20];
        };
        RpcServer server =
                sides.serve(limits -> limits, settings -> settings.export(ServiceExport.of(Large.class, large)));
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            Answer last;
            int stream = -1;
            do {
                stream += 2;
                wire.request(stream, "/" + Large.class.getName() + "/seven", false);
                wire.message(stream, true, 0, HELLO);
                last = wire.begun(stream);
            } while (last.header("grpc-status").isEmpty() && stream < 100);

            assertThat(last.header("grpc-status")).isEqualTo("8");
            assertThat(last.header("grpc-message")).contains("bytes of answers on this connection have not been read");
            assertThat(last.header("tern-executed")).isEqualTo("no");
            assertThat(served.get()).isBetween(9, 12);
        }
    }

    @Test
    void smallAnswersKeepToTheWindowOfTheConnectionToo() {
        int calls = 70;
        Large kilobyte = text -> new byte[1_000];
        RpcServer server =
                sides.serve(limits -> limits, settings -> settings.export(ServiceExport.of(Large.class, kilobyte)));
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            for (int i = 0; i < calls; i++) {
                wire.request(1 + 2 * i, "/" + Large.class.getName() + "/seven", false);
                wire.message(1 + 2 * i, true, 0, HELLO);
            }
            for (int i = 0; i < calls; i++) {
                wire.begun(1 + 2 * i); // begun() waits only for the headers, which need no flow-control window
            }
            int bytes = 0;
            for (int i = 0; i < calls; i++) {
                bytes += wire.begun(1 + 2 * i).data.size();
            }

            assertThat(bytes).isLessThanOrEqualTo(65_535);
            wire.frame(Http2Script.WINDOW_UPDATE, 0, 0, (byte) 0, (byte) 1, (byte) 0, (byte) 0);
            for (int i = 0; i < calls; i++) {
                assertThat(wire.answer(1 + 2 * i).header("grpc-status")).isEqualTo("0");
            }
        }
    }

    @Test
    void floodOfSettingsEndsTheConnection() {
        assertCutOff(wire -> wire.frame(Http2Wire.SETTINGS, 0, 0), 1_100, ENHANCE_YOUR_CALM);
    }

    @Test
    void floodOfPingsEndsTheConnection() {
        assertCutOff(wire -> wire.frame(Http2Wire.PING, 0, 0, new byte[8]), 10, ENHANCE_YOUR_CALM);
    }

    @Test
    void floodOfEmptyDataEndsTheConnection() {
        assertCutOff(
                wire -> {
                    wire.request(1, ECHO, false);
                    for (int i = 0; i < 10; i++) {
                        wire.frame(Http2Wire.DATA, 0, 1);
                    }
                },
                ENHANCE_YOUR_CALM);
    }

    @Test
    void floodOfContinuationsEndsTheConnection() {
        assertCutOff(
                wire -> {
                    wire.frame(Http2Wire.HEADERS, 0, 1, Http2Wire.block(ECHO));
                    for (int i = 0; i < 40; i++) {
                        wire.frame(Http2Wire.CONTINUATION, 0, 1);
                    }
                },
                ENHANCE_YOUR_CALM);
    }

    @Test
    void frameAboveTheAnnouncedSizeEndsTheConnection() {
        assertCutOff(
                wire -> {
                    wire.request(1, ECHO, false);
                    wire.frame(Http2Wire.DATA, 0, 1, new byte[20_000]);
                },
                FRAME_SIZE_ERROR);
    }

    private void assertCutOff(Consumer<Http2Wire> frames, long code) {
        Http2Wire.assertCutOff(serve().port(), frames, code);
    }

    private interface Frame {
        void sendOn(Http2Wire wire);
    }

    private void assertCutOff(Frame frame, int times, long code) {
        assertCutOff(
                wire -> {
                    for (int i = 0; i < times; i++) {
                        frame.sendOn(wire);
                    }
                },
                code);
    }

    @Test
    void tooManyHeaderFieldsAreRefused() {
        String[] fields = new String[2 * 200];
        for (int i = 0; i < fields.length; i += 2) {
            fields[i] = "x-" + i;
            fields[i + 1] = "v";
        }
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, ECHO, false, fields);

            assertThat(wire.answer(1).head().status()).asString().isEqualTo("431");
            call(wire, 3);
            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {":method", ":scheme", ":path"})
    void requestWithoutAPseudoHeaderIsReset(String missing) {
        Http2Headers head = new DefaultHttp2Headers(false)
                .method("POST")
                .scheme("http")
                .path(ECHO)
                .set("content-type", "application/grpc");
        head.remove(missing);
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, 1, Http2Wire.block(head));

            assertThat(wire.answer(1).reset).isEqualTo(Http2Error.PROTOCOL_ERROR.code());

            call(wire, 3);
            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
        }
    }

    /** The rest of the request might be in flight when the client receives the reset for its malformed headers. */
    @Test
    void restOfARequestWithMalformedHeadersDoesNotEndTheConnection() {
        byte[] malformed = HttpFuzzTest.joined(Http2Wire.block(ECHO), Http2Script.block("X-Upper", "1"));
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, 1, malformed);
            wire.message(1, true, 0, HELLO);
            call(wire, 3);

            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
            assertThat(wire.answer(1).reset).isEqualTo(Http2Error.PROTOCOL_ERROR.code());
            assertThat(wire.resets()).isOne();
        }
    }

    @Test
    void malformedHeadersOnAnEvenStreamEndTheConnection() {
        byte[] malformed = HttpFuzzTest.joined(Http2Wire.block(ECHO), Http2Script.block("X-Upper", "1"));

        assertCutOff(
                wire -> wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, 2, malformed),
                1,
                Http2Error.PROTOCOL_ERROR.code());
    }

    /** RFC 9113, 5.1 forbids RST_STREAM on an idle stream, so the server must close the connection. */
    @Test
    void priorityOfAWrongSizeOnAnIdleStreamEndsTheConnection() {
        assertCutOff(wire -> wire.frame(Http2Model.PRIORITY, 0, 5, new byte[3]), 1, FRAME_SIZE_ERROR);
    }

    @Test
    void emptyWindowUpdateOnAnIdleStreamEndsTheConnection() {
        assertCutOff(
                wire -> wire.frame(Http2Wire.WINDOW_UPDATE, 0, 5, Http2Script.fourBytes(0)),
                1,
                Http2Error.PROTOCOL_ERROR.code());
    }

    @Test
    void resetOfAStreamThatWaitsForItsWindowIsNotAnsweredByAReset() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 0));
            call(wire, 1);
            wire.begun(1); // begun() waits only for the headers, which need no flow-control window
            wire.frame(Http2Wire.RST_STREAM, 0, 1, (byte) 0, (byte) 0, (byte) 0, (byte) 8);
            wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 65_535));
            call(wire, 3);

            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
            assertThat(wire.resets()).isZero();
        }
    }

    /**
     * The bytes of the refused streams together exceed the connection's flow-control window, so the server must return
     * them to the window.
     */
    @Test
    void streamsBeyondTheLimitAreRefusedOneByOne() {
        RpcServer server = sides.serve(
                limits -> limits.withMaxInFlight(2)
                        .withIdleTimeout(Duration.ofHours(1))
                        .withFirstBytesTimeout(Duration.ofHours(1)),
                settings -> {});
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            wire.frame(Http2Wire.SETTINGS, Http2Wire.ACK, 0);
            wire.request(1, ECHO, false);
            wire.request(3, ECHO, false);
            wire.request(5, ECHO, false);
            wire.request(7, ECHO, false);
            for (int i = 0; i < 600; i++) {
                wire.frame(Http2Wire.DATA, 0, 5, new byte[16 << 10]);
            }
            wire.frame(
                    Http2Wire.HEADERS,
                    Http2Wire.END_HEADERS | Http2Wire.END_STREAM,
                    5,
                    Http2Script.block("trailer", "x"));
            wire.message(7, true, 0, HELLO);
            wire.message(1, true, 0, HELLO);
            wire.message(3, true, 0, HELLO);

            assertThat(wire.answer(5).reset).isEqualTo(Http2Error.REFUSED_STREAM.code());
            assertThat(wire.answer(7).reset).isEqualTo(Http2Error.REFUSED_STREAM.code());
            assertThat(wire.answer(1).header("grpc-status")).isEqualTo("0");
            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
            call(wire, 9);
            assertThat(wire.answer(9).header("grpc-status")).isEqualTo("0");
        }
    }

    @Test
    void aClientMayStillEndARequestThatWasAnsweredEarly() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, "/nobody.Home/call", false);
            assertThat(wire.answer(1).header("grpc-status")).isEqualTo("12");
            wire.frame(Http2Wire.DATA, Http2Wire.END_STREAM, 1);
            call(wire, 3);

            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
            assertThat(wire.resets()).isZero();
        }
    }

    @Test
    void aRequestThatWasAnsweredEarlyAndDoesNotEndIsReset() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, "/nobody.Home/call", false);
            assertThat(wire.answer(1).header("grpc-status")).isEqualTo("12");

            wire.readUntil(() -> wire.answer(1).reset != null);

            assertThat(wire.answer(1).reset).isEqualTo(Http2Error.NO_ERROR.code());
            call(wire, 3);
            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
        }
    }

    @Test
    void mistakesAfterAnEarlyAnswerHaveTheirOwnCode() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, "/nobody.Home/call", false);
            wire.request(3, "/nobody.Home/call", false);
            assertThat(wire.answer(1).header("grpc-status")).isEqualTo("12");
            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("12");

            wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, 1, Http2Script.block("trailer", "x"));
            wire.frame(Http2Wire.WINDOW_UPDATE, 0, 3, (byte) 0x7F, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF);
            wire.readUntil(() -> wire.answer(1).reset != null);
            wire.readUntil(() -> wire.answer(3).reset != null);

            assertThat(wire.answer(1).reset).isEqualTo(Http2Error.PROTOCOL_ERROR.code());
            assertThat(wire.answer(3).reset).isEqualTo(Http2Error.FLOW_CONTROL_ERROR.code());
        }
    }

    /** The rest of the request was in flight when the server ended the stream, so the client has violated no rule. */
    @Test
    void restOfARequestThatWasAnsweredEarlyDoesNotEndTheConnection() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, ECHO, false);
            // the prefix announces a message of 2 GiB
            wire.frame(Http2Wire.DATA, 0, 1, (byte) 0, (byte) 127, (byte) 0, (byte) 0, (byte) 0);
            assertThat(wire.answer(1).header("grpc-status")).isEqualTo("8");

            for (int i = 0; i < 5_000; i++) {
                wire.message(1, false, 0, HELLO);
            }
            wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS | Http2Wire.END_STREAM, 1, Http2Wire.block(ECHO));
            call(wire, 3);

            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
            assertThat(wire.answer(1).reset).isEqualTo(Http2Error.NO_ERROR.code());
            assertThat(wire.resets()).isOne();
        }
    }

    @Test
    void framesAfterTheClientsOwnResetAreCounted() {
        assertCutOff(
                wire -> {
                    wire.request(1, ECHO, false);
                    wire.frame(Http2Wire.RST_STREAM, 0, 1, (byte) 0, (byte) 0, (byte) 0, (byte) 8);
                    for (int i = 0; i < 5_000; i++) {
                        wire.message(1, false, 0, HELLO);
                    }
                },
                ENHANCE_YOUR_CALM);
    }

    @Test
    void headersAboveTheLimitAreRefused() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, ECHO, false, "x-long", "v".repeat(8_000), "x-longer", "w".repeat(8_000));
            call(wire, 3);
            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
        }
    }

    /** Proxies that send the requests of several callers on one connection accept larger headers than Tern. */
    @ParameterizedTest
    @ValueSource(ints = {40_000, 60_000, 130_000})
    void headersAboveTheLimitEndOnlyTheirStream(int bytes) {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            byte[] block = Http2Wire.block(ECHO, "x-long", "~".repeat(bytes));
            for (int from = 0; from < block.length; from += 16_000) {
                int to = Math.min(block.length, from + 16_000);
                wire.frame(
                        from == 0 ? Http2Wire.HEADERS : Http2Wire.CONTINUATION,
                        to == block.length ? Http2Wire.END_HEADERS : 0,
                        1,
                        Arrays.copyOfRange(block, from, to));
            }

            Answer answer = wire.answer(1);
            assertThat(answer.reset != null || answer.head().status().toString().equals("431"))
                    .isTrue();
            call(wire, 3);
            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
        }
    }

    @Test
    void messageAboveTheLimitIsRefusedByItsLength() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, ECHO, false);
            wire.frame(Http2Wire.DATA, 0, 1, (byte) 0, (byte) 0x7F, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF);

            Answer answer = wire.answer(1);
            assertThat(answer.header("grpc-status")).isEqualTo("8");
            assertThat(answer.header("grpc-message")).contains("2147483647 bytes", "8388608", "rpc.limits.max-request");
            call(wire, 3);
            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
        }
    }

    @Test
    void compressedMessageThatGrowsAboveTheLimitIsRefused() {
        byte[] zeros = new byte[20 << 20];
        OutputBuffer bomb = new OutputBuffer();
        new Gzip().compress(zeros, 0, zeros.length, bomb);
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, ECHO, false, "grpc-encoding", "gzip");
            byte[] bytes = bomb.toByteArray();
            wire.frame(
                    Http2Wire.DATA,
                    0,
                    1,
                    ByteBuffer.allocate(5).put((byte) 1).putInt(bytes.length).array());
            for (int at = 0; at < bytes.length; at += 16_000) {
                int end = Math.min(bytes.length, at + 16_000);
                wire.frame(
                        Http2Wire.DATA,
                        end == bytes.length ? Http2Wire.END_STREAM : 0,
                        1,
                        Arrays.copyOfRange(bytes, at, end));
            }

            Answer answer = wire.answer(1);
            assertThat(answer.header("grpc-status")).isEqualTo("8");
            assertThat(answer.header("grpc-message")).contains("8388608");
        }
    }

    /** Starts a server that exports a method whose calls never end. */
    private int serveEndless(CountDownLatch begun, CountDownLatch cancelled) {
        return sides.serve(
                        limits -> limits,
                        server -> server.filter((call, next) -> {
                            ServerContext.current().onCancel(cancelled::countDown);
                            begun.countDown();
                            return new CompletableFuture<>();
                        }))
                .port();
    }

    @Test
    void connectionThatIsResetCancelsItsCallsAndIsNoNews() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        int port = serveEndless(begun, cancelled);
        try (CapturedLog log = new CapturedLog("io.netty.channel.DefaultChannelPipeline");
                Http2Wire wire = Http2Wire.open(port)) {
            call(wire, 1);
            begun.await();

            wire.leaveAbruptly();

            cancelled.await(); // the method is cancelled only after the reset has caused an exception
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    void disconnectOfTheCallerCancelsTheCall() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        int port = serveEndless(begun, cancelled);
        try (Http2Wire wire = Http2Wire.open(port)) {
            call(wire, 1);
            begun.await();
            wire.frame(Http2Wire.RST_STREAM, 0, 1, (byte) 0, (byte) 0, (byte) 0, (byte) 8);

            cancelled.await();
        }
    }

    @Test
    void drainIsAnnouncedTwiceAndCallsOnTheirWayAreServed() throws Exception {
        CountDownLatch drained = new CountDownLatch(1);
        RpcServer server = serve();
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            call(wire, 1);
            wire.answer(1);
            Thread drain = new Thread(() -> {
                server.drain(java.time.Duration.ofSeconds(20));
                drained.countDown();
            });
            drain.start();
            wire.readUntil(() -> !wire.pings().isEmpty());
            assertThat(wire.lastStream()).isEqualTo(Integer.MAX_VALUE);

            call(wire, 3);
            wire.frame(
                    Http2Wire.PING,
                    Http2Wire.ACK,
                    0,
                    ByteBuffer.allocate(8).putLong(wire.pings().get(0)).array());
            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
            assertThat(wire.endOfConnection()).isZero();
            assertThat(wire.lastStream()).isEqualTo(3);
        }
        drained.await();
    }

    @Test
    void methodIsNotRunForACallOfAnotherService() {
        AtomicInteger calls = new AtomicInteger();
        GreetServer counting = new GreetServer();
        int port = sides.serve(
                        limits -> limits,
                        server -> server.export(ServiceExport.of(GreetService.class, counting, "other", ""))
                                .filter((call, next) -> {
                                    calls.incrementAndGet();
                                    return next.invoke(call);
                                }))
                .port();
        try (Http2Wire wire = Http2Wire.open(port)) {
            wire.request(1, ECHO, false, "tri-service-group", "nobody");

            assertThat(wire.answer(1).header("grpc-status")).isEqualTo("12");
            assertThat(calls).hasValue(0);
        }
    }
}
