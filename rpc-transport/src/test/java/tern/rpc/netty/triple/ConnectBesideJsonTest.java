package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.google.protobuf.StringValue;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tern.rpc.netty.triple.WebClient.Version;

/**
 * Checks each row of the table in docs/wire-protocol.md 7.1, about Connect calls and plain JSON calls on the same port.
 */
@Timeout(120)
class ConnectBesideJsonTest {

    /** A request that is sent once as a Connect call and once as a plain JSON call, with the expected answers. */
    private record Row(
            String name,
            WebRequest connect,
            Consumer<WebAnswer> connectAnswer,
            WebRequest json,
            Consumer<WebAnswer> jsonAnswer) {}

    /** Matches the metadata in an answer. The equals sign can be escaped, because some JSON encoders escape it. */
    private static final String METADATA =
            "none\\\\nx-a(=|\\\\u003d)b\\\\nc-bin(=|\\\\u003d)AQ(==|\\\\u003d\\\\u003d)\\\\n\"$";

    private static final byte[] HI = StringValue.of("hi").toByteArray();

    @RegisterExtension
    static final WebSides SIDES = new WebSides();

    private static WebRequest json(String method, String body) {
        return WebRequest.post(WebSides.WORDS + method, "application/json").body(body.getBytes(UTF_8));
    }

    private static WebRequest connect(String method, String body) {
        return json(method, body).with("connect-protocol-version", "1");
    }

    private static WebRequest proto(String method, byte[] body) {
        return WebRequest.post(WebSides.WORDS + method, "application/proto").body(body);
    }

    private static WebRequest stream(String method, String... messages) {
        return WebRequest.post(WebSides.WORDS + method, "application/connect+proto")
                .body(TestFrame.of(messages));
    }

    private static WebRequest get(String method, String query) {
        return WebRequest.of("GET", WebSides.WORDS + method + "?" + query);
    }

    private static Consumer<WebAnswer> body(int status, String pattern) {
        return answer -> {
            assertThat(answer.status()).as(answer.text()).isEqualTo(status);
            assertThat(answer.text()).containsPattern(pattern);
        };
    }

    private static Consumer<WebAnswer> header(String name, String value) {
        return answer -> assertThat(answer.header(name)).isEqualTo(value);
    }

    private static Consumer<WebAnswer> frames(int... flags) {
        return answer -> assertThat(TestFrame.parse(answer.body()).stream()
                        .mapToInt(TestFrame::flags)
                        .toArray())
                .isEqualTo(flags);
    }

    private static List<Row> rows() {
        byte[] gzipped = Gzipped.of("\"hi\"".getBytes(UTF_8));
        return List.of(
                new Row(
                        "path",
                        connect("Shout", "\"hi\""),
                        body(200, "^\"HI\"$"),
                        json("shout", "\"hi\""),
                        body(200, "^\"HI\"$")),
                new Row(
                        "unary content types",
                        proto("shout", HI),
                        body(200, "HI$"),
                        proto("shoutJava", HI),
                        body(415, "json")),
                new Row(
                        "unary request body",
                        connect("echoQuery", "[\"a\",\"b\"]"),
                        body(400, "invalid_argument"),
                        json("echoQuery", "[\"a\",\"b\"]"),
                        body(200, "^\"a/b\"$")),
                new Row(
                        "marker",
                        connect("shoutJava", "[\"hi\"]"),
                        body(400, "invalid_argument"),
                        json("shoutJava", "[\"hi\"]"),
                        body(200, "^\"HI\"$")),
                new Row(
                        "unary success",
                        connect("shoutJava", "\"hi\""),
                        header("content-type", "application/json"),
                        json("shoutJava", "\"hi\""),
                        header("content-type", "application/json")),
                new Row(
                        "unary error body",
                        connect("fail", "\"ABORTED no\""),
                        body(409, "^\\{\"code\":\"aborted\",\"message\":\"no\",\"details\":\\[.*\\]\\}$"),
                        json("fail", "\"ABORTED no\""),
                        body(
                                409,
                                "^\\{\"code\":\"aborted\",\"message\":\"no\",\"status\":\"409\",\"details\":\\[.*\\]\\}$")),
                new Row(
                        "error HTTP status",
                        connect("fail", "\"DEADLINE_EXCEEDED\""),
                        body(504, "deadline_exceeded"),
                        json("fail", "\"DEADLINE_EXCEEDED\""),
                        body(504, "deadline_exceeded")),
                new Row(
                        "time-out",
                        connect("describe", "{}")
                                .with("connect-timeout-ms", "1000000")
                                .with("tri-service-timeout", "90000"),
                        body(200, "identity\\\\n[678][0-9]{4}\\\\n"),
                        json("describe", "{}")
                                .with("connect-timeout-ms", "90000")
                                .with("tri-service-timeout", "1000000"),
                        body(200, "identity\\\\n[678][0-9]{4}\\\\n")),
                new Row(
                        "compression, unary",
                        connect("shout", "")
                                .body(gzipped)
                                .with("content-encoding", "gzip")
                                .with("accept-encoding", "identity"),
                        body(200, "^\"HI\"$"),
                        json("shout", "\"hi\"").with("content-encoding", "br"),
                        body(501, "gzip")),
                new Row(
                        "GET",
                        get("shout", "connect=v1&encoding=json&message=%22hi%22"),
                        body(200, "^\"HI\"$"),
                        get("shoutJava", "text=hi"),
                        body(200, "^\"HI\"$")),
                new Row(
                        "GET, with side effects",
                        get("write", "connect=v1&encoding=json&message=%22hi%22"),
                        header("allow", "POST"),
                        get("write", "text=hi"),
                        body(405, "read-only")),
                new Row(
                        "request metadata",
                        connect("describe", "{}").with("x-a", "b").with("c-bin", "AQ"),
                        body(200, METADATA),
                        json("describe", "{}").with("x-a", "b").with("c-bin", "AQ"),
                        body(200, METADATA)),
                new Row(
                        "response metadata",
                        connect("shout", "\"hi\""),
                        header("x-head", "h1, h2"),
                        json("shout", "\"hi\""),
                        header("x-head", "h1, h2")),
                new Row(
                        "trailing metadata, unary",
                        connect("shout", "\"hi\""),
                        header("trailer-x-tail", "t1, t2"),
                        json("shout", "\"hi\""),
                        header("x-tail", "t1, t2")),
                new Row(
                        "streaming content types",
                        stream("count", "1"),
                        header("content-type", "application/connect+proto"),
                        json("count", "\"1\""),
                        header("content-type", "text/event-stream")),
                new Row(
                        "stream framing",
                        stream("count", "2"),
                        frames(0, 0, 2),
                        json("count", "\"2\""),
                        body(200, "^data:\"1\"\n\ndata:\"2\"\n\n$")),
                new Row(
                        "stream end",
                        stream("count", "1 no"),
                        body(
                                200,
                                "\\{\"error\":\\{\"code\":\"aborted\",\"message\":\"no\"\\},\"metadata\":\\{\"x-tail\":\\[\"t1\",\"t2\"\\]"),
                        json("count", "\"1 no\""),
                        body(200, "event:error\ndata:\\{.*\"no\".*\\}\n\n$")),
                new Row(
                        "stream HTTP status",
                        stream("nothing"),
                        body(200, "unimplemented"),
                        json("nothing", ""),
                        body(404, "nothing")),
                new Row(
                        "stream compression",
                        stream("join", "word ".repeat(1000)).with("connect-accept-encoding", "gzip"),
                        frames(1, 2),
                        json("count", "\"1\"").with("accept-encoding", "gzip"),
                        header("content-encoding", "")),
                new Row(
                        "bidirectional, half duplex",
                        stream("shoutLater", "a"),
                        answer -> assertThat(answer.status()).isIn(200, 505),
                        json("shoutLater", "\"a\""),
                        answer -> assertThat(answer.status()).isIn(501, 505)),
                new Row(
                        "unsupported codec",
                        proto("shoutJava", HI),
                        header("accept-post", "application/json"),
                        WebRequest.post(WebSides.WORDS + "shout", "application/yaml"),
                        answer -> assertThat(answer.header("accept-post")).contains("application/json")));
    }

    @TestFactory
    Stream<DynamicTest> everyRowOfTheTableHolds() {
        return rows().stream()
                .flatMap(row -> Arrays.stream(Version.values())
                        .map(version -> dynamicTest(row.name() + ", " + version, () -> {
                            row.connectAnswer().accept(SIDES.send(version, row.connect()));
                            row.jsonAnswer().accept(SIDES.send(version, row.json()));
                        })));
    }
}
