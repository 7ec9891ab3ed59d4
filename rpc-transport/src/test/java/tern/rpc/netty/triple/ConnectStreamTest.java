package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.StringValue;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.triple.WebClient.Version;

/** Tests streaming Connect calls, one HTTP request at a time. */
@Timeout(120)
class ConnectStreamTest {

    private static final int END = 2;

    private static final String TAIL = "\"metadata\":{\"x-tail\":[\"t1\",\"t2\"],\"x-tail-bytes-bin\":[\"/w\"]}}";

    @RegisterExtension
    static final WebSides SIDES = new WebSides();

    private static WebRequest request(String method, String... messages) {
        return WebRequest.post(WebSides.WORDS + method, "application/connect+proto")
                .with("connect-protocol-version", "1")
                .body(TestFrame.of(messages));
    }

    private static WebAnswer send(Version version, WebRequest request) {
        WebAnswer answer = SIDES.send(version, request);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.header("content-type")).startsWith("application/connect+");
        assertThat(answer.trailers()).isEmpty();
        return answer;
    }

    private static List<String> messages(WebAnswer answer) {
        List<TestFrame> frames = TestFrame.parse(answer.body());
        return TestFrame.texts(frames.subList(0, frames.size() - 1));
    }

    private static String end(WebAnswer answer) {
        List<TestFrame> frames = TestFrame.parse(answer.body());
        assertThat(frames.subList(0, frames.size() - 1)).allMatch(frame -> (frame.flags() & END) == 0);
        assertThat(frames.get(frames.size() - 1).flags()).isEqualTo(END);
        return frames.get(frames.size() - 1).text();
    }

    private static void assertError(WebAnswer answer, String code, String words) {
        assertThat(end(answer))
                .startsWith("{\"error\":{\"code\":\"" + code + "\"")
                .contains(words);
    }

    // ---- call tests

    @ParameterizedTest
    @EnumSource
    void serverStreamIsDelivered(Version version) {
        WebAnswer answer = send(version, request("Count", "3"));
        assertThat(answer.header("content-type")).isEqualTo("application/connect+proto");
        assertThat(messages(answer)).containsExactly("1", "2", "3");
        assertThat(end(answer)).isEqualTo("{" + TAIL);
        assertThat(answer.header("x-head")).isEqualTo("h1, h2");
        assertThat(answer.headers()).doesNotContainKeys("connect-secret", "x-tail");
    }

    @ParameterizedTest
    @EnumSource
    void clientStreamIsAnswered(Version version) {
        assertThat(messages(send(version, request("join", "a", "b", "c")))).containsExactly("abc");
        assertThat(messages(send(version, request("join")))).containsExactly("");
    }

    @Test
    void answersMayFollowTheWholeRequest() {
        WebAnswer answer = send(Version.HTTP2, request("shoutLater", "a", "b"));
        assertThat(messages(answer)).containsExactly("A", "B");
    }

    /**
     * Depending on timing, the method sends its answer before or after it has read all requests. The status must be the
     * same in both cases.
     */
    @ParameterizedTest
    @ValueSource(strings = {"shoutLater", "shoutAll"})
    void bothWaysNeedHttp2HoweverTheMethodAnswers(String method) {
        WebAnswer answer = SIDES.send(Version.HTTP1, request(method, "a", "b"));
        assertThat(answer.status()).isEqualTo(505);
        assertThat(answer.text()).contains(method, "HTTP/2");
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
            assertThat(messages(stream.answer())).containsExactly("A", "B");
            assertThat(end(stream.answer())).isEqualTo("{" + TAIL);
        }
    }

    /**
     * Over HTTP/1.1, the client reads the answer only after it has sent the whole request. If the server did not refuse
     * the call, client and server would wait for each other.
     */
    @Test
    void answerInTheMiddleOfARequestNeedsHttp2() {
        try (WebClient client = Version.HTTP1.connect(SIDES.port)) {
            WebStream stream = client.begin(request("shoutAll"));
            stream.send(TestFrame.of("a"));
            WebAnswer answer = stream.answer();
            assertThat(answer.status()).isEqualTo(505);
            assertThat(answer.text()).contains("shoutAll", "HTTP/2");
        }
    }

    @ParameterizedTest
    @EnumSource
    void messagesMayBeJson(Version version) {
        WebRequest request = WebRequest.post(WebSides.WORDS + "count", "application/connect+json");
        WebAnswer answer = send(version, request.body(TestFrame.of(0, "\"1 no\"".getBytes(UTF_8))));
        assertThat(answer.header("content-type")).isEqualTo("application/connect+json");
        assertThat(TestFrame.parse(answer.body()).get(0).text()).isEqualTo("\"1\"");
        assertThat(end(answer)).isEqualTo("{\"error\":{\"code\":\"aborted\",\"message\":\"no\"}," + TAIL);
    }

    // ---- error tests

    @ParameterizedTest
    @EnumSource
    void failureIsInTheLastEnvelope(Version version) {
        WebAnswer answer = send(version, request("count", "2 no \u00E9\n"));
        assertThat(messages(answer)).containsExactly("1", "2");
        assertThat(end(answer)).isEqualTo("{\"error\":{\"code\":\"aborted\",\"message\":\"no \u00E9\\n\"}," + TAIL);
    }

    @ParameterizedTest
    @EnumSource
    void requestThatBecomesNoCallFailsInTheSameWay(Version version) {
        assertError(send(version, request("nothing")), "unimplemented", "nothing");
        WebRequest other = WebRequest.post(WebSides.WORDS + "count", "application/connect+proto");
        assertError(send(version, other.with("connect-protocol-version", "2")), "invalid_argument", "'2'");
        assertError(
                send(version, other.with("connect-timeout-ms", "12345678901")), "invalid_argument", "1 to 10 digits");
        assertError(send(version, other.with("connect-content-encoding", "br")), "unimplemented", "gzip");
    }

    @ParameterizedTest
    @EnumSource
    void otherCountOfMessagesIsRefused(Version version) {
        assertError(send(version, request("count")), "unimplemented", "has none");
        assertError(send(version, request("count", "1", "2")), "unimplemented", "has more");
    }

    @ParameterizedTest
    @EnumSource
    void requestThatIsCutIsRefused(Version version) {
        byte[] whole = TestFrame.of("a", "b");
        for (int length : new int[] {3, 7, whole.length - 1}) {
            WebRequest cut = request("join").body(Arrays.copyOf(whole, length));
            assertError(send(version, cut), "internal", "within a message");
        }
        WebRequest cut = request("count").body(Arrays.copyOf(whole, 7));
        assertError(send(version, cut), "internal", "within a message");
    }

    @ParameterizedTest
    @EnumSource
    void flagsOfAnswersAreRefused(Version version) {
        WebRequest request = request("join").body(TestFrame.of(END, "{}".getBytes(ISO_8859_1)));
        assertError(send(version, request), "internal", "0x2");
    }

    @ParameterizedTest
    @EnumSource
    void methodsOfTheOtherKindAreUnsupported(Version version) {
        WebAnswer unary = SIDES.send(version, request("shout", "a"));
        assertThat(unary.status()).isEqualTo(415);
        assertThat(unary.header("accept-post")).isEqualTo("application/proto, application/json");
        WebAnswer stream = SIDES.send(version, WebRequest.post(WebSides.WORDS + "count", "application/proto"));
        assertThat(stream.status()).isEqualTo(415);
        assertThat(stream.header("accept-post")).isEqualTo("application/connect+proto, application/connect+json");
        WebAnswer codec = SIDES.send(version, WebRequest.post(WebSides.WORDS + "count", "application/connect+xml"));
        assertThat(codec.status()).isEqualTo(415);
        assertThat(codec.header("accept-post")).contains("application/connect+json");
    }

    // ---- limit tests

    @ParameterizedTest
    @EnumSource
    void messagesMayBeCompressedBothWays(Version version) {
        byte[] gzipped =
                TestFrame.of(1, Gzipped.of(StringValue.of("word ".repeat(500)).toByteArray()));
        WebAnswer answer = send(
                version,
                request("join").with("connect-content-encoding", "gzip").body(gzipped));
        assertThat(answer.header("connect-content-encoding")).isEqualTo("gzip");
        assertThat(answer.header("connect-accept-encoding")).isEqualTo("gzip");
        assertThat(answer.body().length).isLessThan(300);
        assertThat(messages(answer).get(0)).hasSize(2500);
        WebAnswer plain = send(
                version,
                request("join")
                        .with("connect-content-encoding", "gzip")
                        .with("connect-accept-encoding", "br")
                        .body(gzipped));
        assertThat(plain.headers()).doesNotContainKey("connect-content-encoding");
        assertThat(plain.body().length).isGreaterThan(2500);
    }

    @ParameterizedTest
    @EnumSource
    void compressedMessageNeedsACoding(Version version) {
        byte[] gzipped = TestFrame.of(1, Gzipped.of(StringValue.of("a").toByteArray()));
        assertError(
                send(
                        version,
                        request("count")
                                .with("connect-content-encoding", "identity")
                                .body(gzipped)),
                "internal",
                "compressed");
    }

    @ParameterizedTest
    @EnumSource
    void messagesAboveTheLimitAreRefused(Version version) {
        byte[] large = TestFrame.of(0, new byte[WebSides.LIMIT + 1]);
        assertError(send(version, request("join").body(large)), "resource_exhausted", "rpc.limits.max-request");
        byte[] bomb = TestFrame.of(1, Gzipped.of(new byte[16 << 20]));
        assertError(
                send(
                        version,
                        request("join").with("connect-content-encoding", "gzip").body(bomb)),
                "resource_exhausted",
                "65536");
    }

    // ---- deadline tests

    @ParameterizedTest
    @EnumSource
    void streamThatRunsTooLongIsAnswered(Version version) throws Exception {
        try (WebSides own = new WebSides();
                WebClient client = version.connect(own.port)) {
            WebStream stream = client.begin(request("join").with("connect-timeout-ms", "100"));
            stream.send(TestFrame.of("a"));
            assertError(stream.answer(), "deadline_exceeded", "deadline");
        }
    }

    @ParameterizedTest
    @EnumSource
    void methodIsNotifiedWhenTheCallerLeaves(Version version) throws Exception {
        try (WebSides own = new WebSides();
                WebClient client = version.connect(own.port)) {
            WebStream stream = client.begin(request("join"));
            stream.send(TestFrame.of("a"));
            assertThat(own.words.hanging.await(30, TimeUnit.SECONDS)).isTrue();
            stream.cancel();
            assertThat(own.words.cancelled.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }
}
