package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Empty;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.StringValue;
import com.google.protobuf.UnknownFieldSet;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.StatusCode;
import tern.rpc.netty.triple.WebClient.Version;

/** Tests unary Connect calls, one HTTP request at a time. */
@Timeout(120)
class ConnectUnaryTest {

    @RegisterExtension
    static final WebSides SIDES = new WebSides();

    private static WebRequest proto(String method) {
        return WebRequest.post(WebSides.WORDS + method, "application/proto").with("connect-protocol-version", "1");
    }

    private static WebRequest proto(String method, String text) {
        return proto(method).body(StringValue.of(text).toByteArray());
    }

    private static WebRequest json(String method, String json) {
        return WebRequest.post(WebSides.WORDS + method, "application/json")
                .with("connect-protocol-version", "1")
                .body(json.getBytes(UTF_8));
    }

    private static String value(WebAnswer answer) {
        return value(answer.body());
    }

    private static String value(byte[] message) {
        try {
            return StringValue.parseFrom(message).getValue();
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError(e);
        }
    }

    private static void assertError(WebAnswer answer, int status, String code, String... words) {
        assertThat(answer.text()).startsWith("{\"code\":\"" + code + "\",\"message\":\"");
        assertThat(List.of(words)).allMatch(answer.text()::contains);
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.header("content-type")).isEqualTo("application/json");
    }

    // ---- message tests

    @ParameterizedTest
    @EnumSource
    void protobufMessageIsAnsweredByAProtobufMessage(Version version) {
        WebAnswer answer = SIDES.send(version, proto("Shout", "hi"));
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.header("content-type")).isEqualTo("application/proto");
        assertThat(answer.header("content-length")).isEqualTo(String.valueOf(answer.body().length));
        assertThat(answer.trailers()).isEmpty();
        assertThat(value(answer)).isEqualTo("HI");
    }

    @ParameterizedTest
    @EnumSource
    void jsonMessageIsAnsweredByAJsonMessage(Version version) {
        WebAnswer answer = SIDES.send(version, json("shout", "\"hi\"").with("x", "y"));
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.header("content-type")).isEqualTo("application/json");
        assertThat(answer.text()).isEqualTo("\"HI\"");
    }

    @ParameterizedTest
    @EnumSource
    void javaMethodTakesJson(Version version) {
        assertThat(SIDES.send(version, json("shoutJava", "\"hi\"")).text()).isEqualTo("\"HI\"");
    }

    @ParameterizedTest
    @EnumSource
    void strictJsonIsTheOneMessage(Version version) {
        WebAnswer array = SIDES.send(version, json("shoutJava", "[\"hi\"]"));
        assertError(array, 400, "invalid_argument", "expected java.lang.String");
        WebAnswer several = SIDES.send(version, json("echoQuery", "[\"a\",\"b\"]"));
        assertError(several, 400, "invalid_argument", "connect-protocol-version");
    }

    @ParameterizedTest
    @EnumSource
    void emptyBodyIsAnEmptyMessage(Version version) {
        assertThat(value(SIDES.send(version, proto("shout")))).isEmpty();
        WebAnswer gzip = SIDES.send(version, proto("shout").with("content-encoding", "gzip"));
        assertThat(gzip.status()).isEqualTo(200);
        WebAnswer json = SIDES.send(version, json("shout", ""));
        assertError(json, 400, "invalid_argument", "no JSON");
    }

    @ParameterizedTest
    @EnumSource
    void bodyMayComeInPieces(Version version) {
        String text = "slow ".repeat(1000);
        byte[] message = StringValue.of(text).toByteArray();
        try (WebClient client = version.connect(SIDES.port)) {
            WebStream stream = client.begin(proto("shout"));
            for (int at = 0; at < message.length; at += 999) {
                stream.send(Arrays.copyOfRange(message, at, Math.min(message.length, at + 999)));
            }
            stream.end();
            assertThat(value(Gzipped.undoneIfMarked(stream.answer()))).isEqualTo("SLOW ".repeat(1000));
        }
    }

    @ParameterizedTest
    @EnumSource
    void malformedMessageIsInvalid(Version version) {
        assertError(
                SIDES.send(version, proto("shout").body(new byte[] {0x0A, 5, 'a'})), 400, "invalid_argument", "read");
        byte[] wrongUtf8 = {0x0A, 2, (byte) 0xC3, 0x28};
        assertError(SIDES.send(version, proto("shout").body(wrongUtf8)), 400, "invalid_argument", "UTF-8");
        assertError(SIDES.send(version, json("shoutJava", "{")), 400, "invalid_argument");
        assertError(SIDES.send(version, json("shoutJava", "17 18")), 400, "invalid_argument");
    }

    @ParameterizedTest
    @EnumSource
    void overloadsCannotBeChosen(Version version) {
        assertError(SIDES.send(version, json("add", "1")), 400, "invalid_argument", "is overloaded");
    }

    @ParameterizedTest
    @EnumSource
    void builtInMethodsAreForTripleAlone(Version version) {
        assertError(SIDES.send(version, json("$echo", "{}")), 501, "unimplemented", "$echo");
    }

    // ---- metadata tests

    @ParameterizedTest
    @EnumSource
    void headersExceptTheProtocolsAreMetadata(Version version) {
        WebAnswer answer = SIDES.send(
                version,
                proto("describe")
                        .with("x-one", "1")
                        .with("x-two", "2")
                        .with("x-two", "3")
                        .with("bytes-bin", "AQL/")
                        .with("padded-bin", "/w==")
                        .with("connect-odd", "reserved")
                        .with("accept-encoding", "br")
                        .with("content-encoding", "identity"));
        assertThat(value(answer).lines())
                .containsExactly(
                        "connect",
                        "identity",
                        "none",
                        "x-one=1",
                        "x-two=2",
                        "x-two=3",
                        "bytes-bin=AQL/",
                        "padded-bin=/w==");
    }

    @ParameterizedTest
    @EnumSource
    void trailersAreHeadersWithAPrefix(Version version) {
        WebAnswer answer = SIDES.send(version, proto("shout", "hi"));
        assertMetadata(answer);
        assertThat(answer.headers()).doesNotContainKeys("connect-secret", "trailer-connect-secret", "x-tail");
    }

    private static void assertMetadata(WebAnswer answer) {
        assertThat(answer.header("x-head")).isEqualTo("h1, h2");
        assertThat(answer.header("x-head-bytes-bin")).isEqualTo("AQL/");
        assertThat(answer.header("trailer-x-tail")).isEqualTo("t1, t2");
        assertThat(answer.header("trailer-x-tail-bytes-bin")).isEqualTo("/w");
        assertThat(answer.headers().keySet()).noneMatch(name -> name.contains("tri-header"));
    }

    // ---- error tests

    static Stream<Arguments> codes() {
        return Arrays.stream(Version.values())
                .flatMap(version -> Arrays.stream(StatusCode.values())
                        .filter(code -> code != StatusCode.OK)
                        .map(code -> Arguments.of(version, code)));
    }

    @ParameterizedTest
    @MethodSource("codes")
    void failureHasTheStatusOfItsCode(Version version, StatusCode code) {
        WebAnswer answer = SIDES.send(version, proto("fail", code.name()));
        assertThat(answer.status()).isEqualTo(StatusTable.httpStatus(code));
        assertThat(answer.header("content-type")).isEqualTo("application/json");
        assertThat(answer.text())
                .isEqualTo("{\"code\":\"" + StatusTable.connectName(code)
                        + "\",\"details\":[{\"type\":\"google.protobuf.Int32Value\",\"value\":\"CKwC\"}]}");
        assertMetadata(answer);
    }

    @ParameterizedTest
    @EnumSource
    void descriptionOfAFailureIsAnyText(Version version) {
        WebAnswer answer = SIDES.send(version, proto("fail", "ABORTED \n\t\"a\\b\"\u0001 \u263A \uD83D\uDE08"));
        assertThat(answer.text()).contains("\"message\":\"\\n\\t\\\"a\\\\b\\\"\\u0001 \u263A \uD83D\uDE08\"");
    }

    @ParameterizedTest
    @EnumSource
    void unknownPathIsNotFound(Version version) {
        assertError(SIDES.send(version, proto("nothing")), 404, "unimplemented", "nothing");
        WebRequest service = WebRequest.post("/no.such.Service/x", "application/proto");
        assertError(SIDES.send(version, service), 404, "unimplemented", "no.such.Service");
    }

    @ParameterizedTest
    @EnumSource
    void otherVersionOfTheProtocolIsRefused(Version version) {
        WebRequest request = WebRequest.post(WebSides.WORDS + "shout", "application/proto");
        assertError(SIDES.send(version, request.with("connect-protocol-version", "2")), 400, "invalid_argument", "'2'");
        assertThat(SIDES.send(version, request).status()).isEqualTo(200);
    }

    @ParameterizedTest
    @EnumSource
    void codecThatTheMethodDoesNotHaveIsUnsupported(Version version) {
        WebAnswer answer = SIDES.send(version, proto("shoutJava"));
        assertThat(answer.status()).isEqualTo(415);
        assertThat(answer.header("accept-post")).isEqualTo("application/json");
        assertThat(answer.header("content-type")).startsWith("text/plain");
    }

    // ---- compression tests

    @ParameterizedTest
    @EnumSource
    void compressedRequestIsRead(Version version) {
        WebRequest request = proto("describe").with("content-encoding", "gzip");
        WebAnswer answer = SIDES.send(
                version,
                request.body(Gzipped.of(Empty.newBuilder()
                        .setUnknownFields(UnknownFieldSet.newBuilder()
                                .mergeVarintField(9, 9)
                                .build())
                        .build()
                        .toByteArray())));
        assertThat(value(answer).lines()).startsWith("connect", "gzip");
    }

    @ParameterizedTest
    @EnumSource
    void answerIsCompressedForCallersThatAcceptIt(Version version) {
        WebAnswer listed = SIDES.send(version, proto("repeat", "500").with("accept-encoding", "br, gzip;q=0.5"));
        assertThat(listed.header("content-encoding")).isEqualTo("gzip");
        assertThat(listed.body().length).isLessThan(200);
        assertThat(value(Gzipped.undone(listed.body()))).hasSize(2500);
        WebRequest compressed = proto("repeat").with("content-encoding", "gzip");
        WebAnswer asSent = SIDES.send(
                version, compressed.body(Gzipped.of(StringValue.of("500").toByteArray())));
        assertThat(asSent.header("content-encoding")).isEqualTo("gzip");
    }

    @ParameterizedTest
    @EnumSource
    void answerIsNotCompressedForOthers(Version version) {
        for (String accepted : List.of("br", "identity", "gzip;q=0", "gzip; q=0.00", "gzipped")) {
            WebAnswer answer = SIDES.send(version, proto("repeat", "500").with("accept-encoding", accepted));
            assertThat(answer.headers()).as(accepted).doesNotContainKey("content-encoding");
            assertThat(value(answer)).hasSize(2500);
        }
    }

    @ParameterizedTest
    @EnumSource
    void unknownCodingIsReportedWithTheKnownOnes(Version version) {
        WebAnswer answer = SIDES.send(version, proto("shout", "hi").with("content-encoding", "zstd"));
        assertError(answer, 501, "unimplemented", "zstd", "gzip");
        assertThat(answer.header("accept-encoding")).isEqualTo("gzip");
    }

    @ParameterizedTest
    @EnumSource
    void invalidGzipIsRefused(Version version) {
        WebRequest request = proto("shout", "hi").with("content-encoding", "gzip");
        assertError(SIDES.send(version, request), 400, "invalid_argument", "gzip");
    }

    // ---- limit tests

    @ParameterizedTest
    @EnumSource
    void requestAboveTheLimitIsRefused(Version version) {
        WebAnswer answer = SIDES.send(version, proto("shout").body(new byte[WebSides.LIMIT + 1]));
        assertError(answer, 429, "resource_exhausted", "65536", "rpc.limits.max-request");
    }

    @ParameterizedTest
    @EnumSource
    void gzipBombIsRefused(Version version) {
        WebRequest request = proto("shout").with("content-encoding", "gzip");
        WebAnswer answer = SIDES.send(version, request.body(Gzipped.of(new byte[16 << 20])));
        assertError(answer, 429, "resource_exhausted", "65536");
    }

    @ParameterizedTest
    @EnumSource
    void answerAboveTheLimitIsAFailure(Version version) {
        WebAnswer answer = SIDES.send(version, proto("repeat", "20000"));
        assertError(
                answer,
                429,
                "resource_exhausted",
                "the answer exceeds the limit of the server",
                "rpc.limits.max-response");
    }

    // ---- deadline tests

    @ParameterizedTest
    @EnumSource
    void timeoutIsTheSmallerOfBoth(Version version) {
        WebRequest request = proto("describe").with("connect-timeout-ms", "9999999999");
        assertThat(millisLeft(version, request)).isBetween(9_999_000_000L, 9_999_999_999L);
        assertThat(millisLeft(version, request.with("tri-service-timeout", "90000")))
                .isBetween(60_000L, 90_000L);
        assertThat(millisLeft(version, proto("describe").with("tri-service-timeout", "90000")))
                .isBetween(60_000L, 90_000L);
    }

    private static long millisLeft(Version version, WebRequest request) {
        return Long.parseLong(
                value(SIDES.send(version, request)).lines().toList().get(2));
    }

    @ParameterizedTest
    @EnumSource
    void timeoutThatIsNoNumberIsRefused(Version version) {
        for (String wrong : List.of("", "99999999990", "1s", "-1", "+1", "1.5")) {
            WebAnswer answer = SIDES.send(version, proto("shout", "hi").with("connect-timeout-ms", wrong));
            assertError(answer, 400, "invalid_argument", "connect-timeout-ms");
        }
    }

    @ParameterizedTest
    @EnumSource
    void callThatRunsTooLongIsAnswered(Version version) throws Exception {
        try (WebSides own = new WebSides()) {
            WebAnswer answer = own.send(version, proto("hang").with("connect-timeout-ms", "2000"));
            assertError(answer, 504, "deadline_exceeded");
            assertThat(own.words.cancelled.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void methodIsNotifiedWhenTheCallerLeaves(Version version) throws Exception {
        try (WebSides own = new WebSides();
                WebClient client = version.connect(own.port)) {
            WebStream stream = client.begin(proto("hang"));
            stream.end();
            assertThat(own.words.hanging.await(30, TimeUnit.SECONDS)).isTrue();
            stream.cancel();
            assertThat(own.words.cancelled.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    // ---- GET tests

    private static WebRequest get(String method, String query) {
        return WebRequest.of("GET", WebSides.WORDS + method + "?" + query);
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    @ParameterizedTest
    @EnumSource
    void messageMayBeInTheQuery(Version version) {
        WebAnswer json = SIDES.send(version, get("shout", "connect=v1&encoding=json&message=%22h+%C3%A4%22"));
        assertThat(json.text()).isEqualTo("\"H \u00C4\"");
        assertThat(json.header("content-type")).isEqualTo("application/json");
        assertThat(json.header("vary")).isEqualTo("accept-encoding");
        assertMetadata(json);
        WebAnswer proto = SIDES.send(
                version,
                get(
                        "Shout",
                        "message=" + base64(StringValue.of("h\u00E4>?").toByteArray())
                                + "&base64=1&odd=2&encoding=proto"));
        assertThat(value(proto)).isEqualTo("H\u00C4>?");
        assertThat(proto.header("content-type")).isEqualTo("application/proto");
        WebAnswer padded = SIDES.send(version, get("shout", "encoding=json&base64=1&message=ImhpIg%3D%3D&connect=v1"));
        assertThat(padded.text()).isEqualTo("\"HI\"");
    }

    @ParameterizedTest
    @EnumSource
    void messageInTheQueryMayBeCompressed(Version version) {
        byte[] gzipped = Gzipped.of(StringValue.of("hi").toByteArray());
        WebAnswer answer = SIDES.send(
                version,
                get("shout", "connect=v1&encoding=proto&compression=gzip&base64=1&message=" + base64(gzipped)));
        assertThat(answer.header("content-encoding")).isEqualTo("gzip");
        assertThat(value(Gzipped.undone(answer.body()))).isEqualTo("HI");
        WebAnswer none = SIDES.send(version, get("shout", "connect=v1&encoding=proto&compression=gzip&message="));
        assertThat(none.status()).isEqualTo(200);
        assertError(
                SIDES.send(version, get("shout", "connect=v1&encoding=proto&compression=br&message=")),
                501,
                "unimplemented",
                "gzip");
    }

    @ParameterizedTest
    @EnumSource
    void onlyReadOnlyMethodsTakeGet(Version version) {
        WebAnswer answer = SIDES.send(version, get("write", "connect=v1&encoding=json&message=%22a%22"));
        assertThat(answer.status()).isEqualTo(405);
        assertThat(answer.header("allow")).isEqualTo("POST");
    }

    @ParameterizedTest
    @EnumSource
    void wrongQueriesAreRefused(Version version) {
        assertError(
                SIDES.send(version, get("shout", "connect=v1&encoding=json&base64=1&message=%20%20")),
                400,
                "invalid_argument",
                "base64");
        assertError(
                SIDES.send(version, get("shout", "connect=v2&encoding=json&message=1")), 400, "invalid_argument", "v2");
        WebAnswer codec = SIDES.send(version, get("shout", "connect=v1&encoding=xml&message=1"));
        assertThat(codec.status()).isEqualTo(415);
        assertError(SIDES.send(version, get("nothing", "connect=v1&encoding=json&message=1")), 404, "unimplemented");
    }
}
