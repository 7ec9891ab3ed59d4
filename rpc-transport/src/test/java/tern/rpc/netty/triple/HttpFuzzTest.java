package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import com.example.wire.PbServer;
import com.example.wire.PbService;
import com.example.wire.StreamServer;
import com.example.wire.StreamService;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.netty.peer.InstantServices;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.Fuzz;
import tern.rpc.transport.FuzzTarget;

/**
 * Verifies promise R1 in docs/figures/promises.md for HTTP servers. The inputs are HTTP/2 frames and whole HTTP/1.1
 * requests. {@link HttpBodiesFuzzTest} tests bodies after valid headers.
 */
@Timeout(3_600)
public class HttpFuzzTest {

    static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1);
    private static final int PADDED = 8;
    private static final int PRIORITY = 0x20;
    private static final int MAX_FRAME = 16 << 10;
    private static final String GREET = "/" + GreetService.class.getName() + "/";

    private final TripleSides sides = new TripleSides();
    private final EmbeddedServer server = server(sides);

    static EmbeddedServer server(TripleSides sides) {
        return new EmbeddedServer(
                sides.protocols(),
                exports -> exports.genericCalls(true)
                        .export(ServiceExport.of(GreetService.class, InstantServices.greet()))
                        .export(ServiceExport.of(GreetService.class, InstantServices.greet(), "g1", "1.2.3"))
                        .export(ServiceExport.of(StreamService.class, new StreamServer()))
                        .export(ServiceExport.of(PbService.class, new PbServer())));
    }

    /**
     * Fuzzes two header blocks on one connection. The first block can fill the dynamic table, which is then used to
     * decode the second block.
     */
    public static FuzzTarget hpack() {
        HttpFuzzTest test = new HttpFuzzTest();
        List<byte[]> seeds = new ArrayList<>();
        for (byte[] captured : files("triple-h2", ".c2s.bin")) {
            Http2Script.frames(Arrays.copyOfRange(captured, PREFACE.length, captured.length)).stream()
                    .filter(frame -> frame.type() == 1 && (frame.flags() & (PADDED | PRIORITY)) == 0)
                    .forEach(frame -> seeds.add(joined(new byte[] {0}, frame.payload())));
        }
        byte[] block = Http2Wire.block(GREET + "echo");
        seeds.add(joined(new byte[] {(byte) block.length}, block, block));
        return new FuzzTarget(seeds, input -> test.server.feed(test.blocks(input)), test::closeAll);
    }

    /** Splits the input into two header blocks. The first byte of the input contains the length of the first block. */
    private byte[] blocks(byte[] input) {
        if (input.length == 0) {
            return PREFACE;
        }
        int cut = 1 + Math.min(input[0] & 0xff, input.length - 1);
        return joined(
                PREFACE,
                frame(4, 0, 0),
                block(1, Arrays.copyOfRange(input, 1, cut)),
                block(3, Arrays.copyOfRange(input, cut, input.length)));
    }

    /** Splits a header block into frames of the size that every peer accepts. */
    private static byte[] block(int stream, byte[] block) {
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        int at = 0;
        do {
            int end = Math.min(at + MAX_FRAME, block.length);
            int flags = (at == 0 ? 1 : 0) | (end == block.length ? 4 : 0);
            frames.writeBytes(frame(at == 0 ? 1 : 9, flags, stream, Arrays.copyOfRange(block, at, end)));
            at = end;
        } while (at < block.length);
        return frames.toByteArray();
    }

    /** Fuzzes whole HTTP/1.1 requests. */
    public static FuzzTarget http1() {
        HttpFuzzTest test = new HttpFuzzTest();
        return new FuzzTarget(files("http1", ".request.bin"), test.server::feed, test::closeAll);
    }

    /** Fuzzes the body of a streaming Connect call, which consists of envelopes. */
    public static FuzzTarget connect() {
        HttpFuzzTest test = new HttpFuzzTest();
        List<byte[]> seeds = List.of(
                framed(0, ascii("\"x\"")),
                framed(1, Gzipped.of(ascii("\"x\""))),
                joined(framed(0, ascii("\"x\"")), framed(2, ascii("{}"))));
        String head = "POST /" + StreamService.class.getName() + "/serverStream HTTP/1.1\r\nHost: x\r\n"
                + "Content-Type: application/connect+json\r\nConnect-Content-Encoding: gzip\r\nContent-Length: ";
        return new FuzzTarget(
                seeds,
                input -> test.server.feed(joined(ascii(head + input.length + "\r\n\r\n"), input)),
                test::closeAll);
    }

    @AfterEach
    void close() throws Exception {
        assertThat(server.replies()).as("calls that were answered").isPositive();
        closeAll();
    }

    private void closeAll() throws Exception {
        server.close();
        sides.close();
    }

    static List<byte[]> files(String folder, String ending) {
        try (Stream<Path> files =
                Files.list(Path.of(Objects.requireNonNull(HttpFuzzTest.class.getResource("/wire/" + folder))
                        .toURI()))) {
            List<byte[]> found = new ArrayList<>();
            for (Path file : files.filter(file -> file.toString().endsWith(ending))
                    .sorted()
                    .toList()) {
                byte[] bytes = Files.readAllBytes(file);
                if (bytes.length < 10_000) {
                    found.add(bytes);
                }
            }
            return found;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    static byte[] ascii(String text) {
        return text.getBytes(ISO_8859_1);
    }

    static byte[] frame(int type, int flags, int stream, byte... payload) {
        return new Http2Script.Frame(type, flags, stream, payload).bytes();
    }

    @Test
    void damagedFramesOfHttp2AreAnsweredOrEndTheConnection() {
        List<byte[]> honest = new ArrayList<>();
        for (String folder : List.of("triple-h2", "triple-raw")) {
            files(folder, ".c2s.bin")
                    .forEach(bytes -> honest.add(Arrays.copyOfRange(bytes, PREFACE.length, bytes.length)));
        }
        List<byte[]> pieces = new ArrayList<>();
        for (int type = 0; type < 11; type++) {
            for (int flags : new int[] {0, 1, 4, 5, 8, 0x20, 0x2d}) {
                pieces.add(frame(type, flags, 0));
                pieces.add(frame(type, flags, 1, (byte) 0));
                pieces.add(frame(type, flags, 3, Http2Script.fourBytes(0)));
                pieces.add(frame(type, flags, type == 4 ? 0 : 1, new byte[8]));
            }
        }
        pieces.add(frame(4, 0, 0, Http2Script.settings(1, 0, 4, Integer.MAX_VALUE)));
        pieces.add(frame(4, 0, 0, Http2Script.settings(5, 1, 6, 0)));
        pieces.add(frame(8, 0, 0, Http2Script.fourBytes(Integer.MAX_VALUE)));
        pieces.add(frame(1, 5, 5, Http2Wire.block(GREET + "echo")));
        pieces.add(Http2Script.block("te", "trailers"));
        pieces.add(Http2Script.block(":path", "/x"));

        new Fuzz("HTTP/2", honest, pieces).run(input -> server.feed(joined(PREFACE, input)));
    }

    @Test
    void damagedHttp1RequestsAreAnsweredOrEndTheConnection() {
        List<byte[]> pieces = Stream.of(
                        "\r\n",
                        "\r\n\r\n",
                        "\n",
                        "0\r\n\r\n",
                        "ffffffff\r\n",
                        "Transfer-Encoding: chunked\r\n",
                        "Content-Length: 5\r\n",
                        "Content-Length: -1\r\n",
                        "Content-Length: 99999999999\r\n",
                        "Expect: 100-continue\r\n",
                        "Content-Encoding: gzip\r\n",
                        "Connection: close\r\n",
                        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
                        "GET / HTTP/1.1\r\n",
                        "POST " + GREET + "echo HTTP/1.1\r\nHost: x\r\n",
                        "Content-Type: application/grpc-web+proto\r\n",
                        "Content-Type: application/grpc-web-text\r\n",
                        "Content-Type: application/connect+json\r\n",
                        "Content-Type: application/json; charset=utf-16\r\n",
                        "Connect-Protocol-Version: 1\r\n",
                        "Connect-Timeout-Ms: 99999999999\r\n",
                        "%00",
                        "%zz",
                        "?s=1&s=2",
                        "Origin: null\r\n",
                        ": x\r\n",
                        " ",
                        "\u0000")
                .map(HttpFuzzTest::ascii)
                .toList();

        new Fuzz("HTTP/1.1", files("http1", ".request.bin"), pieces).run(server::feed);
    }

    static byte[] framed(int flags, byte[] message) {
        return ByteBuffer.allocate(5 + message.length)
                .put((byte) flags)
                .putInt(message.length)
                .put(message)
                .array();
    }

    /** The encoded message {@code StringValue("x")}. */
    static final byte[] TEXT_MESSAGE = {0x0a, 1, 'x'};
}
