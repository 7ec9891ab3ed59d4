package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.peer.RawSocket;

/** Tests how paths and HTTP methods select the method of a JSON call. */
@Timeout(120)
class JsonMethodsTest extends JsonCalls {

    @ParameterizedTest
    @EnumSource(Version.class)
    void methodWithOverloadsIsChosenByTheLettersOfItsParameters(Version version) {
        assertThat(send(version, post("sum~ii", "[1,2]")).body()).isEqualTo("3");
        assertThat(send(version, post("sum~ll", "[1,2]")).body()).isEqualTo("-3");
        assertThat(send(version, post("sum%7ESS", "[\"1\",\"2\"]")).body()).isEqualTo("\"12\"");

        assertError(
                send(version, post("sum", "[1,2]")),
                400,
                "invalid_argument",
                "call one of sum~ii, sum~ll, sum~SS (sum(int, int), sum(long, long), sum(String, String))");
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
                "stock has overloads; call one of stock~S (stock(String)). " + same);
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
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            /                | '/' is not the path of a method; expected /package.Service/method; service / is not
            /                | exported services: test.Shop
            /favicon.ico     | '/favicon.ico' is not the path of a method
            /test.Shop       | '/test.Shop' is not the path of a method; expected /test.Shop/method with one of
            /test.Shop       | sell
            /test.Shop/      | '/test.Shop' is not the path of a method; expected /test.Shop/method with one of
            /Shop/find       | service Shop is not exported here; exported services: test.Shop; did you mean test.Shop?
            /test/Shop/find  | service test/Shop is not exported here; exported services: test.Shop; did you mean
            /api/test.shop/f | service api/test.shop is not exported here; exported services: test.Shop; did you mean
            /actuator/health | service actuator is not exported here; exported services: test.Shop; Actuator is on the
            /actuator        | Actuator is on the port of the web server (server.port or management.server.port)
            """)
    void pathOfNoMethodIsAnsweredWithTheMethodsOrTheServices(String path, String part) {
        URI address = URI.create("http://localhost:" + server.port() + path);

        for (Version version : Version.values()) {
            HttpRequest browser = HttpRequest.newBuilder(address).GET().build();
            assertError(send(version, browser), 404, "not_found", part);
        }
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
}
