package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpClient.Version;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests streams of answers to JSON calls. */
@Timeout(120)
class JsonStreamsTest extends JsonCalls {

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
