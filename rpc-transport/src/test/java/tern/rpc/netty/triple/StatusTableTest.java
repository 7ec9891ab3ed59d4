package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

class StatusTableTest {

    @ParameterizedTest
    @CsvSource({
        "0, OK, ok, 200",
        "1, CANCELLED, canceled, 499",
        "2, UNKNOWN, unknown, 500",
        "3, INVALID_ARGUMENT, invalid_argument, 400",
        "4, DEADLINE_EXCEEDED, deadline_exceeded, 504",
        "5, NOT_FOUND, not_found, 404",
        "6, ALREADY_EXISTS, already_exists, 409",
        "7, PERMISSION_DENIED, permission_denied, 403",
        "8, RESOURCE_EXHAUSTED, resource_exhausted, 429",
        "9, FAILED_PRECONDITION, failed_precondition, 400",
        "10, ABORTED, aborted, 409",
        "11, OUT_OF_RANGE, out_of_range, 400",
        "12, UNIMPLEMENTED, unimplemented, 501",
        "13, INTERNAL, internal, 500",
        "14, UNAVAILABLE, unavailable, 503",
        "15, DATA_LOSS, data_loss, 500",
        "16, UNAUTHENTICATED, unauthenticated, 401"
    })
    void everyCodeHasItsNames(int number, StatusCode code, String connectName, int httpStatus) {
        assertThat(StatusTable.fromNumber(number)).isEqualTo(code);
        assertThat(StatusTable.fromNumber(Integer.toString(number))).isEqualTo(code);
        assertThat(StatusTable.connectName(code)).isEqualTo(connectName);
        assertThat(StatusTable.httpStatus(code)).isEqualTo(httpStatus);
    }

    @ParameterizedTest
    @EnumSource(StatusCode.class)
    void connectNameLeadsBackToItsCode(StatusCode code) {
        assertThat(StatusTable.fromConnectName(StatusTable.connectName(code))).isEqualTo(code);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "17", "99", "-1", "x", "1x", "0000", "100"})
    void undefinedStatusIsUnknown(String text) {
        assertThat(StatusTable.fromNumber(text)).isEqualTo(StatusCode.UNKNOWN);
    }

    @Test
    void unknownNameOfConnectHasNoCode() {
        assertThat(StatusTable.fromConnectName("strange")).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "400, INTERNAL",
        "401, UNAUTHENTICATED",
        "403, PERMISSION_DENIED",
        "404, UNIMPLEMENTED",
        "429, UNAVAILABLE",
        "431, INTERNAL",
        "500, UNKNOWN",
        "502, UNAVAILABLE",
        "503, UNAVAILABLE",
        "504, UNAVAILABLE",
        "200, UNKNOWN",
        "302, UNKNOWN"
    })
    void answerWithoutAGrpcStatusCountsByItsHttpStatus(int status, StatusCode code) {
        assertThat(StatusTable.fromHttpStatus(status)).isEqualTo(code);
    }

    @ParameterizedTest
    @CsvSource({
        "7, UNAVAILABLE, NO",
        "8, CANCELLED, MAYBE",
        "11, RESOURCE_EXHAUSTED, MAYBE",
        "12, PERMISSION_DENIED, MAYBE",
        "0, INTERNAL, MAYBE",
        "2, INTERNAL, MAYBE",
        "4294967295, INTERNAL, MAYBE"
    })
    void resetTellsWhetherTheMethodMayHaveRun(long errorCode, StatusCode code, Executed executed) {
        assertThat(StatusTable.fromHttp2Error(errorCode)).isEqualTo(new StatusTable.Reset(code, executed));
    }
}
