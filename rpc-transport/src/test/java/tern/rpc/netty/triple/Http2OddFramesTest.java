package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Error;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.ServerContext;
import tern.rpc.netty.triple.Http2Wire.Answer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests how a server reads unusual frames, and frames with an error that concerns only one stream. */
@Timeout(60)
class Http2OddFramesTest {

    private static final String ECHO = "/com.example.wire.GreetService/echo";
    private static final byte[] HELLO = Http2ServerTest.HELLO;
    private static final int PRIORITY = 2;
    private static final int PADDED = 8;
    private static final int HAS_PRIORITY = 0x20;
    private static final int UNKNOWN = 0xFA;

    private final TripleSides sides = new TripleSides();

    @AfterEach
    void close() throws Exception {
        sides.close();
    }

    private RpcServer serve() {
        return sides.serve(limits -> limits, settings -> {});
    }

    private static void call(Http2Wire wire, int stream) {
        wire.request(stream, ECHO, false);
        wire.message(stream, true, 0, HELLO);
    }

    private static void assertServed(Http2Wire wire, int stream) {
        assertThat(wire.answer(stream).header("grpc-status")).isEqualTo("0");
    }

    private static byte[] message() {
        return ByteBuffer.allocate(5 + HELLO.length)
                .put((byte) 0)
                .putInt(HELLO.length)
                .put(HELLO)
                .array();
    }

    /** Adds the length of the padding before the bytes, and the padding after the bytes. */
    private static byte[] padded(int padding, byte... bytes) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(padding);
        out.writeBytes(bytes);
        out.writeBytes(new byte[padding]);
        return out.toByteArray();
    }

    @Test
    void headersInPiecesWithPaddingAndPriorityAreRead() {
        byte[] block = Http2Wire.block(ECHO, "x-note", "a".repeat(3_000));
        ByteArrayOutputStream first = new ByteArrayOutputStream();
        first.write(200);
        first.writeBytes(new byte[] {0, 0, 0, 0, 16});
        first.write(block[0]);
        first.writeBytes(new byte[200]);
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.frame(Http2Wire.HEADERS, PADDED | HAS_PRIORITY, 1, first.toByteArray());
            wire.frame(Http2Wire.CONTINUATION, 0, 1);
            for (int i = 1; i < block.length - 1; i += 500) {
                int end = Math.min(i + 500, block.length - 1);
                wire.frame(Http2Wire.CONTINUATION, 0, 1, Arrays.copyOfRange(block, i, end));
            }
            wire.frame(Http2Wire.CONTINUATION, Http2Wire.END_HEADERS, 1, block[block.length - 1]);
            wire.message(1, true, 0, HELLO);

            assertServed(wire, 1);
        }
    }

    @Test
    void frameBetweenThePiecesOfHeadersEndsTheConnection() {
        int port = serve().port();
        byte[] block = Http2Wire.block(ECHO);
        for (int type : new int[] {UNKNOWN, PRIORITY, Http2Wire.PING, Http2Wire.WINDOW_UPDATE}) {
            Http2Wire.assertCutOff(
                    port,
                    wire -> {
                        wire.frame(Http2Wire.HEADERS, 0, 1, Arrays.copyOf(block, 5));
                        wire.frame(type, 0, type == Http2Wire.PING ? 0 : 1, new byte[] {0, 0, 0, 1, 0, 0, 0, 0});
                    },
                    Http2Error.PROTOCOL_ERROR.code());
        }
    }

    @Test
    void paddingIsSkipped() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            byte[] message = message();
            for (int stream = 1; stream < 200; stream += 2) {
                wire.request(stream, ECHO, false);
                wire.frame(Http2Wire.DATA, PADDED, stream, padded(255, Arrays.copyOf(message, 7)));
                wire.frame(
                        Http2Wire.DATA,
                        PADDED | Http2Wire.END_STREAM,
                        stream,
                        padded(255, Arrays.copyOfRange(message, 7, message.length)));
                assertServed(wire, stream);
            }
        }
    }

    @Test
    void prioritiesAndUnknownFramesAreSkipped() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.frame(PRIORITY, 0, 9, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 16);
            wire.frame(UNKNOWN, 0xFF, 0, new byte[] {1, 2, 3});
            wire.frame(UNKNOWN, 0xFF, 7, new byte[] {1, 2, 3});
            wire.request(1, ECHO, false);
            wire.frame(UNKNOWN, 0xFF, 1, new byte[16 << 10]);
            wire.frame(PRIORITY, 0, 1, (byte) 0, (byte) 0, (byte) 0, (byte) 3, (byte) 16);
            wire.frame(PRIORITY, 0, 1, (byte) 0x80, (byte) 0, (byte) 0, (byte) 5, (byte) 16);
            wire.frame(16, 0, 0, new byte[] {0, 0, 0, 1, 'u', '=', '1'}); // PRIORITY_UPDATE, RFC 9218
            wire.message(1, true, 0, HELLO);
            wire.frame(PRIORITY, 0, 1, (byte) 0, (byte) 0, (byte) 0, (byte) 3, (byte) 16);

            assertServed(wire, 1);
            call(wire, 3);
            assertServed(wire, 3);
        }
    }

    @Test
    void streamThatDependsOnItselfIsResetAlone() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, ECHO, false);
            wire.frame(PRIORITY, 0, 1, (byte) 0, (byte) 0, (byte) 0, (byte) 1, (byte) 16);
            call(wire, 3);

            assertServed(wire, 3);
        }
    }

    @Test
    void windowUpdateOfZeroResetsItsStreamAlone() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, ECHO, false);
            wire.openWindow(1, 0);

            assertThat(wire.answer(1).reset).isEqualTo(Http2Error.PROTOCOL_ERROR.code());
            call(wire, 3);
            assertServed(wire, 3);
        }
    }

    @Test
    void windowUpdateOfZeroForTheConnectionEndsIt() {
        Http2Wire.assertCutOff(serve().port(), wire -> wire.openWindow(0, 0), Http2Error.PROTOCOL_ERROR.code());
    }

    @Test
    void windowThatIsClosedAndOpenedDuringACallDelaysItsAnswer() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, ECHO, false);
            wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 0));
            wire.message(1, true, 0, HELLO);
            Answer answer = wire.begun(1);
            wire.request(3, "/nobody.Home/call", true);
            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("12");
            assertThat(answer.ended).isFalse();
            assertThat(answer.data.size()).isZero();

            wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 3));
            wire.readUntil(() -> answer.data.size() == 3);
            wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 0));
            wire.openWindow(1, 1_000);

            assertServed(wire, 1);
        }
    }

    /** A service whose method waits until its call has been cancelled. */
    public interface Patient {
        String waitFor(String text) throws InterruptedException;
    }

    @Test
    void resetAfterTheEndOfTheRequestCancelsTheMethodAlone() throws Exception {
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        Patient patient = text -> {
            ServerContext context = ServerContext.current();
            context.onCancel(cancelled::countDown);
            runs.countDown();
            cancelled.await();
            return text;
        };
        RpcServer server =
                sides.serve(limits -> limits, settings -> settings.export(ServiceExport.of(Patient.class, patient)));
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            wire.request(1, "/" + Patient.class.getName() + "/waitFor", false);
            wire.message(1, true, 0, HELLO);
            assertThat(runs.await(20, TimeUnit.SECONDS)).isTrue();

            wire.frame(Http2Wire.RST_STREAM, 0, 1, (byte) 0, (byte) 0, (byte) 0, (byte) 8);

            assertThat(cancelled.await(20, TimeUnit.SECONDS)).isTrue();
            call(wire, 3);
            assertServed(wire, 3);
        }
    }

    @Test
    void trailersOfARequestAreReadIfTheyEndIt() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, ECHO, false);
            wire.message(1, false, 0, HELLO);
            wire.frame(
                    Http2Wire.HEADERS,
                    Http2Wire.END_HEADERS | Http2Wire.END_STREAM,
                    1,
                    Http2Script.block("x-trailer", "a"));
            assertServed(wire, 1);

            wire.request(3, ECHO, false);
            wire.message(3, false, 0, HELLO);
            wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, 3, Http2Script.block("x-trailer", "a"));
            assertThat(wire.answer(3).reset).isEqualTo(Http2Error.PROTOCOL_ERROR.code());
            call(wire, 5);
            assertServed(wire, 5);
        }
    }

    @Test
    void trailersOfARequestHaveNoPseudoHeaders() {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, ECHO, false);
            wire.message(1, false, 0, HELLO);
            wire.request(1, ECHO, true);

            assertThat(wire.answer(1).reset).isEqualTo(Http2Error.PROTOCOL_ERROR.code());
            call(wire, 3);
            assertServed(wire, 3);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1, 100})
    void requestWhoseLengthContradictsItsHeaderIsReset(int difference) {
        try (Http2Wire wire = Http2Wire.open(serve().port())) {
            wire.request(1, ECHO, false, "content-length", String.valueOf(message().length + difference));
            wire.message(1, true, 0, HELLO);

            assertThat(wire.answer(1).reset).isEqualTo(Http2Error.PROTOCOL_ERROR.code());
            call(wire, 3);
            assertServed(wire, 3);
        }
    }

    @Test
    void framesAfterTheEndOfARequestResetIt() {
        for (int type : new int[] {Http2Wire.DATA, Http2Wire.HEADERS}) {
            try (Http2Wire wire = Http2Wire.open(serve().port())) {
                wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 0));
                call(wire, 1);
                wire.begun(1);
                if (type == Http2Wire.DATA) {
                    wire.frame(Http2Wire.DATA, 0, 1, new byte[3]);
                } else {
                    wire.request(1, ECHO, true);
                }

                assertThat(wire.answer(1).reset).isEqualTo(Http2Error.STREAM_CLOSED.code());
                wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 65_535));
                call(wire, 3);
                assertServed(wire, 3);
            }
        }
    }
}
