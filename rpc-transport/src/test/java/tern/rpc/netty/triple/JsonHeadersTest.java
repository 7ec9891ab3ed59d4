package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the metadata and the time limits of JSON calls. */
@Timeout(120)
class JsonHeadersTest extends JsonCalls {

    @ParameterizedTest
    @EnumSource(Version.class)
    void headersAreSentInBothDirections(Version version) {
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
    void timeoutOfTheCallerIsReadFromItsHeader(String name, String value) {
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
    void malformedTimeoutIsRefused(String name, String value) {
        for (Version version : Version.values()) {
            HttpRequest request = to("find")
                    .header(name, value)
                    .POST(BodyPublishers.ofString("\"a\""))
                    .build();

            assertError(send(version, request), 400, "invalid_argument", name);
        }
    }
}
