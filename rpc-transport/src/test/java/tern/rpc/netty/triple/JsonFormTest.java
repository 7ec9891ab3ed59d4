package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException;
import tern.rpc.RpcMethod;
import tern.rpc.ServerContext;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.StatusDetail;
import tern.rpc.StreamObserver;
import tern.rpc.WireName;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests JSON calls over HTTP/1.1 and HTTP/2 with Java's own HTTP client. */
@Timeout(120)
class JsonFormTest {

    /** An exception that the interface declares. */
    public static final class SoldOutException extends Exception {
        private static final long serialVersionUID = 1L;

        SoldOutException(String message) {
            super(message);
        }
    }

    /** A service for the tests. */
    @WireName("test.Shop")
    public interface Shop {

        @RpcMethod(readOnly = true)
        String find(String id);

        String sell(String id) throws SoldOutException;

        int sum(int a, int b);

        long sum(long a, long b);

        String sum(String a, String b);

        /** The JSON paths of the first two methods are the same. */
        String stock(Long id);

        String stock(List<Long> ids);

        String stock(String name);

        String load(Long id);

        String load(List<Long> ids);

        byte[] picture(byte[] bytes);

        /** Throws the exception selected by the argument. */
        String fail(String how);

        /** Returns the value of a request header. */
        @Nullable
        String header(String name);

        /** Sends response headers. */
        String headers();

        /** Compresses the answer if the caller accepts it. */
        String small(String text);

        /** Blocks until the call is cancelled. */
        String never();

        /** Sends the given number of integers, starting with 0. Then fails if a kind of failure is given. */
        void numbers(int count, @Nullable String how, StreamObserver<Integer> out);

        StreamObserver<String> gather(StreamObserver<Integer> out);
    }

    private static final class ShopServer implements Shop {

        @Override
        public String find(String id) {
            return "found " + id;
        }

        @Override
        public String sell(String id) throws SoldOutException {
            throw new SoldOutException(id + " is sold out");
        }

        @Override
        public int sum(int a, int b) {
            return a + b;
        }

        @Override
        public long sum(long a, long b) {
            return -(a + b);
        }

        @Override
        public String sum(String a, String b) {
            return a + b;
        }

        @Override
        public String stock(Long id) {
            return "one";
        }

        @Override
        public String stock(List<Long> ids) {
            return "some";
        }

        @Override
        public String stock(String name) {
            return "of " + name;
        }

        @Override
        public String load(Long id) {
            return "one";
        }

        @Override
        public String load(List<Long> ids) {
            return "some";
        }

        @Override
        public byte[] picture(byte[] bytes) {
            return bytes;
        }

        @Override
        public String fail(String how) {
            throw failure(how);
        }

        private static RuntimeException failure(String how) {
            if (how.equals("details")) {
                StatusDetail detail =
                        new StatusDetail("type.googleapis.com/google.rpc.BadRequest", new byte[] {10, 1, 2});
                return new RpcException(new Status(StatusCode.FAILED_PRECONDITION, "say \"why\"\n", List.of(detail)));
            }
            return how.equals("secret")
                    ? new IllegalStateException("the password is 123")
                    : new RpcException(StatusCode.valueOf(how), "because of " + how);
        }

        @Override
        public @Nullable String header(String name) {
            return context().metadata().get(name);
        }

        @Override
        public String headers() {
            context().responseHeaders().put("x-early", "1").put("x-bytes", new byte[] {1, 2, -1});
            context().responseMetadata().put("x-late", "2").put("content-type", "text/html");
            context().sendHeaders();
            return "sent";
        }

        @Override
        public String small(String text) {
            context().compressResponse(true);
            return text;
        }

        @Override
        public String never() {
            CountDownLatch cancelled = new CountDownLatch(1);
            context().onCancel(cancelled::countDown);
            try {
                cancelled.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return "late";
        }

        @Override
        public void numbers(int count, @Nullable String how, StreamObserver<Integer> out) {
            for (int i = 0; i < count; i++) {
                out.onNext(i);
            }
            if (how == null) {
                out.onCompleted();
            } else {
                out.onError(failure(how));
            }
        }

        @Override
        public StreamObserver<String> gather(StreamObserver<Integer> out) {
            throw new IllegalStateException("not reached in this form");
        }

        private static ServerContext context() {
            ServerContext context = ServerContext.current();
            if (context == null) {
                throw new IllegalStateException("no call is being served");
            }
            return context;
        }
    }

    private static final TripleSides SIDES = new TripleSides();
    private static RpcServer server;
    private static RpcServer open;

    @BeforeAll
    static void start() {
        server = serve(HttpSettings.defaults());
        open = serve(new HttpSettings(Cors.off(), true, true));
    }

    private static RpcServer serve(HttpSettings settings) {
        ServerTransportSettings limits = new ServerTransportSettings(
                null, 0, 8_192, 1_024, 100, 100_000, Duration.ofSeconds(60), Duration.ofSeconds(60));
        return SIDES.serve(limits, settings, builder -> builder.export(ServiceExport.of(Shop.class, new ShopServer())));
    }

    @AfterAll
    static void stop() throws Exception {
        SIDES.close();
    }

    private static HttpRequest.Builder to(RpcServer at, String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + at.port() + "/test.Shop/" + path));
    }

    private static HttpRequest.Builder to(String path) {
        return to(server, path);
    }

    private static HttpRequest post(String path, String body) {
        return to(path).POST(BodyPublishers.ofString(body)).build();
    }

    private static HttpResponse<String> send(Version version, HttpRequest request) {
        return send(version, request, BodyHandlers.ofString());
    }

    private static <T> HttpResponse<T> send(Version version, HttpRequest request, BodyHandler<T> body) {
        HttpClient client = HttpClient.newBuilder().version(version).build();
        try {
            HttpResponse<T> response = client.send(request, body);
            assertThat(response.version()).isEqualTo(version);
            return response;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void assertError(HttpResponse<String> answer, int status, String code, String message) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(header(answer, "content-type")).isEqualTo("application/json");
        assertThat(answer.body())
                .startsWith("{\"code\":\"" + code + "\",\"message\":\"")
                .contains(message)
                .contains("\"status\":\"" + status + '"');
    }

    private static String header(HttpResponse<?> answer, String name) {
        return String.join(", ", answer.headers().allValues(name));
    }

    // Method

    @ParameterizedTest
    @EnumSource(Version.class)
    void methodWithOverloadsIsChosenByTheLettersOfItsParameters(Version version) {
        assertThat(send(version, post("sum~ii", "[1,2]")).body()).isEqualTo("3");
        assertThat(send(version, post("sum~ll", "[1,2]")).body()).isEqualTo("-3");
        assertThat(send(version, post("sum%7ESS", "[\"1\",\"2\"]")).body()).isEqualTo("\"12\"");

        assertError(send(version, post("sum", "[1,2]")), 400, "invalid_argument", "call one of sum~ii, sum~ll, sum~SS");
        assertError(send(version, post("sum~xy", "[1,2]")), 404, "not_found", "there are sum~ii, sum~ll, sum~SS");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void methodsWithTheSamePathAreNamed(Version version) {
        String same = "stock~L fits stock(Long) and stock(List), which paths cannot tell apart";
        String advice = "; call it by dubbo or tri, or give one of them another name";

        assertThat(send(version, post("stock~S", "\"tea\"")).body()).isEqualTo("\"of tea\"");
        assertError(
                send(version, post("stock", "1")),
                400,
                "invalid_argument",
                "stock has overloads; call one of stock~S. " + same);
        assertError(send(version, post("stock~L", "1")), 400, "invalid_argument", same + advice);
        assertError(send(version, post("load", "1")), 400, "invalid_argument", "load~L fits load(Long) and load(List)");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void unknownPathsGet404(Version version) {
        assertError(send(version, post("nothing", "1")), 404, "not_found", "nothing");
        assertError(send(version, post("$echo", "1")), 404, "not_found", "$echo");
        assertError(
                send(
                        version,
                        to("find")
                                .header("rest-service-version", "9")
                                .POST(BodyPublishers.ofString("\"a\""))
                                .build()),
                404,
                "not_found",
                "test.Shop:9");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/test.Shop/find%", "/test.Shop/fin%6", "/test.Shop/find?id=%zz", "/test.Shop/fi%nd?id=a"})
    void pathThatCannotBeDecodedIsRefused(String target) {
        try (RawSocket socket = RawSocket.connect(server.port())) {
            socket.send(("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(UTF_8));

            Http1Wire.Answer answer = Http1Wire.read(socket);

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text()).contains("percent");
        }
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void methodThatOnlyReadsIsReachedByGet(Version version) {
        HttpResponse<String> answer = send(version, to("find?id=a%20b+c").GET().build());
        assertThat(answer.body()).isEqualTo("\"found a b c\"");

        HttpResponse<String> head = send(
                version, to("find?id=a").method("HEAD", BodyPublishers.noBody()).build());
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(header(head, "content-length")).isEqualTo(String.valueOf("\"found a\"".length()));
        assertThat(head.body()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void methodThatMayChangeSomethingIsNotReachedByGet(Version version) {
        HttpResponse<String> answer = send(version, to("sell?id=a").GET().build());

        assertError(
                answer,
                405,
                "unimplemented",
                "cannot be called by GET, because it is not read-only; use POST, or mark it @RpcMethod");
        assertThat(header(answer, "allow")).isEqualTo("POST, PUT, PATCH, DELETE, OPTIONS");
        assertThat(send(version, to("sell?id=a").DELETE().build()).statusCode()).isEqualTo(500);
        HttpResponse<String> trace = send(
                version, to("find").method("TRACE", BodyPublishers.noBody()).build());
        assertError(trace, 405, "unimplemented", "TRACE");
        assertThat(header(trace, "allow")).startsWith("GET, HEAD");
    }

    // Arguments

    @ParameterizedTest
    @EnumSource(Version.class)
    void bodyThatIsNoJsonIsRefusedUnlessSwitchedOn(Version version) {
        HttpRequest text = to("find")
                .header("content-type", "text/plain")
                .POST(BodyPublishers.ofString("a"))
                .build();
        HttpRequest form = to("find")
                .header("content-type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("id=a"))
                .build();

        assertError(send(version, text), 415, "unimplemented", "rpc.server.http.text-bodies");
        assertError(send(version, form), 415, "unimplemented", "rpc.server.http.form-bodies");
        assertThat(header(send(version, form), "accept-post")).isEqualTo("application/json");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void textAndFormsAreReadWhereSwitchedOn(Version version) {
        HttpRequest text = to(open, "find")
                .header("content-type", "text/plain; charset=utf-8")
                .POST(BodyPublishers.ofString("\u00e9 \"x\""))
                .build();
        HttpRequest form = to(open, "sum~ii")
                .header("content-type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("a=1&b=2"))
                .build();
        HttpRequest wrong = to(open, "sum~ii")
                .header("content-type", "text/plain")
                .POST(BodyPublishers.ofString("1"))
                .build();

        HttpResponse<String> answer = send(version, text);
        assertThat(answer.body()).isEqualTo("found \u00e9 \"x\"");
        assertThat(header(answer, "content-type")).isEqualTo("text/plain; charset=utf-8");
        assertThat(header(answer, "x-content-type-options")).isEqualTo("nosniff");
        assertThat(send(version, form).body()).isEqualTo("3");
        assertError(send(version, wrong), 400, "invalid_argument", "one text");
    }

    @ParameterizedTest
    @CsvSource({
        "find, text/plain, text/plain; charset=utf-8, found a",
        "find, 'text/html, text/plain;q=0.5', text/plain; charset=utf-8, found a",
        "find, 'text/html, */*', application/json, \"found a\"",
        "find, 'application/json, text/plain', application/json, \"found a\"",
        "picture, application/octet-stream, application/octet-stream, i",
        "picture, */*, application/json, \"aQ==\"",
    })
    void answerIsWhatWasAskedForIfItCanBe(String method, String accept, String type, String body) {
        for (Version version : Version.values()) {
            HttpRequest request = to(method)
                    .header("accept", accept)
                    .POST(BodyPublishers.ofString(method.equals("find") ? "\"a\"" : "\"aQ==\""))
                    .build();

            HttpResponse<String> answer = send(version, request);

            assertThat(header(answer, "content-type")).isEqualTo(type);
            assertThat(answer.body()).isEqualTo(body);
        }
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void answerThatCannotBeIsRefusedBeforeTheCall(Version version) {
        HttpRequest request = to("sum~ii")
                .header("accept", "text/html, text/plain")
                .POST(BodyPublishers.ofString("[1,2]"))
                .build();

        assertError(send(version, request), 415, "unimplemented", "text/html, text/plain");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void compressedRequestsAreReadAndAnswersCompressedOnWish(Version version) throws IOException {
        HttpRequest request = to("small")
                .header("content-encoding", "gzip")
                .header("accept-encoding", "br, gzip;q=0.5")
                .POST(BodyPublishers.ofByteArray(gzip("\"zip\"")))
                .build();

        HttpResponse<byte[]> answer = send(version, request, BodyHandlers.ofByteArray());

        assertThat(header(answer, "content-encoding")).isEqualTo("gzip");
        assertThat(header(answer, "vary")).isEqualTo("accept-encoding");
        byte[] unzipped = new GZIPInputStream(new ByteArrayInputStream(answer.body())).readAllBytes();
        assertThat(new String(unzipped, UTF_8)).isEqualTo("\"zip\"");
        assertThat(header(send(version, post("small", "\"zip\"")), "content-encoding"))
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void compressedRequestThatCannotBeReadIsRefused(Version version) throws IOException {
        HttpRequest other = to("find")
                .header("content-encoding", "br")
                .POST(BodyPublishers.ofString("x"))
                .build();
        HttpRequest broken = to("find")
                .header("content-encoding", "gzip")
                .POST(BodyPublishers.ofString("no gzip at all, just text"))
                .build();
        HttpRequest bomb = to("find")
                .header("content-encoding", "gzip")
                .POST(BodyPublishers.ofByteArray(gzip('"' + "0".repeat(1_000_000) + '"')))
                .build();

        HttpResponse<String> answer = send(version, other);
        assertError(answer, 501, "unimplemented", "'br'");
        assertThat(header(answer, "accept-encoding")).isEqualTo("gzip");
        assertError(send(version, broken), 400, "invalid_argument", "gzip");
        assertError(send(version, bomb), 413, "resource_exhausted", "100000");
    }

    private static byte[] gzip(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(bytes)) {
            zip.write(text.getBytes(UTF_8));
        }
        return bytes.toByteArray();
    }

    // Metadata

    @ParameterizedTest
    @EnumSource(Version.class)
    void headersTravelBothWays(Version version) {
        HttpRequest request = to("header")
                .header("x-mine", "yes")
                .POST(BodyPublishers.ofString("\"X-Mine\""))
                .build();
        assertThat(send(version, request).body()).isEqualTo("\"yes\"");

        HttpResponse<String> answer = send(version, post("headers", ""));
        assertThat(answer.body()).isEqualTo("\"sent\"");
        assertThat(header(answer, "x-early")).isEqualTo("1");
        assertThat(header(answer, "x-bytes-bin")).isEqualTo("AQL/");
        assertThat(header(answer, "x-late")).isEqualTo("2");
        assertThat(header(answer, "content-type")).isEqualTo("application/json");
    }

    @ParameterizedTest
    @CsvSource({"tri-service-timeout, 30", "grpc-timeout, 30m", "connect-timeout-ms, 30"})
    void callerSaysHowLongItWaits(String name, String value) {
        for (Version version : Version.values()) {
            HttpRequest request = to("never")
                    .header("tri-service-timeout", "100000")
                    .header("x-any", "thing")
                    .setHeader(name, value)
                    .POST(BodyPublishers.noBody())
                    .build();

            assertError(send(version, request), 504, "deadline_exceeded", "never");
        }
    }

    @ParameterizedTest
    @CsvSource({"tri-service-timeout, soon", "tri-service-timeout, 12345678901", "grpc-timeout, 5x"})
    void timeThatIsNoneIsRefused(String name, String value) {
        for (Version version : Version.values()) {
            HttpRequest request = to("find")
                    .header(name, value)
                    .POST(BodyPublishers.ofString("\"a\""))
                    .build();

            assertError(send(version, request), 400, "invalid_argument", name);
        }
    }

    // Errors

    @ParameterizedTest
    @CsvSource({
        "CANCELLED, 499, canceled",
        "UNKNOWN, 500, unknown",
        "INVALID_ARGUMENT, 400, invalid_argument",
        "DEADLINE_EXCEEDED, 504, deadline_exceeded",
        "NOT_FOUND, 404, not_found",
        "ALREADY_EXISTS, 409, already_exists",
        "PERMISSION_DENIED, 403, permission_denied",
        "RESOURCE_EXHAUSTED, 429, resource_exhausted",
        "FAILED_PRECONDITION, 400, failed_precondition",
        "ABORTED, 409, aborted",
        "OUT_OF_RANGE, 400, out_of_range",
        "UNIMPLEMENTED, 501, unimplemented",
        "INTERNAL, 500, internal",
        "UNAVAILABLE, 503, unavailable",
        "DATA_LOSS, 500, data_loss",
        "UNAUTHENTICATED, 401, unauthenticated",
    })
    void codeOfAFailureBecomesAStatusOfHttp(String code, int status, String name) {
        for (Version version : Version.values()) {
            assertError(send(version, post("fail", '"' + code + '"')), status, name, "because of " + code);
        }
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void detailsOfAFailureTravel(Version version) {
        HttpResponse<String> answer = send(version, post("fail", "\"details\""));

        assertThat(answer.body())
                .isEqualTo("{\"code\":\"failed_precondition\",\"message\":\"say \\\"why\\\"\\n\",\"status\":\"400\","
                        + "\"details\":[{\"type\":\"google.rpc.BadRequest\",\"value\":\"CgEC\"}]}");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void onlyDeclaredExceptionsKeepTheirMessage(Version version) {
        assertError(send(version, post("sell", "\"tea\"")), 500, "unknown", "tea is sold out");
        HttpResponse<String> secret = send(version, post("fail", "\"secret\""));
        assertError(secret, 500, "unknown", "java.lang.IllegalStateException (logged by the server as ");
        assertThat(secret.body()).doesNotContain("123");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void exceptionThatLosesItsMessageIsLoggedWithItAndTheRemedy(Version version) {
        try (CapturedLog log = new CapturedLog(JsonEncoding.class.getName())) {
            send(version, post("fail", "\"secret\""));

            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .contains("/fail failed with", "IllegalStateException (logged by the server as ", "123")
                    .contains("throw an RpcException");
        }
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void jsonWithTheContentTypeOfAFormLeadsToTheHeader(Version version) {
        HttpRequest refused = to("find")
                .header("content-type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("{\"id\":\"a\"}"))
                .build();
        HttpRequest asForm = to(open, "find")
                .header("content-type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("{\"id\":\"a\"}"))
                .build();

        assertError(send(version, refused), 415, "unimplemented", "-H 'content-type: application/json'");
        assertError(send(version, asForm), 400, "invalid_argument", "the body is JSON, but its content type is that");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void argumentInTheQueryOfARequestWithABodyIsRefused(Version version) {
        assertError(
                send(version, post("sum~ii?b=2", "{\"a\":1}")),
                400,
                "invalid_argument",
                "the argument 'b' is in the query, but the request has a body");
        assertThat(send(version, post("sum~ii?other=2", "{\"a\":1,\"b\":3}")).body())
                .isEqualTo("4");
    }

    // Streams

    @ParameterizedTest
    @EnumSource(Version.class)
    void streamIsSentAsEvents(Version version) {
        HttpResponse<String> answer = send(version, post("numbers", "[3,null]"));

        assertThat(answer.body()).isEqualTo("data:0\n\ndata:1\n\ndata:2\n\n");
        assertThat(header(answer, "content-type")).isEqualTo("text/event-stream");
        assertThat(header(answer, "cache-control")).isEqualTo("no-cache");
        assertThat(send(version, post("numbers", "[0,null]")).body()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void streamThatFailsEndsWithAnEventOfItsOwn(Version version) {
        HttpResponse<String> answer = send(version, post("numbers", "[1,\"ABORTED\"]"));

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body())
                .isEqualTo("data:0\n\nevent:error\n"
                        + "data:{\"code\":\"aborted\",\"message\":\"because of ABORTED\",\"status\":\"409\"}\n\n");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void streamThatFailsBeforeItsFirstItemIsAnOrdinaryError(Version version) {
        assertError(send(version, post("numbers", "[0,\"ABORTED\"]")), 409, "aborted", "because of ABORTED");
        assertError(send(version, post("numbers", "[\"x\",null]")), 400, "invalid_argument", "numbers");
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, 505", "HTTP_2, 501"})
    void streamOfRequestsHasNoFormInJson(Version version, int status) {
        assertError(send(version, post("gather", "[\"a\"]")), status, "unimplemented", "takes a stream");
    }
}
