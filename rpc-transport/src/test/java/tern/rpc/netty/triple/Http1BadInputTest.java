package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.triple.Http1Wire.Answer;
import tern.rpc.server.RpcServer;

/**
 * Tests requests that two parsers could interpret differently, and other invalid requests. The server must refuse each
 * invalid request and must not read the bytes after it. Valid requests on a second connection must succeed before and
 * afterwards.
 */
@Timeout(120)
class Http1BadInputTest {

    private static final TripleSides SIDES = new TripleSides();
    private static final String LINE = "POST /com.example.wire.GreetService/echo HTTP/1.1\r\n";
    private static final String HOST = "Host: localhost\r\n";
    private static final String GOOD = LINE + HOST + "Content-Length: 4\r\n\r\n\"hi\"";

    /** A request that an attacker tries to smuggle past a proxy. */
    private static final String SMUGGLED = LINE + HOST + "Content-Length: 11\r\n\r\n\"smuggled!\"";

    private static RpcServer server;
    private RawSocket wellBehaved;

    @BeforeAll
    static void start() {
        server = SIDES.serve(limits -> limits, settings -> {});
    }

    @AfterAll
    static void stop() throws Exception {
        Await.until("every connection is gone", () -> server.connections() == 0);
        SIDES.close();
    }

    @BeforeEach
    void connect() {
        wellBehaved = RawSocket.connect(server.port());
        assertServed(wellBehaved);
    }

    @AfterEach
    void stillServes() {
        assertServed(wellBehaved);
        wellBehaved.close();
    }

    private static void assertServed(RawSocket socket) {
        send(socket, GOOD);
        Answer answer = Http1Wire.read(socket);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).isEqualTo("\"hi\"");
    }

    private static void send(RawSocket socket, String text) {
        socket.send(text.getBytes(ISO_8859_1));
    }

    static Stream<Arguments> heads() {
        String end = "\r\n";
        return Stream.of(
                // requests with a body of ambiguous length
                bad(LINE + HOST + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n" + end),
                bad(LINE + HOST + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n" + end),
                bad(LINE + HOST + "Content-Length: 4\r\nContent-Length: 4\r\n" + end),
                bad(LINE + HOST + "Content-Length: 4\r\nContent-Length: 5\r\n" + end),
                bad(LINE + HOST + "Content-Length: 4, 4\r\n" + end),
                bad(LINE + HOST + "Content-Length: +4\r\n" + end),
                bad(LINE + HOST + "Content-Length: -4\r\n" + end),
                bad(LINE + HOST + "Content-Length: 0x4\r\n" + end),
                bad(LINE + HOST + "Content-Length: 4 \0\r\n" + end),
                bad(LINE + HOST + "Content-Length:\r\n" + end),
                bad(LINE + HOST + "Content-Length: 1000000000000000000\r\n" + end),
                bad(LINE + HOST + "Transfer-Encoding: gzip, chunked\r\n" + end),
                bad(LINE + HOST + "Transfer-Encoding: chunked, chunked\r\n" + end),
                bad(LINE + HOST + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" + end),
                bad(LINE + HOST + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n" + end),
                bad(LINE + HOST + "Transfer-Encoding: xchunked\r\n" + end),
                bad(LINE + HOST + "Transfer-Encoding: \"chunked\"\r\n" + end),
                bad(LINE + HOST + "Transfer-Encoding: chunked;q=1\r\n" + end),
                bad(LINE + HOST + "Transfer-Encoding: \u000bchunked\r\n" + end),
                bad(LINE + HOST + "Transfer-Encoding:\r\n" + end),
                bad(LINE.replace("1.1", "1.0") + "Transfer-Encoding: chunked\r\n" + end),
                // requests with a header field whose start or end is ambiguous
                bad(LINE + HOST + "X: a\r\n b\r\n" + end),
                bad(LINE + HOST + "X: a\r\n\tTransfer-Encoding: chunked\r\n" + end),
                bad(LINE + " Host: localhost\r\n" + end),
                bad(LINE + HOST + "Content-Length : 4\r\n" + end),
                bad(LINE + HOST + "Content-Length\t: 4\r\n" + end),
                bad(LINE + HOST + ": 4\r\n" + end),
                bad(LINE + HOST + "Content-Length\r\n" + end),
                bad(LINE + HOST + "Content\u00e9: 4\r\n" + end),
                bad(LINE + HOST + "X(y): 4\r\n" + end),
                bad(LINE + HOST + "X: a\rb\r\n" + end),
                bad(LINE + HOST + "X: a\0b\r\n" + end),
                bad(LINE + HOST + "X: a\u007fb\r\n" + end),
                bad(LINE + HOST + "X: a\n" + end),
                bad(LINE + HOST + "X: a\rTransfer-Encoding: chunked\r\n" + end),
                bad(LINE + HOST + "\n"),
                bad(LINE.replace("\r\n", "\n") + HOST + end),
                bad(LINE.replace("\r\n", "\r") + HOST + end),
                // requests in which the host is missing or ambiguous
                bad(LINE + end),
                bad(LINE + HOST + HOST + end),
                bad(LINE + HOST + "Host: other\r\n" + end),
                bad(LINE + "Host:\r\n" + end),
                bad(LINE + "Host: a b\r\n" + end),
                bad(LINE + "Host: user@localhost\r\n" + end),
                bad(LINE + "Host: localhost/path\r\n" + end),
                // requests with an invalid target or request line
                bad("POST http://localhost/com.example.wire.GreetService/echo HTTP/1.1\r\n" + end),
                bad("POST http://localhost/com.example.wire.GreetService/echo HTTP/1.1\r\nHost: a b\r\n" + end),
                bad("POST http:///com.example.wire.GreetService/echo HTTP/1.1\r\n" + HOST + end),
                bad("POST http://user@localhost/com.example.wire.GreetService/echo HTTP/1.1\r\n" + HOST + end),
                bad("POST http://localhost HTTP/1.1#\r\n" + HOST + end),
                bad("POST ftp://localhost/com.example.wire.GreetService/echo HTTP/1.1\r\n" + HOST + end),
                bad("POST com.example.wire.GreetService/echo HTTP/1.1\r\n" + HOST + end),
                bad("POST * HTTP/1.1\r\n" + HOST + end),
                bad("CONNECT localhost:80 HTTP/1.1\r\n" + HOST + end),
                bad("POST /a#b HTTP/1.1\r\n" + HOST + end),
                bad("POST /\u00e9 HTTP/1.1\r\n" + HOST + end),
                bad("POST /a\0b HTTP/1.1\r\n" + HOST + end),
                bad("POST  /a HTTP/1.1\r\n" + HOST + end),
                bad("POST /a  HTTP/1.1\r\n" + HOST + end),
                bad("POST\t/a\tHTTP/1.1\r\n" + HOST + end),
                bad("POST /a b HTTP/1.1\r\n" + HOST + end),
                bad(" POST /a HTTP/1.1\r\n" + HOST + end),
                bad("P@ST /a HTTP/1.1\r\n" + HOST + end),
                bad("POST /a\r\n" + HOST + end),
                bad("POST /a HTTP/1.1 \r\n" + HOST + end),
                bad("POST /a http/1.1\r\n" + HOST + end),
                bad("POST /a HTTP/11\r\n" + HOST + end),
                bad("\r\n\r\n" + LINE + HOST + end),
                bad("\u0016\u0003\u0001 /a HTTP/1.1\r\n" + HOST + end),
                // requests that are refused with a status other than 400
                bad(505, "POST /a HTTP/2.0\r\n" + HOST + end),
                bad(505, "POST /a HTTP/1.2\r\n" + HOST + end),
                bad(505, "PRI * HTTP/2.0\r\n\r\nSM\r\n" + end),
                bad(417, LINE + HOST + "Expect: the-unexpected\r\n" + end),
                bad(414, "POST /" + "a".repeat(4096) + " HTTP/1.1\r\n" + HOST + end),
                bad(431, LINE + HOST + "X: " + "a".repeat(8192) + "\r\n" + end),
                bad(431, LINE + HOST + ("X: " + "a".repeat(100) + "\r\n").repeat(80) + end),
                bad(431, LINE + HOST + "X:\r\n".repeat(128) + end));
    }

    private static Arguments bad(String head) {
        return bad(400, head);
    }

    private static Arguments bad(int status, String head) {
        return arguments(status, head);
    }

    @ParameterizedTest
    @MethodSource("heads")
    void headThatCanBeUnderstoodInTwoWaysIsRefusedAndNothingBehindItIsRead(int status, String head) {
        try (RawSocket socket = RawSocket.connect(server.port())) {
            assertServed(socket);

            // The headers are followed by the end of a chunked body and by two smuggled requests.
            send(socket, head + "0\r\n\r\n" + SMUGGLED + SMUGGLED);

            assertRefused(socket, status);
        }
    }

    /** An HTTP/2 client that sends a wrong preface (RFC 9113, section 3.4) would read an HTTP/1.1 answer as a frame. */
    @ParameterizedTest
    @ValueSource(strings = {"INVALID CONNECTION PREFACE\r\n\r\n", "PRI * HTP/2.0\r\n\r\nSM\r\n\r\n"})
    void bytesOfAnotherProtocolGetNoAnswer(String first) {
        try (RawSocket socket = RawSocket.connect(server.port())) {
            send(socket, first + SMUGGLED);

            assertThat(socket.isClosedByPeer()).as("nothing is answered").isTrue();
        }
    }

    private static void assertRefused(RawSocket socket, int status) {
        Answer answer = Http1Wire.read(socket);
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
        assertThat(answer.header("content-type")).isEqualTo("application/json");
        assertThat(answer.header("connection")).isEqualTo("close");
        assertThat(answer.text()).contains("\"status\":\"" + status + "\"").doesNotContain("smuggled");
        assertThat(socket.isClosedByPeer()).as("nothing follows").isTrue();
    }

    static Stream<Arguments> chunks() {
        return Stream.of(
                        "g\r\n",
                        "\r\n",
                        "-1\r\n",
                        "+2\r\n",
                        "0x2\r\n",
                        " 2\r\n\"\"\r\n0\r\n\r\n",
                        "2 \r\n\"\"\r\n0\r\n\r\n",
                        "2 2;a\r\n\"\"\r\n0\r\n\r\n",
                        "2 a;b\r\n\"\"\r\n0\r\n\r\n",
                        "2\u000b;a\r\n\"\"\r\n0\r\n\r\n",
                        " ;a\r\n\"\"\r\n0\r\n\r\n",
                        "2" + " ".repeat(9_000) + ";a\r\n\"\"\r\n0\r\n\r\n",
                        "2\n\"\"\r\n0\r\n\r\n",
                        "2\r\n\"\"\n0\r\n\r\n",
                        "2\r\n\"\"0\r\n\r\n",
                        "2\r\n\"\"x\r\n0\r\n\r\n",
                        "000000002\r\n\"\"\r\n0\r\n\r\n",
                        "fffffffff\r\n",
                        "2;a\rb\r\n\"\"\r\n0\r\n\r\n",
                        "2;a\nb\r\n\"\"\r\n0\r\n\r\n",
                        "2;" + "a".repeat(9_000) + "\r\n\"\"\r\n0\r\n\r\n",
                        ("1;" + "a".repeat(100) + "\r\n \r\n").repeat(100) + "0\r\n\r\n",
                        "2\r\n\"\"\r\n0\r\nX: a\r\n b\r\n\r\n",
                        "2\r\n\"\"\r\n0\r\nno colon\r\n\r\n",
                        "2\r\n\"\"\r\n0\r\n: no name\r\n\r\n",
                        "2\r\n\"\"\r\n0\r\n" + "X: y\r\n".repeat(2_000) + "\r\n")
                .map(body -> arguments(LINE + HOST + "Transfer-Encoding: chunked\r\n\r\n" + body));
    }

    @ParameterizedTest
    @MethodSource("chunks")
    void malformedChunksAreRefusedAndNoLaterBytesAreRead(String request) {
        try (RawSocket socket = RawSocket.connect(server.port())) {
            assertServed(socket);

            send(socket, request + SMUGGLED + SMUGGLED);

            assertRefused(socket, 400);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "4\r\n\"hi\"\r\n0\r\n\r\n",
                "0004\r\n\"hi\"\r\n00\r\n\r\n",
                "1\r\n\"\r\n1\r\nh\r\n1\r\ni\r\n1\r\n\"\r\n0\r\n\r\n",
                "4;name=value\r\n\"hi\"\r\n0;last\r\n\r\n",
                "4 ;name\r\n\"hi\"\r\n0\t ; last = \"a;b\"\r\n\r\n",
                "4\r\n\"hi\"\r\n0\r\nTransfer-Encoding: chunked\r\nContent-Length: 100\r\n\r\n"
            })
    void unusualButUnambiguousChunksAreRead(String body) {
        String request = LINE + HOST + "Transfer-Encoding: CHUNKED\r\n\r\n" + body;
        try (RawSocket socket = RawSocket.connect(server.port())) {
            for (int i = 0; i < 2; i++) {
                send(socket, request);
                assertThat(Http1Wire.read(socket).text()).isEqualTo("\"hi\"");
            }
            socket.sendByteByByte(request.getBytes(ISO_8859_1));
            assertThat(Http1Wire.read(socket).text()).isEqualTo("\"hi\"");
            assertServed(socket);
        }
    }

    @Test
    void oneEmptyLineBetweenRequestsIsOverlooked() {
        try (RawSocket socket = RawSocket.connect(server.port())) {
            assertServed(socket);

            send(socket, "\r\n" + GOOD);

            assertThat(Http1Wire.read(socket).text()).isEqualTo("\"hi\"");
        }
    }

    @Test
    void targetMayBeAUri() {
        try (RawSocket socket = RawSocket.connect(server.port())) {
            send(socket, GOOD.replace(" /com", " http://localhost:80/com"));

            assertThat(Http1Wire.read(socket).text()).isEqualTo("\"hi\"");
            assertServed(socket);
        }
    }

    @Test
    void headAtItsGreatestSizeIsRead() {
        try (RawSocket socket = RawSocket.connect(server.port())) {
            String line = LINE.replace(" HTTP", "?" + "a".repeat(4096 + 2 - LINE.length() - 1) + " HTTP");
            String fields = HOST + "Content-Length: 4\r\n";
            String fill = "X: " + "a".repeat(8192 - fields.length() - 5) + "\r\n";
            send(socket, line + fields + fill + "\r\n\"hi\"");
            assertThat(Http1Wire.read(socket).text()).isEqualTo("\"hi\"");

            send(socket, LINE + fields + "X:\r\n".repeat(126) + "\r\n\"hi\"");
            assertThat(Http1Wire.read(socket).text()).isEqualTo("\"hi\"");
        }
    }

    @Test
    void requestCutAtAnyByteIsForgottenWithItsConnection() {
        for (int length = 5; length < GOOD.length(); length++) {
            try (RawSocket socket = RawSocket.connect(server.port())) {
                socket.send(GOOD.substring(0, length).getBytes(ISO_8859_1)).endOutput();

                assertThat(socket.isClosedByPeer()).isTrue();
            }
        }
    }
}
