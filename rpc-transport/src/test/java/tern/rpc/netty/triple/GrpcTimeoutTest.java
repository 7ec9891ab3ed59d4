package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GrpcTimeoutTest {

    @ParameterizedTest
    @CsvSource({
        "0n, 0",
        "1n, 1",
        "99999999n, 99999999",
        "4000000u, 4000000000",
        "250m, 250000000",
        "3S, 3000000000",
        "2M, 120000000000",
        "1H, 3600000000000"
    })
    void everyUnitIsRead(String text, long nanos) {
        assertThat(GrpcTimeout.parseNanos(text)).isEqualTo(nanos);
    }

    @ParameterizedTest
    @ValueSource(strings = {"99999999H", "99999999M"})
    void timeBeyondAYearIsAYear(String text) {
        assertThat(GrpcTimeout.parseNanos(text)).isEqualTo(TimeUnit.DAYS.toNanos(365));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "n", "1", "-1n", "+1n", "1.5S", "1x", "1N", " 1n", "1n ", "123456789n", "١n"})
    void wrongFormIsRefusedInWords(String text) {
        assertThatThrownBy(() -> GrpcTimeout.parseNanos(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("grpc-timeout is '" + text + "'");
    }

    @Test
    void longValueIsNotRepeatedInTheFailure() {
        assertThatThrownBy(() -> GrpcTimeout.parseNanos("9".repeat(10_000)))
                .message()
                .hasSizeLessThan(200);
    }

    @ParameterizedTest
    @CsvSource({
        "-5, 1n",
        "0, 1n",
        "99999999, 99999999n",
        "100000000, 100000u",
        "4000000000, 4000000u",
        "99999999999, 99999999u",
        "100000000000, 100000m",
        "99999999999999, 99999999m",
        "100000000000000, 100000S",
        "9223372036854775807, 99999999M"
    })
    void smallestUnitThatFitsIsWritten(long nanos, String text) {
        assertThat(GrpcTimeout.format(nanos).toString()).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "-5, -5",
        "0, 0",
        "9999, 9999",
        "99999, 99990",
        "1234567, 1234000",
        "2999990123, 2999000000",
        "2999000000, 2999000000",
        "9223372036854775807, 9223000000000000000"
    })
    void lessThanAThousandthIsTakenOff(long nanos, long rounded) {
        assertThat(GrpcTimeout.rounded(nanos)).isEqualTo(rounded);
    }
}
