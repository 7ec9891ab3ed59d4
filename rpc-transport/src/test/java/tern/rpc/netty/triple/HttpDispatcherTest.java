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

/** Checks each row of the table in docs/wire-protocol.md 7.2. */
@Timeout(120)
class HttpDispatcherTest {

    /** A request for one row of the table in docs/wire-protocol.md 7.2, and a check of the answer. */
    private record Row(String name, WebRequest request, Consumer<WebAnswer> expected, List<Version> versions) {}

    @RegisterExtension
    static final WebSides SIDES = new WebSides();

    private static Row row(String name, WebRequest request, Consumer<WebAnswer> expected, Version... versions) {
        return new Row(name, request, expected, List.of(versions.length == 0 ? Version.values() : versions));
    }

    private static WebRequest describe(String contentType) {
        return WebRequest.post(WebSides.WORDS + "describe", contentType)
                .body(contentType.contains("json") ? "{}".getBytes(UTF_8) : new byte[0]);
    }

    private static WebRequest framed(String contentType) {
        WebRequest bare = describe(contentType);
        return bare.body(TestFrame.of(0, bare.body()));
    }

    /** Returns a check that the service was called with the given protocol. */
    private static Consumer<WebAnswer> servedBy(String protocol) {
        return answer -> {
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).containsPattern("^[^a-z]*" + protocol + "(\n|\\\\n)");
        };
    }

    private static Consumer<WebAnswer> httpStatus(int status) {
        return answer -> assertThat(answer.status()).isEqualTo(status);
    }

    private static Consumer<WebAnswer> header(String name, String value) {
        return answer -> assertThat(answer.header(name)).isEqualTo(value);
    }

    private static Stream<Row> rows() {
        WebRequest connectGet = WebRequest.of("GET", WebSides.WORDS + "shout?encoding=json&message=%22a%22");
        WebRequest otherGet = WebRequest.of("GET", WebSides.WORDS + "echoQuery?encoding=json&message=%22a%22");
        WebRequest json = describe("application/json");
        return Stream.of(
                row("1 gRPC-Web", framed("application/grpc-web"), servedBy("grpc-web")),
                row("1 gRPC-Web, subtype", framed("application/grpc-web+proto"), servedBy("grpc-web")),
                row("1 gRPC-Web, JSON", framed("application/grpc-web+json"), servedBy("grpc-web")),
                row(
                        "1 gRPC-Web, text",
                        describe("application/grpc-web-text").body("AAAAAAA=".getBytes(UTF_8)),
                        header("content-type", "application/grpc-web-text")),
                row("1 gRPC-Web, unknown subtype", framed("application/grpc-web+xml"), httpStatus(415)),
                row("2 gRPC", framed("application/grpc"), servedBy("tri"), Version.HTTP2),
                row("2 gRPC, subtype", framed("application/grpc+proto"), servedBy("tri"), Version.HTTP2),
                row("2 gRPC, JSON", framed("application/grpc+json"), servedBy("tri"), Version.HTTP2),
                row(
                        "2 gRPC, wrappers of hessian2",
                        framed("application/grpc+hessian2"),
                        servedBy("tri"),
                        Version.HTTP2),
                row(
                        "2 gRPC, parameter of the type",
                        framed("application/grpc; charset=utf-8"),
                        servedBy("tri"),
                        Version.HTTP2),
                row("2 gRPC, unknown subtype", framed("application/grpc+xml"), httpStatus(415)),
                row("3 gRPC over HTTP/1.1", framed("application/grpc"), httpStatus(505), Version.HTTP1),
                row("3 gRPC with JSON over HTTP/1.1", framed("application/grpc+json"), httpStatus(505), Version.HTTP1),
                row(
                        "4 Connect streaming",
                        WebRequest.post(WebSides.WORDS + "join", "application/connect+proto"),
                        header("content-type", "application/connect+proto")),
                row(
                        "4 Connect streaming, JSON",
                        WebRequest.post(WebSides.WORDS + "join", "application/connect+json"),
                        header("content-type", "application/connect+json")),
                row("5 Connect, protobuf", describe("application/proto"), servedBy("connect")),
                row("6 Connect, JSON", json.with("connect-protocol-version", "1"), servedBy("connect")),
                row(
                        "7 Connect by GET",
                        WebRequest.of("GET", connectGet.path() + "&connect=v1"),
                        header("trailer-x-tail", "t1, t2")),
                row("7 Connect by GET, not marked", connectGet, header("trailer-x-tail", "t1, t2")),
                row(
                        "7 GET for parameters of these names",
                        otherGet,
                        answer -> assertThat(answer.text()).isEqualTo("\"json/\\\"a\\\"\"")),
                row("7 the same, marked", WebRequest.of("GET", otherGet.path() + "&connect=v1"), httpStatus(400)),
                row("8 OPTIONS", WebRequest.of("OPTIONS", json.path()), httpStatus(204)),
                row("9 JSON", json, servedBy("http")),
                row("9 no content type", WebRequest.of("POST", json.path()), servedBy("http")),
                row("9 PUT", WebRequest.of("PUT", json.path()), servedBy("http")),
                row(
                        "9 no query",
                        WebRequest.of("GET", WebSides.WORDS + "shoutJava?text=a"),
                        header("content-type", "application/json")),
                row("other content types", describe("image/jpeg"), httpStatus(415)),
                row(
                        "other verbs of gRPC",
                        WebRequest.of("GET", json.path()).with("content-type", "application/grpc"),
                        httpStatus(405)),
                row(
                        "other verbs of gRPC-Web",
                        WebRequest.of("PUT", json.path()).with("content-type", "application/grpc-web"),
                        httpStatus(405)),
                row(
                        "other verbs of Connect",
                        WebRequest.of("DELETE", json.path()).with("content-type", "application/proto"),
                        httpStatus(405)));
    }

    @TestFactory
    Stream<DynamicTest> requestIsServedByTheProtocolOfItsHeaders() {
        return rows().flatMap(HttpDispatcherTest::tests);
    }

    private static Stream<DynamicTest> tests(Row row) {
        return row.versions().stream()
                .map(version -> dynamicTest(
                        row.name() + ", " + version, () -> row.expected().accept(SIDES.send(version, row.request()))));
    }

    /** Connect's clients derive the code only from the HTTP status, so the body must not contain a different code. */
    @TestFactory
    Stream<DynamicTest> refusalsOfHttpAreNoErrorsOfConnect() {
        return Stream.of("image/jpeg", "application/foo", "application/connect+foo", "application/grpc-web+foo")
                .flatMap(type -> Arrays.stream(Version.values())
                        .map(version -> dynamicTest(type + ", " + version, () -> {
                            WebAnswer answer =
                                    SIDES.send(version, describe(type).with("connect-protocol-version", "1"));
                            assertThat(answer.status()).isEqualTo(415);
                            assertThat(answer.header("content-type")).startsWith("text/plain");
                            assertThat(answer.header("accept-post"))
                                    .contains("application/json", "application/proto", "application/grpc-web");
                        })));
    }

    /** With every protocol, the answer must report a failure of the service, not a mistake by the caller. */
    @TestFactory
    Stream<DynamicTest> metadataThatCannotBeSentIsAFailureOfTheService() {
        String path = WebSides.WORDS + "misspell";
        return Stream.of("headers", "trailers").flatMap(where -> {
            byte[] proto = StringValue.of(where).toByteArray();
            byte[] json = ('"' + where + '"').getBytes(UTF_8);
            return Stream.of(
                            row(
                                    "Connect, " + where,
                                    WebRequest.post(path, "application/proto").body(proto),
                                    httpStatus(500)),
                            row(
                                    "gRPC-Web, " + where,
                                    WebRequest.post(path, "application/grpc-web")
                                            .body(TestFrame.of(0, proto)),
                                    header("grpc-status", "13")),
                            row(
                                    "gRPC, " + where,
                                    WebRequest.post(path, "application/grpc").body(TestFrame.of(0, proto)),
                                    header("grpc-status", "13"),
                                    Version.HTTP2),
                            row(
                                    "JSON, " + where,
                                    WebRequest.post(path, "application/json").body(json),
                                    httpStatus(500)))
                    .flatMap(HttpDispatcherTest::tests);
        });
    }
}
