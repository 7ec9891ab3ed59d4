package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Headers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.triple.Http1Wire.Answer;
import tern.rpc.server.RpcServer;

/**
 * Tests valid but unusual requests as the first bytes of a connection. The answer to each request explains the problem.
 * The connection then serves the next request or is closed.
 */
@Timeout(60)
class OddRequestsTest {

    private static final TripleSides SIDES = new TripleSides();
    private static final String ECHO = "/com.example.wire.GreetService/echo";
    private static final String REST = " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n\"hi\"";

    private static RpcServer server;

    @BeforeAll
    static void start() {
        server = SIDES.serve(limits -> limits, settings -> {});
    }

    @AfterAll
    static void stop() throws Exception {
        Await.until("every connection is gone", () -> server.connections() == 0);
        SIDES.close();
    }

    private static RawSocket connect(String request) {
        return RawSocket.connect(server.port()).send(request.getBytes(ISO_8859_1));
    }

    private static void assertServed(RawSocket socket) {
        socket.send(("POST " + ECHO + REST).getBytes(ISO_8859_1));
        Answer answer = Http1Wire.read(socket);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        assertThat(answer.text()).isEqualTo("\"hi\"");
    }

    private static void assertError(Answer answer, int status, String text) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
        assertThat(answer.header("content-type")).isEqualTo("application/json");
        assertThat(answer.text()).contains("\"status\":\"" + status + "\"").contains(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "FOO",
                "X",
                "post",
                "get",
                "Post",
                "TRACE",
                "PROPFIND",
                "M-SEARCH",
                "UPDATEREDIRECTREF",
                "PRIVATE"
            })
    void unknownMethodIsRefusedByItsName(String method) {
        try (RawSocket socket = connect(method + ' ' + ECHO + REST)) {
            Answer answer = Http1Wire.read(socket);

            assertError(answer, 405, "the HTTP method " + method + " is not served; use POST");
            assertThat(answer.header("allow")).contains("POST");
            assertServed(socket);
        }
    }

    @Test
    void methodThatArrivesByteByByteIsRefusedToo() {
        try (RawSocket socket = RawSocket.connect(server.port())) {
            socket.sendByteByByte(("FOO " + ECHO + REST).getBytes(ISO_8859_1));

            assertError(Http1Wire.read(socket), 405, "FOO");
            assertServed(socket);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PRI /x HTTP/1.1\r\n\r\n",
                "SSH-2.0-OpenSSH_9.6\r\n",
                "*1\r\n$4\r\nPING\r\n",
                "\r\r\n",
                " / HTTP/1.1\r\n\r\n",
                "foo bar baz\r\n\r\n",
                "ANAMETHATNOMETHODCANHAVE / HTTP/1.1\r\n\r\n"
            })
    void bytesOfOtherProtocolsCloseTheConnection(String bytes) {
        try (RawSocket socket = connect(bytes)) {
            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void emptyLineBeforeTheFirstRequestIsSkipped() {
        try (RawSocket socket = connect("\r\n")) {
            assertServed(socket);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /x\r\n\r\n", "FOO\r\n\r\n", "FOO /x\r\n\r\n"})
    void requestLineWithoutAVersionIsRefusedOrClosesTheConnection(String bytes) {
        try (RawSocket socket = connect(bytes)) {
            if (bytes.indexOf(' ') > 0) {
                assertError(Http1Wire.read(socket), 400, "request line");
            }
            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({"*, ''", "/, ''", ECHO + ", 'Origin: https://other.example\r\n'"})
    void optionsAreAnswered(String target, String header) {
        try (RawSocket socket = connect("OPTIONS " + target + " HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n")) {
            Answer answer = Http1Wire.read(socket);

            assertThat(answer.status()).isBetween(200, 204);
            assertThat(answer.header("allow")).contains("POST");
            assertServed(socket);
        }
    }

    @Test
    void headOfAMethodThatIsNotReadOnlyIsRefusedWithoutABody() {
        try (RawSocket socket = connect("HEAD " + ECHO + " HTTP/1.1\r\nHost: localhost\r\n\r\n")) {
            Answer answer = Http1Wire.readHead(socket);

            assertThat(answer.status()).isEqualTo(405);
            assertServed(socket);
        }
    }

    @Test
    void oldVersionNeedsNoHostAndIsClosed() {
        try (RawSocket socket = connect("POST " + ECHO + " HTTP/1.0\r\nContent-Length: 4\r\n\r\n\"hi\"")) {
            Answer answer = Http1Wire.read(socket);

            assertThat(answer.text()).isEqualTo("\"hi\"");
            assertThat(answer.header("connection")).isEqualTo("close");
            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({
        ECHO + "/, 200",
        ECHO + "?, 200",
        ECHO + "?a=b&c, 200",
        "/com.example.wire.%47reetService/echo, 200",
        "/com.example.wire.GreetService%2Fecho, 200",
        "//com.example.wire.GreetService/echo, 404",
        "/com.example.wire.GreetService//echo, 404",
        ECHO + "//, 404",
        "/com.example.wire.GreetService/./echo, 404",
        "/x/.." + ECHO + ", 404",
        "/com.example.wire.GreetService, 404",
        "/, 404",
        "//, 404",
        "/%, 400",
        "/%zz, 400",
        "/%00, 404",
        ECHO + "?a=%, 400",
        ECHO + "?a=%C3%A9%EF%BF%BD, 200",
        ECHO + "?a=%C3, 400",
        ECHO + "?%C3%28=b, 400"
    })
    void pathsAreServedOrRefusedInJson(String target, int status) {
        try (RawSocket socket = connect("POST " + target + REST)) {
            Answer answer = Http1Wire.read(socket);

            assertThat(answer.status()).as(answer.text()).isEqualTo(status);
            assertThat(answer.header("content-type")).isEqualTo("application/json");
            if (status != 200) {
                assertError(answer, status, "message");
            }
            assertServed(socket);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"FOO", "post", "TRACE", "CONNECT"})
    void unknownMethodIsRefusedOnHttp2Too(String method) {
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            Http2Headers head = Http2Wire.head(ECHO, "application/json").method(method);
            wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS | Http2Wire.END_STREAM, 1, Http2Wire.block(head));

            assertThat(wire.answer(1).head().status()).asString().isEqualTo("405");

            Http2Headers good = Http2Wire.head(ECHO, "application/json");
            wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, 3, Http2Wire.block(good));
            wire.frame(Http2Wire.DATA, Http2Wire.END_STREAM, 3, "\"hi\"".getBytes(ISO_8859_1));
            assertThat(wire.answer(3).head().status()).asString().isEqualTo("200");
        }
    }
}
