package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.StringValue;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.netty.EmbeddedServer.Peer;
import tern.rpc.netty.triple.Http2Script.Frame;
import tern.rpc.server.ServiceExport;

/** Tests clients that do not read the small answers to their requests. */
class UnreadSmallAnswersTest {

    private static final int REQUESTS = 5_000;

    /**
     * The minimum number of bytes that are counted for an answer: the size of its buffer and of the buffer's objects.
     */
    private static final long MIN_BYTES = 1 << 10;

    /** The minimum number of bytes that are counted for a call whose answer waits in the codec. */
    private static final long MIN_CALL_BYTES = 2 << 10;

    private static final int INITIAL_WINDOW_SIZE = 4;

    private static final int LONG = 7_000;

    private static final byte CANCEL = 8;

    private static void send(Peer peer, byte[] bytes) {
        peer.send(bytes, 0, bytes.length);
        peer.run();
    }

    private interface Steps {
        void run(Peer peer) throws Exception;
    }

    private static void connected(Steps steps) throws Exception {
        try (TripleSides sides = new TripleSides();
                EmbeddedServer server = new EmbeddedServer(
                        sides.protocols(),
                        builder -> builder.export(ServiceExport.of(Words.class, new WordsServer())));
                Peer peer = server.connect()) {
            send(peer, Http2Wire.bytesOf(wire -> {}));
            peer.readsNothing();
            steps.run(peer);
        }
    }

    private static void requestAndReset(Peer peer, int stream, byte[] block) {
        int flags = Http2Wire.END_HEADERS | Http2Wire.END_STREAM;
        send(peer, new Frame(Http2Wire.HEADERS, flags, stream, block).bytes());
        send(peer, new Frame(Http2Wire.RST_STREAM, 0, stream, new byte[] {0, 0, 0, CANCEL}).bytes());
    }

    /** Each stream has ended when the next one begins, so the limit on concurrent streams does not apply. */
    @ParameterizedTest
    @ValueSource(strings = {"application/grpc", "application/json", "image/png"})
    void refusalsCountUntilTheClientReadsThem(String contentType) throws Exception {
        byte[] block = Http2Wire.block(Http2Wire.head("/no.Such/method", contentType));
        connected(peer -> {
            for (int stream = 1; stream < 2 * REQUESTS; stream += 2) {
                requestAndReset(peer, stream, block);
            }

            assertThat(peer.unsentBytes()).isGreaterThan(REQUESTS * MIN_BYTES);
            peer.readsAll();
            assertThat(peer.unsentBytes()).isZero();
        });
    }

    /** Each answer is flushed separately, so it has its own buffer of at least 1 KiB. */
    @Test
    void buffersOfSmallAnswersCountUntilTheClientReadsThem() throws Exception {
        byte[] block = Http2Wire.block("/" + Words.class.getName() + "/shout");
        byte[] text = StringValue.of("hello").toByteArray();
        ByteBuffer message = ByteBuffer.allocate(5 + text.length)
                .put((byte) 0)
                .putInt(text.length)
                .put(text);
        connected(peer -> {
            for (int stream = 1; stream < 2_000; stream += 2) {
                send(peer, new Frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, stream, block).bytes());
                send(peer, new Frame(Http2Wire.DATA, Http2Wire.END_STREAM, stream, message.array()).bytes());
            }

            assertThat(peer.unsentBytes()).isGreaterThan(1_000 * MIN_BYTES);
            peer.readsAll();
            assertThat(peer.unsentBytes()).isZero();
        });
    }

    /** The flow-control windows are closed, but the socket accepts bytes. */
    @ParameterizedTest
    @ValueSource(strings = {"application/grpc", "application/proto"})
    void callsWhoseSmallAnswersWaitForAWindowCountUntilTheirClientOpensIt(String contentType) throws Exception {
        byte[] block = Http2Wire.block(Http2Wire.head("/" + Words.class.getName() + "/shout", contentType));
        byte[] text = StringValue.of("hello").toByteArray();
        ByteBuffer message = ByteBuffer.allocate(5 + text.length)
                .put((byte) 0)
                .putInt(text.length)
                .put(text);
        byte[] body = contentType.equals("application/grpc") ? message.array() : text;
        connected(peer -> {
            peer.readsAll();
            send(peer, new Frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(INITIAL_WINDOW_SIZE, 0)).bytes());
            for (int stream = 1; stream < 200; stream += 2) {
                send(peer, new Frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, stream, block).bytes());
                send(peer, new Frame(Http2Wire.DATA, Http2Wire.END_STREAM, stream, body).bytes());
            }

            assertThat(peer.unsentBytes()).isGreaterThanOrEqualTo(100 * MIN_CALL_BYTES);
            send(peer, new Frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(INITIAL_WINDOW_SIZE, 65_535)).bytes());
            assertThat(peer.unsentBytes()).isZero();
        });
    }

    @Test
    void buffersOfSmallHttp1AnswersCountUntilTheClientReadsThem() throws Exception {
        byte[] request = "GET /no.Such/method HTTP/1.1\r\nhost: localhost\r\n\r\n".getBytes(US_ASCII);
        try (TripleSides sides = new TripleSides();
                EmbeddedServer server = new EmbeddedServer(
                        sides.protocols(),
                        builder -> builder.export(ServiceExport.of(Words.class, new WordsServer())));
                Peer peer = server.connect()) {
            peer.readsNothing();
            for (int i = 0; i < 1_000; i++) {
                send(peer, request);
            }

            assertThat(peer.unsentBytes()).isGreaterThan(1_000 * MIN_BYTES / 2);
            peer.readsAll();
            assertThat(peer.unsentBytes()).isZero();
        }
    }

    @Test
    void headersOfRefusedRequestsCountWhileTheirAnswersKeepThem() throws Exception {
        byte[] block = Http2Wire.block("/no.Such/method", "long", "v".repeat(LONG));
        connected(peer -> {
            for (int stream = 1; stream < 20; stream += 2) {
                requestAndReset(peer, stream, block);
            }

            assertThat(peer.headBytes()).isGreaterThan(10 * LONG);
            peer.readsAll();
            assertThat(peer.headBytes()).isZero();
        });
    }
}
