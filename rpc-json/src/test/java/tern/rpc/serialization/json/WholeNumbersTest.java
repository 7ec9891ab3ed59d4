package tern.rpc.serialization.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.serialization.SerializationException;

/** Tests that a number with a fraction is rejected and not truncated if the declared type is an integer type. */
class WholeNumbersTest {

    record Line(int pieces, Long boxed, OptionalInt optional) {}

    static class Bean {
        public int pieces;
        public List<Line> lines;
    }

    interface Target {
        void byteValue(byte v);

        void byteBoxed(Byte v);

        void shortValue(short v);

        void shortBoxed(Short v);

        void intValue(int v);

        void integer(Integer v);

        void longValue(long v);

        void longBoxed(Long v);

        void big(BigInteger v);

        void atomic(AtomicInteger v);

        void atomicLong(AtomicLong v);

        void optionalInt(OptionalInt v);

        void optionalLong(OptionalLong v);

        void optionalInts(OptionalInt[] v);

        void optionalLongs(List<OptionalLong> v);

        void bytes(byte[] v);

        void shorts(short[] v);

        void ints(int[] v);

        void longs(long[] v);

        void boxes(Integer[] v);

        void list(List<Integer> v);

        void set(Set<Long> v);

        void map(Map<String, Integer> v);

        void optionals(Map<String, List<OptionalLong>> v);

        void line(Line v);

        void bean(Bean v);

        void decimals(double v, Number n, Object o);

        void zeros(Zeros v);
    }

    record Zeros(
            double plain,
            float single,
            Double boxed,
            Float boxedSingle,
            OptionalDouble optional,
            List<Double> list,
            double[] doubles,
            float[] floats,
            int whole,
            BigDecimal decimal) {}

    /** Returns the names of the methods whose only parameter is an integer, or an array or collection of integers. */
    static Stream<String> integers() {
        return Arrays.stream(Target.class.getMethods())
                .map(method -> method.getName())
                .filter(name -> !List.of("map", "optionals", "line", "bean", "decimals", "zeros")
                        .contains(name));
    }

    private static Texts method(String name) {
        return Texts.of(Target.class, name);
    }

    private static boolean holdsSeveral(String name) {
        return List.of("bytes", "shorts", "ints", "longs", "boxes", "list", "set", "optionalInts", "optionalLongs")
                .contains(name);
    }

    private static @Nullable Object read(String name, String number) {
        return method(name).argument(holdsSeveral(name) ? "[1," + number + "]" : number);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("integers")
    void aFractionIsRefused(String name) {
        for (String number : List.of("2.7", "-0.5", "2.50", "25e-1", "1e-50")) {
            assertThatThrownBy(() -> read(name, number), "%s of %s", number, name)
                    .isInstanceOf(SerializationException.class)
                    .hasMessageStartingWith("Target/" + name + ", parameter 1 (v)"
                            + (holdsSeveral(name) && !name.equals("set") ? " at $[1]" : ""))
                    .hasMessageEndingWith(", found a fraction");
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("integers")
    void aWholeNumberMayHaveADecimalPoint(String name) {
        for (String number : List.of("2.0", "2.000", "20e-1", "0.2e1")) {
            assertThat(text(read(name, number))).as(number).isEqualTo(text(read(name, "2")));
        }
    }

    private static String text(@Nullable Object value) {
        return Arrays.deepToString(new @Nullable Object[] {value});
    }

    @Test
    void theMessageHasPathAndType() {
        assertThatThrownBy(() -> method("intValue").argument("{\"v\":2.7}"))
                .hasMessage("Target/intValue, parameter 1 (v): expected int, found a fraction");
        assertThatThrownBy(() -> method("line").argument("{\"pieces\":2.7}"))
                .hasMessage("Target/line, parameter 1 (v) at $.pieces: expected int, found a fraction");
        assertThatThrownBy(() -> method("line").argument("{\"boxed\":2.7}"))
                .hasMessage("Target/line, parameter 1 (v) at $.boxed: expected java.lang.Long, found a fraction");
        assertThatThrownBy(() -> method("line").argument("{\"optional\":2.7}"))
                .hasMessage(
                        "Target/line, parameter 1 (v) at $.optional: expected java.util.OptionalInt, found a fraction");
        assertThatThrownBy(() -> method("optionals").argument("{\"secret\":[2.7]}"))
                .hasMessage(
                        "Target/optionals, parameter 1 (v) at $.*[0]: expected java.util.OptionalLong, found a fraction");
        assertThatThrownBy(() -> method("bean").argument("{\"lines\":[{\"pieces\":1},{\"pieces\":0.1}]}"))
                .hasMessage("Target/bean, parameter 1 (v) at $.lines[1].pieces: expected int, found a fraction");
        assertThatThrownBy(() -> method("map").argument("{\"secret\":2.7}"))
                .hasMessage("Target/map, parameter 1 (v) at $.*: expected java.lang.Integer, found a fraction");
    }

    @Test
    void absentOptionalStaysEmpty() {
        assertThat(method("optionalInt").argument("null")).isEqualTo(OptionalInt.empty());
        assertThat(method("optionalLong").argument("3")).isEqualTo(OptionalLong.of(3));
    }

    @Test
    void otherNumbersMayHaveAFraction() {
        assertThat(method("decimals").arguments("[2.7, 2.7, 2.7]")).containsExactly(2.7, 2.7, 2.7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-0", "-0.0", "-0e0"})
    void negativeZeroKeepsItsSignWhereItsTypeHasOne(String zero) {
        String json =
                "{\"plain\":Z,\"single\":Z,\"boxed\":Z,\"boxedSingle\":Z,\"optional\":Z,\"list\":[Z],\"doubles\":[Z],"
                        + "\"floats\":[Z],\"whole\":Z,\"decimal\":Z}";

        Zeros zeros = (Zeros) method("zeros").argument(json.replace("Z", zero));

        Object[] signed = {
            zeros.plain(),
            zeros.single(),
            zeros.boxed(),
            zeros.boxedSingle(),
            zeros.optional(),
            zeros.list(),
            zeros.doubles(),
            zeros.floats()
        };
        assertThat(Arrays.deepToString(signed))
                .isEqualTo("[-0.0, -0.0, -0.0, -0.0, OptionalDouble[-0.0], [-0.0], [-0.0], [-0.0]]");
        assertThat(zeros.whole()).isZero();
        assertThat(zeros.decimal()).isZero();
        assertThat(text(((Zeros) method("zeros").argument(json.replace("Z", "0"))).plain()))
                .isEqualTo("[0.0]");
    }
}
