package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the bodies of JSON calls: content types, compression, and arguments that are not in the body. */
@Timeout(120)
class JsonBodiesTest extends JsonCalls {

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
        assertError(send(version, wrong), 400, "invalid_argument", "a single parameter of type String");
    }

    @ParameterizedTest
    @CsvSource({
        "find, text/plain, text/plain; charset=utf-8, found a",
        "find, 'text/html, text/plain;q=0.5', text/plain; charset=utf-8, found a",
        "find, 'text/html, */*', application/json, \"found a\"",
        "find, 'application/json, text/plain', application/json, \"found a\"",
        "find, '', application/json, \"found a\"",
        "find, ' , text/plain', text/plain; charset=utf-8, found a",
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
    void requestForAnUnsupportedContentTypeIsRefusedBeforeTheCall(Version version) {
        HttpRequest request = to("sum~ii")
                .header("accept", "text/html, text/plain")
                .POST(BodyPublishers.ofString("[1,2]"))
                .build();

        assertError(send(version, request), 415, "unimplemented", "text/html, text/plain");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void compressedRequestsAreReadAndAnswersCompressedOnWish(Version version) {
        HttpRequest request = to("small")
                .header("content-encoding", "gzip")
                .header("accept-encoding", "br, gzip;q=0.5")
                .POST(BodyPublishers.ofByteArray(Gzipped.of("\"zip\"".getBytes(UTF_8))))
                .build();

        HttpResponse<byte[]> answer = send(version, request, BodyHandlers.ofByteArray());

        assertThat(header(answer, "content-encoding")).isEqualTo("gzip");
        assertThat(header(answer, "vary")).isEqualTo("accept-encoding");
        assertThat(new String(Gzipped.undone(answer.body()), UTF_8)).isEqualTo("\"zip\"");
        assertThat(header(send(version, post("small", "\"zip\"")), "content-encoding"))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"GZIP, GZIP;Q=1", "x-gzip, x-gzip", "Gzip, 'br;q=1, gZip ; q=0.1'"})
    void namesOfCodingsAreReadInAnyCase(String coding, String accepted) {
        for (Version version : Version.values()) {
            HttpRequest request = to("small")
                    .header("content-encoding", coding)
                    .header("accept-encoding", accepted)
                    .POST(BodyPublishers.ofByteArray(Gzipped.of("\"zip\"".getBytes(UTF_8))))
                    .build();

            HttpResponse<byte[]> answer = send(version, request, BodyHandlers.ofByteArray());

            assertThat(header(answer, "content-encoding")).isEqualTo("gzip");
            assertThat(new String(Gzipped.undone(answer.body()), UTF_8)).isEqualTo("\"zip\"");
        }
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void compressedRequestThatCannotBeReadIsRefused(Version version) {
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
                .POST(BodyPublishers.ofByteArray(Gzipped.of(('"' + "0".repeat(1_000_000) + '"').getBytes(UTF_8))))
                .build();

        HttpResponse<String> answer = send(version, other);
        assertError(answer, 501, "unimplemented", "'br'");
        assertThat(header(answer, "accept-encoding")).isEqualTo("gzip");
        assertError(send(version, broken), 400, "invalid_argument", "gzip");
        assertError(send(version, bomb), 413, "resource_exhausted", "100000");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void errorForJsonWithTheContentTypeOfAFormNamesTheContentType(Version version) {
        HttpRequest refused = to("find")
                .header("content-type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("{\"id\":\"a\"}"))
                .build();
        HttpRequest asForm = to(open, "find")
                .header("content-type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("{\"id\":\"a\"}"))
                .build();

        assertError(send(version, refused), 415, "unimplemented", "-H 'content-type: application/json'");
        assertError(send(version, asForm), 400, "invalid_argument", "the body is JSON, but its content type is for");
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

    @ParameterizedTest
    @EnumSource(Version.class)
    void requestWithoutABodyIsRefusedWithAnExample(Version version) {
        assertError(
                send(version, post("sell", "")),
                400,
                "invalid_argument",
                "Shop/sell, parameter 1 (id): expected java.lang.String, found no JSON; an example is \\\"text\\\"");
        assertError(
                send(version, post("sum~ii?format=json", " ")),
                400,
                "invalid_argument",
                "or an object with a, b, found no JSON; an example is {\\\"a\\\":1,\\\"b\\\":1}");
        HttpRequest form = to(open, "find")
                .header("content-type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.noBody())
                .build();
        assertError(send(version, form), 400, "invalid_argument", "parameter 1 (id)");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void argumentsInTheQueryNeedNoBody(Version version) {
        assertThat(send(version, post("find?id=a", "")).body()).isEqualTo("\"found a\"");
        assertThat(send(version, post("sum~ii?a=1&b=2", "")).body()).isEqualTo("3");
        assertError(send(version, post("find?ID=a", "")), 400, "invalid_argument", "unknown argument 'ID'");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    void emptyTextIsAnArgument(Version version) {
        HttpRequest text = to(open, "find")
                .header("content-type", "text/plain")
                .POST(BodyPublishers.noBody())
                .build();

        assertThat(send(version, text).body()).isEqualTo("found ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        sell             | sell has id; to call it without arguments, use POST with the body null
        sell?format=json | sell has id; to call it without arguments, use POST with the body null
        sum~ii           | sum has a, b; to call it without arguments, use POST with the body {}
        """)
    void deleteRequestWithoutArgumentsIsRefused(String path, String advice) {
        for (Version version : Version.values()) {
            assertError(
                    send(version, to(path).DELETE().build()),
                    400,
                    "invalid_argument",
                    "the query of the DELETE request has no arguments; " + advice);
            assertThat(send(version, to("headers").DELETE().build()).body()).isEqualTo("\"sent\"");
        }
    }

    @ParameterizedTest
    @CsvSource({"GET, find", "GET, find?id=a", "DELETE, sell", "DELETE, sell?id=a"})
    void bodyOfARequestWhoseArgumentsAreInTheQueryIsRefused(String verb, String path) {
        for (Version version : Version.values()) {
            HttpRequest request = to(path).header("content-type", "application/json")
                    .method(verb, BodyPublishers.ofString("{\"id\":\"b\"}"))
                    .build();

            assertError(
                    send(version, request),
                    400,
                    "invalid_argument",
                    "the arguments of GET, HEAD and DELETE are in the query, but the request has a body");
        }
    }
}
