package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.StringValue;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests the memory limit and the time limit for incomplete input that the decoders of HTTP/1.1 and HTTP/2 keep. */
@Timeout(60)
class UnfinishedInputTest {

    private static final int UNKNOWN_TYPE = 0x77;
    private static final int FRAME_BYTES = 16 << 10;
    private static final int HEAD_BYTES = 9;
    private static final long ENHANCE_YOUR_CALM = 0xB;

    /** A service that answers when the test permits it. */
    public interface Slow {
        StringValue call(StringValue text);
    }

    private final TripleSides sides = new TripleSides();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final CountDownLatch answers = new CountDownLatch(1);
    private final AtomicInteger running = new AtomicInteger();

    @AfterEach
    void close() throws Exception {
        answers.countDown();
        sides.close();
    }

    private RpcServer serve(Duration firstBytes) {
        return sides.serve(
                limits -> new ServerTransportSettings(
                        null, 0, 1_000, 1_000, 1_000, 1 << 20, Duration.ofMinutes(1), firstBytes),
                settings -> settings.meters(new RpcMeters(registry, Slo.DEFAULT))
                        .export(ServiceExport.of(Slow.class, (Slow) text -> {
                            awaitPermission();
                            return text;
                        })));
    }

    private void awaitPermission() {
        running.incrementAndGet();
        try {
            answers.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private double held() {
        return registry.get(RpcMeter.SERVER_INBOUND.key()).gauge().value();
    }

    private static byte[] frame(int type, int flags, int stream, int bytes) {
        return ByteBuffer.allocate(HEAD_BYTES + bytes)
                .putInt(bytes << 8 | type)
                .put((byte) flags)
                .putInt(stream)
                .array();
    }

    @Test
    void incompleteFrameCountsInTheMemoryForRequests() {
        RpcServer server = serve(Duration.ofMinutes(1));
        byte[] frame = frame(UNKNOWN_TYPE, 0, 0, FRAME_BYTES);

        try (Http2Wire wire = Http2Wire.open(server.port())) {
            wire.send(frame, 0, FRAME_BYTES);
            Await.until("the bytes are counted", () -> held() >= 16_000);

            wire.send(frame, FRAME_BYTES, HEAD_BYTES);
            Await.until("nothing is counted after the frame is complete", () -> held() == 0);

            wire.send(frame, 0, FRAME_BYTES);
            Await.until("the bytes are counted", () -> held() >= 16_000);
        }
        Await.until("nothing is counted after the connection is closed", () -> held() == 0);
    }

    @Test
    void incompleteHeaderBlockCountsInTheMemoryForRequests() {
        RpcServer server = serve(Duration.ofMinutes(1));
        byte[] block = Http2Wire.block("/com.example.wire.PbService/hello", "a", "x".repeat(10_000));

        try (Http2Wire wire = Http2Wire.open(server.port())) {
            wire.frame(Http2Wire.HEADERS, 0, 1, Arrays.copyOf(block, 8_000));
            Await.until("the bytes are counted", () -> held() >= 8_000);

            wire.frame(
                    Http2Wire.CONTINUATION, Http2Wire.END_HEADERS, 1, Arrays.copyOfRange(block, 8_000, block.length));
            wire.message(1, true, 0, StringValue.of("x").toByteArray());

            assertThat(wire.answer(1).header("grpc-status")).isEqualTo("0");
            Await.until("nothing is counted after the call", () -> held() == 0);
        }
    }

    @Test
    void frameThatDoesNotArriveInTimeEndsTheConnection() {
        RpcServer server = serve(Duration.ofMillis(50));

        Http2Wire.assertCutOff(
                server.port(),
                wire -> wire.send(Arrays.copyOf(frame(UNKNOWN_TYPE, 0, 0, FRAME_BYTES), 100)),
                ENHANCE_YOUR_CALM);
    }

    /**
     * Tests an incomplete frame whose remaining bytes do not arrive while a call is running, for example because of a
     * network interruption.
     */
    @Test
    void runningCallIsAnsweredAlthoughAFrameDoesNotArriveInTime() {
        RpcServer server = serve(Duration.ofMillis(50));
        byte[] part = Arrays.copyOf(frame(UNKNOWN_TYPE, 0, 0, FRAME_BYTES), 100);

        try (Http2Wire wire = Http2Wire.open(server.port())) {
            wire.request(1, '/' + Slow.class.getName() + "/call", false);
            wire.message(1, true, 0, StringValue.of("x").toByteArray());
            Await.until("the call runs", () -> running.get() == 1);
            wire.send(part);
            // The frame on this second connection begins after the frame on the first connection. When the second
            // connection is closed, the first frame is therefore late too.
            Http2Wire.assertCutOff(server.port(), other -> other.send(part), ENHANCE_YOUR_CALM);

            answers.countDown();

            assertThat(wire.answer(1).header("grpc-status")).isEqualTo("0");
            assertThat(wire.endOfConnection()).as("the frame is still late").isEqualTo(ENHANCE_YOUR_CALM);
        }
    }

    @Test
    void headerBlockThatDoesNotArriveInTimeEndsTheConnection() {
        RpcServer server = serve(Duration.ofMillis(50));

        Http2Wire.assertCutOff(
                server.port(),
                wire -> wire.frame(Http2Wire.HEADERS, 0, 1, Http2Wire.block("/com.example.wire.PbService/hello")),
                ENHANCE_YOUR_CALM);
    }

    private static String request(String method, int fieldBytes, String body) {
        return "POST /" + Slow.class.getName() + '/' + method
                + " HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\na: " + "x".repeat(fieldBytes)
                + "\r\ncontent-length: " + body.length() + "\r\n\r\n" + body;
    }

    private static String head(RawSocket socket) {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) socket.readFully(1)[0]);
        }
        return head.toString();
    }

    private static int contentLength(String head) {
        String name = "content-length: ";
        int start = head.indexOf(name) + name.length();
        return Integer.parseInt(head.substring(start, head.indexOf('\r', start)));
    }

    @Test
    void furtherHttp1RequestsCountInTheMemoryForRequests() {
        RpcServer server = serve(Duration.ofMinutes(1));
        int requests = 6;

        try (RawSocket socket = RawSocket.connect(server.port())) {
            socket.send(request("call", 1, "\"a\"").getBytes(ISO_8859_1));
            for (int i = 1; i < requests; i++) {
                socket.send(request("call", 7_000, "\"a\"").getBytes(ISO_8859_1));
            }
            Await.until("the bytes are counted", () -> held() >= (requests - 1) * 7_000);

            answers.countDown();

            for (int i = 0; i < requests; i++) {
                String head = head(socket);
                assertThat(head).startsWith("HTTP/1.1 200");
                socket.readFully(contentLength(head));
            }
            Await.until("nothing is counted after the calls", () -> held() == 0);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void furtherHttp1RequestsOfALostConnectionDoNotCount(boolean answered) {
        RpcServer server = serve(Duration.ofMinutes(1));

        try (RawSocket socket = RawSocket.connect(server.port())) {
            socket.send(request(answered ? "unknown" : "call", 1, "\"a\"").getBytes(ISO_8859_1));
            socket.send(Arrays.copyOf(request("call", 7_500, "\"a\"").getBytes(ISO_8859_1), 7_000));
            Await.until("the bytes are counted", () -> held() >= 7_000);
        }

        Await.until("nothing is counted after the connection is closed", () -> held() == 0);
    }

    @Test
    void clientThatAlwaysSendsAheadDoesNotFillTheMemory() {
        RpcServer server = serve(Duration.ofMinutes(1));
        byte[] request = request("unknown", 5_000, "\"a\"").getBytes(ISO_8859_1);
        int ahead = 4_500;

        try (RawSocket socket = RawSocket.connect(server.port())) {
            socket.send(Arrays.copyOf(request, ahead));
            double most = 0;
            for (int i = 0; i < 400; i++) {
                byte[] restAndNext = new byte[request.length];
                System.arraycopy(request, ahead, restAndNext, 0, request.length - ahead);
                System.arraycopy(request, 0, restAndNext, request.length - ahead, ahead);
                socket.send(restAndNext);
                socket.readFully(contentLength(head(socket)));
                most = Math.max(most, held());
            }

            assertThat(most).as("2 MB were sent").isBetween(1.0, 256.0 * 1_024);
        }
    }
}
