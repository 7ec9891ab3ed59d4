package tern.rpc.serialization.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Date;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.ServiceDescriptor;
import tools.jackson.databind.json.JsonMapper;

/** Tests that a number outside the range of the declared type is rejected and not changed. */
class NumbersOutOfRangeTest {

    record Times(
            Instant instant,
            Duration duration,
            OffsetDateTime offset,
            ZonedDateTime zoned,
            Date date,
            LocalDate localDate,
            LocalDateTime localDateTime) {}

    interface Target {
        void times(Times t);

        void byteValue(byte b);

        void shortValue(short s);

        void intValue(int i);

        void integer(Integer i);

        void longValue(long l);

        void floatValue(float f);

        void doubleValue(double d);

        void boxed(Double d);

        void bigInteger(BigInteger b);

        void bigDecimal(BigDecimal b);

        void doubles(double[] d);

        void floats(float[] f);

        void optionalDouble(OptionalDouble d);

        void optionalInt(OptionalInt i);

        void optionalLong(OptionalLong l);

        void listOfDoubles(List<Double> d);
    }

    private final JsonCodec codec = new JsonCodec(new JsonMapper());

    private @Nullable Object read(String method, String json) {
        byte[] bytes = (json.startsWith("[") ? json : "[" + json + "]").getBytes(UTF_8);
        return codec.method(ServiceDescriptor.of(Target.class).overloads(method).get(0))
                .readArguments(bytes, 0, bytes.length, false)[0];
    }

    static Stream<Arguments> outOfRange() {
        return Stream.of(
                        "times {\"instant\":1e1000000000}",
                        "times {\"instant\":1e20}",
                        "times {\"instant\":-1e1000000000}",
                        "times {\"instant\":1e-1000000000}",
                        "times {\"instant\":1e19}",
                        "times {\"instant\":9223372036854775807.5}",
                        "times {\"duration\":1e1000000000}",
                        "times {\"duration\":1e19}",
                        "times {\"duration\":1e-1000000000}",
                        "times {\"offset\":1e1000000000}",
                        "times {\"zoned\":1e1000000000}",
                        "times {\"date\":1e1000000000}",
                        "times {\"date\":99999999999999999999}",
                        "times {\"localDate\":1e1000000000}",
                        "times {\"localDateTime\":1e1000000000}",
                        "times {\"instant\":99999999999999999999}",
                        "times {\"duration\":99999999999999999999}",
                        "byteValue 1e400",
                        "byteValue 300",
                        "shortValue 1e400",
                        "shortValue 40000",
                        "intValue 1e400",
                        "intValue 4e9",
                        "intValue \"NaN\"",
                        "intValue \"1e400\"",
                        "integer 1e400",
                        "longValue 1e400",
                        "longValue 1e19",
                        "longValue \"NaN\"",
                        "floatValue 1e39",
                        "floatValue 1e400",
                        "doubleValue 1e400",
                        "doubleValue -1e400",
                        "doubleValue \"1e400\"",
                        "boxed 1e400",
                        "optionalDouble 1e400",
                        "optionalDouble \"1e400\"",
                        "optionalInt 1e400",
                        "optionalInt 4e9",
                        "optionalLong 1e19",
                        "doubles [1e400]",
                        "floats [1e39]",
                        "listOfDoubles [1e400]",
                        "bigInteger 1e1000000000",
                        "bigDecimal 1e1000000000",
                        "bigDecimal 1e-1000000000",
                        "bigDecimal \"1e1000000000\"",
                        "bigDecimal \"NaN\"")
                .map(row -> row.split(" ", 2))
                .map(row -> Arguments.of(row[0], row[1]));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("outOfRange")
    void numberThatItsTypeCannotHoldIsRefused(String method, String json) {
        assertThatThrownBy(() -> read(method, json)).isInstanceOf(RuntimeException.class);
    }

    @Test
    void numbersAtTheEdgeAreRead() {
        assertThat(read("times", "{\"instant\":1e3}"))
                .isEqualTo(new Times(Instant.ofEpochSecond(1_000), null, null, null, null, null, null));
        assertThat(read("times", "{\"instant\":0.5,\"duration\":1.5}"))
                .isEqualTo(
                        new Times(Instant.ofEpochMilli(500), Duration.ofMillis(1_500), null, null, null, null, null));
        assertThat(read("doubleValue", "1.7976931348623157e308")).isEqualTo(Double.MAX_VALUE);
        assertThat(read("doubleValue", "\"Infinity\"")).isEqualTo(Double.POSITIVE_INFINITY);
        assertThat(read("floatValue", "3.4028235e38")).isEqualTo(Float.MAX_VALUE);
        assertThat((double[]) read("doubles", "[1e308, -1]")).containsExactly(1e308, -1);
    }
}
