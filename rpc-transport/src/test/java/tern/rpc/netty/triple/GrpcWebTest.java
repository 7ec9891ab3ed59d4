package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Empty;
import com.google.protobuf.StringValue;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.triple.WebClient.Version;

/** Tests gRPC-Web calls, one HTTP request at a time. */
@Timeout(120)
class GrpcWebTest {

    private static final int TRAILERS = 0x80;

    @RegisterExtension
    static final WebSides SIDES = new WebSides();

    private static WebRequest request(String method, String... messages) {
        return WebRequest.post(WebSides.WORDS + method, "application/grpc-web+proto")
                .with("x-grpc-web", "1")
                .with("x-user-agent", "grpc-web-javascript/0.1")
                .body(TestFrame.of(messages));
    }

    private static WebRequest text(String method, byte[] body) {
        return WebRequest.post(WebSides.WORDS + method, "application/grpc-web-text")
                .body(body);
    }

    private static WebAnswer send(Version version, WebRequest request) {
        WebAnswer answer = SIDES.send(version, request);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.trailers()).isEmpty();
        return answer;
    }

    /** Returns the payloads of the messages in a body, and checks the trailers at the end of the body. */
    private static List<String> messages(byte[] body) {
        List<TestFrame> frames = TestFrame.parse(body);
        assertThat(frames.get(frames.size() - 1).flags()).isEqualTo(TRAILERS);
        return TestFrame.texts(frames.subList(0, frames.size() - 1));
    }

    private static Map<String, List<String>> trailers(byte[] body) {
        List<TestFrame> frames = TestFrame.parse(body);
        String lines = frames.get(frames.size() - 1).text();
        assertThat(lines).endsWith("\r\n").doesNotContain("\r\n\r\n");
        Map<String, List<String>> trailers = new TreeMap<>();
        for (String line : lines.split("\r\n")) {
            String[] parts = line.split(":", 2);
            trailers.computeIfAbsent(parts[0], name -> new ArrayList<>()).add(parts[1]);
        }
        return trailers;
    }

    private static void assertStatus(WebAnswer answer, int code, String words) {
        assertThat(answer.header("grpc-status"))
                .as(answer.header("grpc-message"))
                .isEqualTo(String.valueOf(code));
        assertThat(answer.header("grpc-message")).contains(words);
        assertThat(answer.body()).isEmpty();
    }

    // ---- message tests

    @ParameterizedTest
    @ValueSource(strings = {"application/grpc-web", "application/grpc-web+proto"})
    void answerHasTheContentTypeOfTheRequest(String contentType) {
        for (Version version : Version.values()) {
            WebAnswer answer = send(
                    version,
                    WebRequest.post(WebSides.WORDS + "Shout", contentType).body(TestFrame.of("hi")));
            assertThat(answer.header("content-type")).isEqualTo(contentType);
            assertThat(messages(answer.body())).containsExactly("HI");
            assertThat(trailers(answer.body())).containsEntry("grpc-status", List.of("0"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void javaMethodTakesJson(Version version) {
        WebRequest request = WebRequest.post(WebSides.WORDS + "shoutJava", "application/grpc-web+json");
        WebAnswer answer = send(version, request.body(TestFrame.of(0, "\"hi\"".getBytes(ISO_8859_1))));
        assertThat(answer.header("content-type")).isEqualTo("application/grpc-web+json");
        assertThat(TestFrame.parse(answer.body()).get(0).text()).isEqualTo("\"HI\"");
    }

    @ParameterizedTest
    @EnumSource
    void metadataIsInHeadersAndInTheLastFrame(Version version) {
        WebAnswer answer = send(version, request("shout", "hi"));
        assertThat(answer.header("x-head")).isEqualTo("h1, h2");
        assertThat(answer.header("x-head-bytes-bin")).isEqualTo("AQL/");
        assertThat(answer.headers()).doesNotContainKeys("x-tail", "grpc-status");
        assertThat(trailers(answer.body()))
                .containsEntry("x-tail", List.of("t1", "t2"))
                .containsEntry("x-tail-bytes-bin", List.of("/w"));
    }

    @ParameterizedTest
    @EnumSource
    void headersExceptTheProtocolsAreMetadata(Version version) {
        WebAnswer answer = send(
                version,
                request("describe", "")
                        .with("x-one", "1")
                        .with("bytes-bin", "AQL/,/w==")
                        .with("grpc-timeout", "90S"));
        List<String> lines = messages(answer.body()).get(0).lines().toList();
        assertThat(lines.subList(0, 2)).containsExactly("grpc-web", "identity");
        assertThat(Long.parseLong(lines.get(2))).isBetween(60_000L, 90_000L);
        assertThat(lines.subList(3, lines.size())).containsExactly("x-one=1", "bytes-bin=AQL/", "bytes-bin=/w==");
    }

    // ---- base64 tests

    @ParameterizedTest
    @EnumSource
    void textIsInBase64BothWays(Version version) {
        byte[] body = Base64.getEncoder().encode(TestFrame.of("hi"));
        WebAnswer answer = send(version, text("shout", body));
        assertThat(answer.header("content-type")).isEqualTo("application/grpc-web-text");
        assertThat(messages(decoded(answer.text()))).containsExactly("HI");
    }

    @ParameterizedTest
    @EnumSource
    void piecesOfTextMayEachEndInPadding(Version version) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (byte one : TestFrame.of("hi")) {
            body.writeBytes(Base64.getEncoder().encode(new byte[] {one}));
        }
        assertThat(messages(
                        decoded(send(version, text("shout", body.toByteArray())).text())))
                .containsExactly("HI");
    }

    @ParameterizedTest
    @EnumSource
    void groupsOfTextMayComeInPieces(Version version) {
        byte[] body = Base64.getEncoder().encode(TestFrame.of("hello"));
        try (WebClient client = version.connect(SIDES.port)) {
            WebStream stream = client.begin(text("shout", new byte[0]));
            for (byte character : body) {
                stream.send(new byte[] {character});
            }
            stream.end();
            assertThat(messages(decoded(stream.answer().text()))).containsExactly("HELLO");
        }
    }

    @ParameterizedTest
    @EnumSource
    void whoAcceptsTextGetsText(Version version) {
        WebAnswer answer = send(version, request("shout", "hi").with("accept", "application/grpc-web-text"));
        assertThat(answer.header("content-type")).isEqualTo("application/grpc-web-text+proto");
        assertThat(messages(decoded(answer.text()))).containsExactly("HI");
    }

    @ParameterizedTest
    @EnumSource
    void invalidBase64IsRefused(Version version) {
        assertStatus(send(version, text("shout", "AAAA*AAA".getBytes(ISO_8859_1))), 3, "base64");
        assertStatus(send(version, text("shout", "AAAAA".getBytes(ISO_8859_1))), 3, "group of 4");
    }

    /** Decodes each group of four characters separately, because any group can end in padding. */
    private static byte[] decoded(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int at = 0; at < text.length(); at += 4) {
            bytes.writeBytes(Base64.getDecoder().decode(text.substring(at, at + 4)));
        }
        return bytes.toByteArray();
    }

    // ---- error tests

    @ParameterizedTest
    @EnumSource
    void failureBeforeAnyMessageIsInTheHeaders(Version version) {
        assertStatus(send(version, request("nothing", "")), 12, "nothing");
        WebAnswer late = send(version, request("shout", "hi").with("grpc-timeout", "soon"));
        assertStatus(late, 13, "grpc-timeout");
    }

    @ParameterizedTest
    @EnumSource
    void failureAfterTheHeadersIsInTheLastFrame(Version version) {
        WebAnswer answer = send(version, request("fail", "ABORTED no \u00E9%"));
        assertThat(answer.header("x-head")).isEqualTo("h1, h2");
        assertThat(messages(answer.body())).isEmpty();
        assertThat(trailers(answer.body()))
                .containsEntry("grpc-status", List.of("10"))
                .containsEntry("grpc-message", List.of("no %C3%A9%25"))
                .containsEntry("x-tail", List.of("t1", "t2"));
        byte[] details = Base64.getDecoder()
                .decode(trailers(answer.body()).get("grpc-status-details-bin").get(0));
        assertThat(StatusDetails.decode(details).details().get(0).typeUrl())
                .isEqualTo("type.googleapis.com/google.protobuf.Int32Value");
    }

    @ParameterizedTest
    @EnumSource
    void javaMethodTakesNoProtobuf(Version version) {
        assertStatus(send(version, request("shoutJava", "hi")), 12, "application/grpc-web%2Bjson");
    }

    @ParameterizedTest
    @EnumSource
    void otherCountOfMessagesIsRefused(Version version) {
        assertStatus(send(version, request("shout")), 12, "has none");
        assertStatus(send(version, request("shout", "a", "b")), 12, "has more");
        assertStatus(send(version, request("count")), 12, "has none");
        assertStatus(send(version, request("count", "1", "2")), 12, "has more");
    }

    @ParameterizedTest
    @EnumSource
    void requestThatIsCutIsRefused(Version version) {
        byte[] whole = TestFrame.of("hello");
        for (int length : new int[] {3, 5, whole.length - 1}) {
            WebRequest cut = request("shout").body(Arrays.copyOf(whole, length));
            assertStatus(send(version, cut), 13, "within a message");
        }
    }

    @ParameterizedTest
    @EnumSource
    void flagsOfAnswersAreRefused(Version version) {
        WebRequest request = request("shout").body(TestFrame.of(TRAILERS, new byte[0]));
        assertStatus(send(version, request), 13, "0x80");
    }

    @ParameterizedTest
    @EnumSource
    void otherVerbsAndSubtypesAreRefusedByHttp(Version version) {
        WebAnswer verb = SIDES.send(
                version,
                WebRequest.of("DELETE", WebSides.WORDS + "shout").with("content-type", "application/grpc-web"));
        assertThat(verb.status()).isEqualTo(405);
        assertThat(verb.header("allow")).isEqualTo("POST");
        WebAnswer subtype =
                SIDES.send(version, WebRequest.post(WebSides.WORDS + "shout", "application/grpc-web+thrift"));
        assertThat(subtype.status()).isEqualTo(415);
        assertThat(subtype.header("accept-post")).contains("application/grpc-web+proto");
    }

    // ---- limit tests

    @ParameterizedTest
    @EnumSource
    void messagesMayBeCompressedBothWays(Version version) {
        byte[] gzipped = Gzipped.of(StringValue.of("500").toByteArray());
        WebAnswer answer = send(
                version,
                request("repeat")
                        .with("grpc-encoding", "gzip")
                        .with("grpc-accept-encoding", "gzip")
                        .body(TestFrame.of(1, gzipped)));
        assertThat(answer.header("grpc-encoding")).isEqualTo("gzip");
        assertThat(answer.body().length).isLessThan(300);
        assertThat(messages(answer.body()).get(0)).hasSize(2500);
    }

    @ParameterizedTest
    @EnumSource
    void emptyMessageMayBeMarkedAsCompressed(Version version) {
        WebAnswer answer =
                send(version, request("shout").with("grpc-encoding", "gzip").body(TestFrame.of(1, new byte[0])));
        assertThat(messages(answer.body())).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    void codingThatIsNotServedOrNotNamedIsRefused(Version version) {
        WebAnswer answer = send(version, request("shout", "hi").with("grpc-encoding", "snappy"));
        assertStatus(answer, 12, "snappy");
        assertThat(answer.header("grpc-accept-encoding")).isEqualTo("identity,gzip");
        byte[] gzipped = Gzipped.of(StringValue.of("hi").toByteArray());
        assertStatus(send(version, request("shout").body(TestFrame.of(1, gzipped))), 13, "no header");
    }

    @ParameterizedTest
    @EnumSource
    void messagesAboveTheLimitAreRefused(Version version) {
        byte[] large = TestFrame.of(0, new byte[WebSides.LIMIT + 1]);
        assertStatus(send(version, request("shout").body(large)), 8, "rpc.limits.max-request");
        byte[] bomb = TestFrame.of(1, Gzipped.of(new byte[16 << 20]));
        assertStatus(
                send(version, request("shout").with("grpc-encoding", "gzip").body(bomb)), 8, "65536");
        assertStatus(send(version, request("repeat", "20000")), 8, "rpc.limits.max-response");
    }

    // ---- stream tests

    @ParameterizedTest
    @EnumSource
    void serverStreamIsDelivered(Version version) {
        WebAnswer answer = send(version, request("count", "3"));
        assertThat(messages(answer.body())).containsExactly("1", "2", "3");
        assertThat(trailers(answer.body()))
                .containsEntry("grpc-status", List.of("0"))
                .containsEntry("x-tail", List.of("t1", "t2"));
        assertThat(answer.header("x-head")).isEqualTo("h1, h2");
        WebAnswer failed = send(version, request("count", "2 enough"));
        assertThat(messages(failed.body())).containsExactly("1", "2");
        assertThat(trailers(failed.body()))
                .containsEntry("grpc-status", List.of("10"))
                .containsEntry("grpc-message", List.of("enough"));
    }

    @ParameterizedTest
    @EnumSource
    void clientStreamIsAnswered(Version version) {
        assertThat(messages(send(version, request("join", "a", "b", "c")).body()))
                .containsExactly("abc");
        assertThat(messages(send(version, request("join")).body())).containsExactly("");
    }

    @Test
    void messagesFlowBothWaysAtOnceOverHttp2() {
        try (WebClient client = Version.HTTP2.connect(SIDES.port)) {
            WebStream stream = client.begin(request("shoutAll"));
            stream.send(TestFrame.of("a"));
            byte[] first = TestFrame.of("A");
            assertThat(stream.awaitBody(first.length)).isEqualTo(first);
            stream.send(TestFrame.of("b"));
            stream.awaitBody(2 * first.length);
            stream.end();
            WebAnswer answer = stream.answer();
            assertThat(messages(answer.body())).containsExactly("A", "B");
            assertThat(trailers(answer.body())).containsEntry("grpc-status", List.of("0"));
        }
    }

    @Test
    void streamsBothWaysNeedHttp2() {
        assertStatus(send(Version.HTTP1, request("shoutAll", "a")), 12, "HTTP/2");
    }

    @Test
    void everyPartOfATextIsReadableWhenItComes() {
        try (WebClient client = Version.HTTP2.connect(SIDES.port)) {
            WebStream stream = client.begin(text("shoutAll", new byte[0]));
            stream.send(Base64.getEncoder().encode(TestFrame.of("a")));
            byte[] first = Base64.getEncoder().encode(TestFrame.of("A"));
            assertThat(new String(stream.awaitBody(first.length), ISO_8859_1)).isEqualTo(new String(first, ISO_8859_1));
            stream.end();
            assertThat(messages(decoded(stream.answer().text()))).containsExactly("A");
        }
    }

    @ParameterizedTest
    @EnumSource
    void streamOfRequestsThatIsCutIsRefused(Version version) {
        byte[] whole = TestFrame.of("a", "b");
        for (int length : new int[] {3, whole.length - 1}) {
            WebRequest cut = request("join").body(Arrays.copyOf(whole, length));
            assertStatus(send(version, cut), 13, "within a message");
        }
    }

    // ---- deadline tests

    @ParameterizedTest
    @EnumSource
    void callThatRunsTooLongIsAnswered(Version version) throws Exception {
        try (WebSides own = new WebSides()) {
            WebAnswer answer = own.send(
                    version,
                    request("hang")
                            .with("grpc-timeout", "2S")
                            .body(TestFrame.of(0, Empty.getDefaultInstance().toByteArray())));
            assertStatus(answer, 4, "deadline");
            assertThat(own.words.cancelled.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void methodIsNotifiedWhenTheCallerLeaves(Version version) throws Exception {
        try (WebSides own = new WebSides();
                WebClient client = version.connect(own.port)) {
            WebStream stream = client.begin(request("join"));
            stream.send(TestFrame.of("a"));
            stream.send(Arrays.copyOf(TestFrame.of("b"), 4));
            assertThat(own.words.hanging.await(30, TimeUnit.SECONDS)).isTrue();
            stream.cancel();
            assertThat(own.words.cancelled.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }
}
