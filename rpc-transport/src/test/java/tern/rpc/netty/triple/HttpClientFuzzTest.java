package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.netty.triple.HttpFuzzTest.ascii;
import static tern.rpc.netty.triple.HttpFuzzTest.files;
import static tern.rpc.netty.triple.HttpFuzzTest.frame;
import static tern.rpc.netty.triple.HttpFuzzTest.framed;
import static tern.rpc.netty.triple.HttpFuzzTest.joined;

import com.example.wire.GreetService;
import com.example.wire.PbService;
import com.example.wire.Person;
import com.example.wire.StreamService;
import com.google.protobuf.StringValue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.netty.EmbeddedClient;
import tern.rpc.transport.Fuzz;

/**
 * Verifies promise R1 in docs/figures/promises.md for Tern's HTTP clients. The inputs are frames, headers, and bodies
 * after valid headers, as a hostile server could send them.
 */
@Timeout(3_600)
class HttpClientFuzzTest {

    private static final byte[] SETTINGS = frame(Http2Script.SETTINGS, 0, 0);
    private static final int FIRST_STREAM = 3;

    /** Clients get only 1/{@value} of the inputs, because each input for a client requires several calls. */
    private static final int A_QUARTER = 4;

    private final TripleSides sides = new TripleSides();
    private final TripleClientProtocol http2 = new TripleClientProtocol(sides.codecs());
    private final Http1ClientProtocol http1 = new Http1ClientProtocol(sides.codecs());
    private final List<Invocation> calls = List.of(
            call(GreetService.class, "types", "x"),
            call(GreetService.class, "echo", "x"),
            call(GreetService.class, "pojo", Person.named("x", 1)),
            call(PbService.class, "hello", StringValue.of("x")),
            call(StreamService.class, "serverStream", "x"));

    @AfterEach
    void close() throws Exception {
        sides.close();
    }

    private Invocation call(Class<?> type, String method, Object... arguments) {
        ServiceDescriptor service = ServiceDescriptor.of(type);
        http2.prepareReference(service);
        return new Invocation(
                new ServiceKey(service.name(), "", ""),
                service.overloads(method).get(0),
                arguments,
                new Metadata(),
                Deadline.none(),
                Runnable::run);
    }

    private static void fuzz(int parts, EmbeddedClient made, String name, List<byte[]> honest, List<byte[]> pieces) {
        try (EmbeddedClient client = made) {
            new Fuzz(name, honest, pieces).run(parts, client::feed);

            assertThat(client.results()).isPositive();
            assertThat(client.failures()).isPositive();
        }
    }

    private static int stream(int call) {
        return FIRST_STREAM + 2 * call;
    }

    @Test
    void damagedFramesOfHttp2EndEachCallOnce() {
        List<byte[]> honest = new ArrayList<>();
        for (byte[] captured : files("triple-h2", ".s2c.bin")) {
            honest.add(captured);
            honest.add(onStream(captured, stream(honest.size() / 2 % calls.size())));
        }
        List<byte[]> pieces = new ArrayList<>();
        for (int call = 0; call < calls.size(); call++) {
            int stream = stream(call);
            for (int type = 0; type < 11; type++) {
                for (int flags : new int[] {0, 1, 4, 5, 8}) {
                    pieces.add(frame(type, flags, stream));
                    pieces.add(frame(type, flags, stream, Http2Script.fourBytes(7)));
                }
            }
            pieces.add(frame(1, 4, stream, Http2Script.block(":status", "200", "content-type", "application/grpc")));
            pieces.add(frame(1, 5, stream, Http2Script.block("grpc-status", "0")));
            pieces.add(frame(1, 5, stream, Http2Script.block(":status", "503")));
        }
        pieces.add(SETTINGS);
        pieces.add(frame(4, 0, 0, Http2Script.settings(1, 0, 4, Integer.MAX_VALUE)));
        pieces.add(frame(4, 0, 0, Http2Script.settings(3, 0, 5, 1)));
        pieces.add(frame(7, 0, 0, new byte[8]));
        pieces.add(frame(8, 0, 0, Http2Script.fourBytes(Integer.MAX_VALUE)));
        pieces.add(Http2Script.block("grpc-encoding", "gzip"));

        EmbeddedClient client = new EmbeddedClient(http2, calls, (input, id) -> joined(SETTINGS, input));
        fuzz(A_QUARTER, client, "HTTP/2, client", honest, pieces);
    }

    /** Returns the captured answer with a different stream id. */
    private static byte[] onStream(byte[] captured, int stream) {
        return joined(Http2Script.frames(captured).stream()
                .map(frame -> new Http2Script.Frame(
                                frame.type(), frame.flags(), frame.stream() == 0 ? 0 : stream, frame.payload())
                        .bytes())
                .toArray(byte[][]::new));
    }

    private static List<byte[]> bytesAnd(String... texts) {
        List<byte[]> pieces = new ArrayList<>();
        for (int i = 0; i < 256; i++) {
            pieces.add(new byte[] {(byte) i});
            pieces.add(new byte[] {0, 0, 0, 0, (byte) i});
        }
        for (String text : texts) {
            pieces.add(ascii(text));
            pieces.add(joined(new byte[] {0x0a, (byte) text.length()}, ascii(text)));
            pieces.add(joined(new byte[] {0x12, (byte) text.length()}, ascii(text)));
        }
        return pieces;
    }

    @Test
    void damagedMessagesOfGrpcEndEachCallOnce() {
        List<byte[]> honest = new ArrayList<>();
        for (byte[] captured : files("triple-h2", ".s2c.bin")) {
            for (Http2Script.Frame frame : Http2Script.frames(captured)) {
                if (frame.type() == Http2Script.DATA && frame.payload().length > 0) {
                    honest.add(frame.payload());
                }
            }
        }
        honest.add(framed(0, HttpFuzzTest.TEXT_MESSAGE));
        honest.add(framed(1, Gzipped.of(HttpFuzzTest.TEXT_MESSAGE)));
        List<byte[]> pieces = bytesAnd("hessian4", "java.lang.String", "com.example.wire.Person");
        for (int call = 0; call < calls.size(); call++) {
            int stream = stream(call);
            for (String exception : List.of("x", "tri-exception-code")) {
                byte[] head = joined(
                        SETTINGS,
                        frame(
                                1,
                                4,
                                stream,
                                Http2Script.block(
                                        ":status",
                                        "200",
                                        "content-type",
                                        "application/grpc",
                                        "grpc-encoding",
                                        "gzip",
                                        exception,
                                        "1")));
                byte[] end = frame(1, 5, stream, Http2Script.block("grpc-status", "0"));
                EmbeddedClient made = new EmbeddedClient(
                        http2,
                        calls,
                        (input, id) -> joined(
                                head, frame(0, 0, stream, Arrays.copyOf(input, Math.min(input.length, 16_384))), end));
                try (EmbeddedClient client = made) {
                    new Fuzz("gRPC, client, " + calls.get(call) + " " + exception, honest, pieces)
                            .run(A_QUARTER * 2 * calls.size(), client::feed);

                    assertThat(exception.equals("x") ? client.results() : client.failures())
                            .isPositive();
                }
            }
        }
    }

    @Test
    void damagedHttp1AnswersEndEachCallOnce() {
        List<byte[]> pieces = Stream.of(
                        "\r\n",
                        "\r\n\r\n",
                        "0\r\n\r\n",
                        "ffffffff\r\n",
                        "HTTP/1.1 100 Continue\r\n\r\n",
                        "HTTP/1.1 200 OK\r\n",
                        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
                        "HTTP/1.0 ",
                        " 204 ",
                        " 304 ",
                        " 101 ",
                        "Transfer-Encoding: chunked\r\n",
                        "Transfer-Encoding: chunked, identity\r\n",
                        "Content-Length: 5\r\n",
                        "Content-Length: -1\r\n",
                        "Content-Length: 99999999999\r\n",
                        "Content-Encoding: gzip\r\n",
                        "Connection: close\r\n",
                        "Connection: Upgrade\r\n",
                        "Content-Type: application/json\r\n",
                        "tern-executed: no\r\n",
                        "{\"code\":\"not_found\",\"message\":\"x\"}",
                        "\u0000")
                .map(HttpFuzzTest::ascii)
                .toList();
        for (String method : List.of("echo", "types")) {
            EmbeddedClient client =
                    new EmbeddedClient(http1, List.of(call(GreetService.class, method, "x")), (input, id) -> input);
            fuzz(A_QUARTER * 2, client, "HTTP/1.1, client, " + method, files("http1", ".response.bin"), pieces);
        }
    }

    @Test
    void damagedHttp1BodiesEndEachCallOnce() {
        List<byte[]> honest = List.of(
                ascii("\"x\""),
                ascii("{\"name\":\"x\",\"age\":3,\"color\":\"RED\",\"tags\":[\"a\"],\"friend\":{\"id\":7}}"),
                ascii("{\"code\":\"not_found\",\"message\":\"x\",\"details\":[{\"type\":\"a\",\"value\":\"AA\"}]}"),
                Gzipped.of(ascii("\"x\"")));
        List<byte[]> pieces = bytesAnd("{", "}", "[", "]", "\"name\":", "null", "1e99", "\\ud83d", "\"@class\":");
        List<String> heads = List.of(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n",
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n",
                "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n");
        for (String head : heads) {
            EmbeddedClient client = new EmbeddedClient(
                    http1,
                    List.of(call(GreetService.class, "pojo", Person.named("x", 1))),
                    (input, id) -> joined(ascii(head + "Content-Length: " + input.length + "\r\n\r\n"), input));
            try (client) {
                new Fuzz("JSON, client, " + heads.indexOf(head), honest, pieces)
                        .run(A_QUARTER * heads.size(), client::feed);

                assertThat(client.failures()).isPositive();
            }
        }
    }

    /** Tests servers that answer and then reset the connection. The client still receives the answers. */
    @Test
    void answersOfConnectionsThatWereResetEndEachCallOnce() {
        try (EmbeddedClient client = new EmbeddedClient(
                        http2, calls, (input, id) -> joined(SETTINGS, onStream(input, FIRST_STREAM)));
                EmbeddedClient one = new EmbeddedClient(
                        http1, List.of(call(GreetService.class, "echo", "x")), (input, id) -> input)) {
            for (int flushes = 0; flushes < 5; flushes++) {
                client.resetAfter(flushes);
                files("triple-h2", ".s2c.bin").forEach(client::feed);
                one.resetAfter(flushes);
                files("http1", ".response.bin").forEach(one::feed);
            }
        }
    }
}
