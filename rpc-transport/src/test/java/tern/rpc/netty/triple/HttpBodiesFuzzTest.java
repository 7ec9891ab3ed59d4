package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.netty.triple.HttpFuzzTest.PREFACE;
import static tern.rpc.netty.triple.HttpFuzzTest.TEXT_MESSAGE;
import static tern.rpc.netty.triple.HttpFuzzTest.ascii;
import static tern.rpc.netty.triple.HttpFuzzTest.files;
import static tern.rpc.netty.triple.HttpFuzzTest.frame;
import static tern.rpc.netty.triple.HttpFuzzTest.framed;
import static tern.rpc.netty.triple.HttpFuzzTest.joined;

import com.example.wire.GreetService;
import com.example.wire.PbService;
import com.example.wire.StreamService;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.transport.Fuzz;

/**
 * Verifies promise R1 in docs/figures/promises.md for HTTP servers. The inputs are bodies in the format of each
 * protocol, which follow valid headers.
 */
@Timeout(3_600)
class HttpBodiesFuzzTest {

    private static final String GREET = "/" + GreetService.class.getName() + "/";
    private static final String PB = "/" + PbService.class.getName() + "/";

    private final TripleSides sides = new TripleSides();
    private final EmbeddedServer server = HttpFuzzTest.server(sides);

    @AfterEach
    void close() throws Exception {
        assertThat(server.replies()).as("calls that were answered").isPositive();
        server.close();
        sides.close();
    }

    /** Fuzzes the body of a request that has valid headers. */
    private void bodies(int parts, String name, List<byte[]> honest, String path, String... head) {
        StringBuilder lines = new StringBuilder();
        for (String line : head) {
            lines.append(line).append("\r\n");
        }
        List<byte[]> pieces = new ArrayList<>();
        for (int i = 0; i < 256; i++) {
            pieces.add(new byte[] {(byte) i});
            pieces.add(new byte[] {(byte) i, 0, 0, 0, (byte) i});
        }
        for (String text :
                List.of("hessian4", "hessian2", "java.lang.String", "{", "}", "[", "]", "\"s\":", "null", "AAAAAAE=")) {
            pieces.add(ascii(text));
            pieces.add(joined(new byte[] {0x0a, (byte) text.length()}, ascii(text)));
            pieces.add(joined(new byte[] {0x12, (byte) text.length()}, ascii(text)));
        }
        new Fuzz(name, honest, pieces)
                .run(
                        parts,
                        input -> server.feed(joined(
                                ascii("POST " + path + " HTTP/1.1\r\nHost: x\r\n" + lines + "Content-Length: "
                                        + input.length + "\r\n\r\n"),
                                input)));
    }

    @Test
    void damagedBodiesOfGrpcAreAnswered() {
        List<byte[]> honest = new ArrayList<>();
        for (byte[] captured : files("triple-h2", ".c2s.bin")) {
            honest.add(Http2Script.request(
                            Http2Script.frames(Arrays.copyOfRange(captured, PREFACE.length, captured.length)))
                    .body
                    .toByteArray());
        }
        honest.removeIf(body -> body.length == 0);
        honest.add(framed(1, Gzipped.of(TEXT_MESSAGE)));
        List<byte[]> pieces = new ArrayList<>();
        for (int i = 0; i < 256; i++) {
            pieces.add(new byte[] {(byte) i});
            pieces.add(new byte[] {0, 0, 0, 0, (byte) i});
        }
        List<String> methods =
                List.of(GREET + "echo", GREET + "pojo", GREET + "types", PB + "hello", GREET + "$invoke");
        for (String method : methods) {
            byte[] head =
                    joined(PREFACE, frame(4, 0, 0), frame(1, 4, 1, Http2Wire.block(method, "grpc-encoding", "gzip")));
            new Fuzz("gRPC " + method, honest, pieces)
                    .run(
                            methods.size(),
                            input -> server.feed(joined(
                                    head, frame(0, 1, 1, Arrays.copyOf(input, Math.min(input.length, 16_384))))));
        }
    }

    @Test
    void damagedBodiesOfGrpcWebAreAnswered() {
        List<byte[]> honest =
                List.of(framed(0, TEXT_MESSAGE), framed(1, Gzipped.of(TEXT_MESSAGE)), framed(0, new byte[0]));

        bodies(2, "gRPC-Web", honest, PB + "hello", "Content-Type: application/grpc-web+proto", "grpc-encoding: gzip");
        bodies(
                2,
                "gRPC-Web text",
                List.of(Base64.getEncoder().encode(framed(0, TEXT_MESSAGE))),
                PB + "hello",
                "Content-Type: application/grpc-web-text+proto");
    }

    @Test
    void damagedBodiesOfConnectAreAnswered() {
        bodies(
                4,
                "Connect proto",
                List.of(TEXT_MESSAGE),
                PB + "hello",
                "Content-Type: application/proto",
                "Connect-Protocol-Version: 1");
        bodies(
                4,
                "Connect JSON",
                List.of(ascii("\"x\"")),
                GREET + "echo",
                "Content-Type: application/json",
                "Connect-Protocol-Version: 1");
        bodies(
                4,
                "Connect gzip",
                List.of(Gzipped.of(TEXT_MESSAGE)),
                PB + "hello",
                "Content-Type: application/proto",
                "Content-Encoding: gzip");
        bodies(
                4,
                "Connect stream",
                List.of(framed(0, ascii("\"x\"")), framed(1, Gzipped.of(ascii("\"x\"")))),
                "/" + StreamService.class.getName() + "/serverStream",
                "Content-Type: application/connect+json",
                "Connect-Content-Encoding: gzip");
    }

    @Test
    void damagedBodiesOfJsonAreAnswered() {
        bodies(
                10,
                "JSON form",
                List.of(ascii("{\"name\":\"x\",\"age\":3}"), ascii("[{}]")),
                GREET + "pojo",
                "Content-Type: application/json");
        bodies(
                10,
                "JSON form, form body",
                List.of(ascii("s=x&s=y%20z")),
                GREET + "echo",
                "Content-Type: application/x-www-form-urlencoded");
    }
}
