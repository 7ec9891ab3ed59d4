package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpClient.Version;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.netty.peer.CapturedLog;

/** Tests the answers to JSON calls that fail. */
@Timeout(120)
class JsonErrorsTest extends JsonCalls {

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
    void detailsOfAFailureAreSent(Version version) {
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
    void exceptionThatLosesItsMessageIsLoggedOnceUnderItsId(Version version) {
        try (CapturedLog log = new CapturedLog("tern.rpc.server.MethodHandler")) {
            send(version, post("fail", "\"secret\""));

            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .contains("failed with an exception that callers do not know")
                    .contains("IllegalStateException (logged by the server as ");
        }
    }
}
