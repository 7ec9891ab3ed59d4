package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.ListValue;
import com.google.protobuf.NullValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import com.google.protobuf.util.JsonFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

/** Compares Tern's conversion of Value messages from and to JSON with the conversion by protobuf's own classes. */
class ValueMessagesTest {

    private static final int ONE = 1;
    private static final int SEVERAL = 2;

    // ---- acceptance tests

    @Test
    void valuesAndListsAreDistinguishedFromWrappers() {
        byte[] wrapper = {0x0A, 0x08, 'h', 'e', 's', 's', 'i', 'a', 'n', '4', 0x12, 0x01, 'N'};
        byte[] fastjson = {0x0A, 0x09, 'f', 'a', 's', 't', 'j', 's', 'o', 'n', '2'};

        assertThat(isRequest(wrapper, ONE)).isFalse();
        assertThat(isRequest(wrapper, SEVERAL)).isFalse();
        assertThat(isRequest(wrapper, 0)).isFalse();
        assertThat(isRequest(fastjson, SEVERAL)).isFalse();
        for (Value value : new Value[] {
            ofNull(), of(1), of("hessian4"), of(true), of(Struct.getDefaultInstance()), of(ListValue.newBuilder())
        }) {
            assertThat(isRequest(value.toByteArray(), ONE)).isTrue();
            byte[] list = ListValue.newBuilder().addValues(value).build().toByteArray();
            assertThat(isRequest(list, SEVERAL)).isTrue();
            assertThat(isRequest(list, ONE)).isFalse();
        }
        byte[] longElement =
                ListValue.newBuilder().addValues(of("x".repeat(20_000))).build().toByteArray();
        assertThat(isRequest(longElement, SEVERAL)).isTrue();
        byte[] emptyElement = ListValue.newBuilder()
                .addValues(Value.getDefaultInstance())
                .build()
                .toByteArray();
        assertThat(isRequest(emptyElement, SEVERAL)).isTrue();
        assertThat(isRequest(new byte[0], 0)).isTrue();
        assertThat(isRequest(new byte[0], ONE)).isTrue();
        assertThat(isRequest(new byte[] {0x0A}, SEVERAL)).isFalse();
        assertThat(isRequest(new byte[] {0x0A, (byte) 0x80}, SEVERAL)).isFalse();
    }

    // ---- to-JSON tests

    @Test
    void emptyMessageIsAnEmptyArray() {
        assertThat(toJson(new byte[0], 0)).isEqualTo("[]");
    }

    @Test
    void everyKindOfValueBecomesJson() {
        Struct.Builder struct = Struct.newBuilder()
                .putFields("a", of(1.5))
                .putFields("ä\n\"", of("ü\u0001\\\"\u007f\uD83D\uDE00"))
                .putFields("", ofNull());
        ListValue list = ListValue.newBuilder()
                .addValues(of(true))
                .addValues(of(false))
                .addValues(of(struct.build()))
                .addValues(of(ListValue.newBuilder()))
                .build();

        assertThat(toJson(list.toByteArray(), SEVERAL))
                .isEqualTo(
                        "[true,false,{\"a\":1.5,\"ä\\u000a\\\"\":\"ü\\u0001\\\\\\\"\u007f\uD83D\uDE00\",\"\":null},[]]");
    }

    @Test
    void wholeNumbersHaveNoFractionSoThatIntegersTakeThem() {
        assertThat(toJson(of(42).toByteArray(), ONE)).isEqualTo("42");
        assertThat(toJson(of(0).toByteArray(), ONE)).isEqualTo("0");
        assertThat(toJson(of(-0.0).toByteArray(), ONE)).isEqualTo("-0");
        assertThat(toJson(of(9007199254740992d).toByteArray(), ONE)).isEqualTo("9007199254740992");
        assertThat(toJson(of(1e300).toByteArray(), ONE)).isEqualTo("1.0E300");
        assertThat(toJson(of(-0.1).toByteArray(), ONE)).isEqualTo("-0.1");
    }

    @Test
    void numbersThatJsonDoesNotHaveAreRefused() {
        for (double number : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            assertThatThrownBy(() -> toJson(of(number).toByteArray(), ONE))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("is not a JSON number");
        }
    }

    /**
     * Returns messages that are neither a Value nor a ListValue. Each argument list contains a description, the number
     * of parameters of the called method, and the bytes of the message.
     */
    static Stream<Arguments> messagesOfOtherTypes() {
        return Stream.of(
                Arguments.of("without a field", ONE, ""),
                Arguments.of("with a number other than null's", ONE, "08 07"),
                Arguments.of("with a negative number", ONE, "08 ff ff ff ff ff ff ff ff ff 01"),
                Arguments.of("with a number that is no boolean", ONE, "20 02"),
                Arguments.of("with two fields of a Value", ONE, "1a 01 41 20 01"),
                Arguments.of("with an unknown field", ONE, "1a 01 41 4a 01 42"),
                Arguments.of("with a string in place of a Struct", ONE, "2a 03 41 64 61"),
                Arguments.of("with an unknown field in a Struct", ONE, "2a 02 10 01"),
                Arguments.of("with an unknown field in an entry", ONE, "2a 04 0a 02 18 01"),
                Arguments.of("with an entry without a value", ONE, "2a 05 0a 03 0a 01 61"),
                Arguments.of("with a string in place of a ListValue", ONE, "32 03 41 64 61"),
                Arguments.of("with an element without a field", SEVERAL, "0a 00 0a 00"),
                Arguments.of("with an element that is another message", SEVERAL, "0a 02 08 07"),
                Arguments.of("with an unknown field beside the elements", SEVERAL, "0a 02 08 00 10 05"),
                Arguments.of("with a string in place of an element", 0, "0a 03 41 64 61"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("messagesOfOtherTypes")
    void messageOfAnotherTypeIsRefused(String what, int parameters, String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));

        assertThatThrownBy(() -> toJson(bytes, parameters)).isInstanceOf(PlainProtobufException.class);
    }

    @Test
    void sixtyFourLevelsAreReadAndOneMoreIsRefused() {
        assertThat(toJson(nested(64).toByteArray(), ONE)).isEqualTo("[".repeat(63) + "1" + "]".repeat(63));

        assertThatThrownBy(() -> toJson(nested(65).toByteArray(), ONE))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("nest deeper than 64");
    }

    @Test
    void jsonLongerThanTheLimitIsRefused() {
        byte[] controls = of("\u0001".repeat(1_000)).toByteArray();
        OutputBuffer json = new OutputBuffer();
        json.reset(2_000);

        assertThatThrownBy(() -> ValueMessages.requestToJson(controls, 0, controls.length, ONE, json))
                .isInstanceOf(MessageTooLargeException.class);
    }

    @Test
    void everyCutOfAMessageIsReadOrRefusedLikeProtobufDoes() {
        byte[] whole = ListValue.newBuilder()
                .addValues(of("text"))
                .addValues(of(1.5))
                .addValues(of(Struct.newBuilder().putFields("key", of(true)).build()))
                .build()
                .toByteArray();

        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            boolean complete = isListValue(cut);
            if (complete) {
                assertThatCode(() -> toJson(cut, SEVERAL)).doesNotThrowAnyException();
            } else {
                assertThatThrownBy(() -> toJson(cut, SEVERAL)).isInstanceOf(SerializationException.class);
            }
        }
    }

    @Test
    void randomBytesAreReadOrRefusedAndNothingElse() {
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(24)];
            for (int n = 0; n < bytes.length; n++) {
                bytes[n] = random.nextBoolean()
                        ? (byte) random.nextInt(256)
                        : new byte[] {0x08, 0x0A, 0x11, 0x12, 0x1A, 0x20, 0x2A, 0x32, 0, 2, 4}[random.nextInt(11)];
            }
            try {
                assertThat(toJson(bytes, random.nextInt(3))).isNotEmpty();
            } catch (SerializationException refused) {
                assertThat(refused).hasMessageContaining("protobuf");
            }
        }
    }

    // ---- from-JSON tests

    @ParameterizedTest
    @ValueSource(
            strings = {
                "null",
                "true",
                "false",
                "0",
                "-12.5e-3",
                "1e300",
                "0.30000000000000004",
                "9007199254740992",
                "\"\"",
                "\"ä\uD83D\uDE00\"",
                "\"\\u00e4\\uD83D\\uDE00\\n\\t\\r\\b\\f\\/\\\\\\\"\"",
                "[]",
                "{}",
                " [ 1 , [ ] , { } ] ",
                "{\"a\":{\"b\":[null,true,{\"c\":\"d\"}]},\"\":1}"
            })
    void jsonBecomesTheSameAsProtobufMakesOfIt(String json) throws IOException {
        Value.Builder expected = Value.newBuilder();
        JsonFormat.parser().merge(json, expected);

        assertThat(toValue(json)).isEqualTo(expected.build());
    }

    @Test
    void numberThatADoubleDoesNotHoldBecomesText() throws IOException {
        assertThat(toValue("9007199254740993")).isEqualTo(of("9007199254740993"));
        assertThat(toValue("-9223372036854775807")).isEqualTo(of("-9223372036854775807"));
        assertThat(toValue("0.12345678901234567890")).isEqualTo(of("0.12345678901234567890"));
        assertThat(toValue("1e400")).isEqualTo(of("1e400"));
        assertThat(toValue("1e-400")).isEqualTo(of("1e-400"));
        assertThat(toValue("1e99999999999")).isEqualTo(of("1e99999999999"));
        assertThat(toValue("7".repeat(1_000))).isEqualTo(of("7".repeat(1_000)));
        assertThat(toValue("18446744073709551616")).isEqualTo(of(18446744073709551616d));
        assertThat(toValue("0e5")).isEqualTo(of(0));
    }

    @Test
    void longTextsAndListsHaveTheirLengths() throws IOException {
        for (int length : new int[] {126, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152}) {
            String text = "x".repeat(length);
            assertThat(toValue("[\"" + text + "\",1]"))
                    .isEqualTo(of(ListValue.newBuilder().addValues(of(text)).addValues(of(1))));
        }
    }

    @Test
    void answersNestSixtyFourDeepAndNoDeeper() throws IOException {
        assertThat(toValue("[".repeat(63) + "1" + "]".repeat(63))).isEqualTo(nested(64));

        assertThatThrownBy(() -> toValue("[".repeat(64) + "1" + "]".repeat(64)))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("deeper than 64");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "nul",
                "tru",
                "+",
                "-",
                "1-2",
                "\"",
                "\"\\",
                "\"\\x\"",
                "\"\\u12g4\"",
                "\"\\u12",
                "[",
                "[1",
                "[1,",
                "[1,]",
                "{",
                "{\"a\"",
                "{\"a\":",
                "{\"a\":1",
                "{\"a\":1,",
                "{a:1}",
                "1 2",
                "[] x",
                "]"
            })
    void brokenJsonIsRefused(String json) {
        assertThatThrownBy(() -> toValue(json)).isInstanceOf(SerializationException.class);
    }

    @Test
    void answerLargerThanTheLimitIsRefused() {
        byte[] json = ("\"" + "x".repeat(1_000) + "\"").getBytes(StandardCharsets.UTF_8);
        OutputBuffer out = new OutputBuffer();
        out.reset(1_000);

        assertThatThrownBy(() -> ValueMessages.jsonToValue(json, json.length, out))
                .isInstanceOf(MessageTooLargeException.class);
    }

    @Test
    void randomValuesSurviveTheWayThereAndBack() throws IOException {
        Random random = new Random(11);
        for (int i = 0; i < 2_000; i++) {
            Value value = random(random, 6);

            assertThat(toValue(toJson(value.toByteArray(), ONE))).isEqualTo(value);
        }
    }

    private static Value random(Random random, int depth) {
        switch (random.nextInt(depth > 0 ? 6 : 4)) {
            case 0:
                return ofNull();
            case 1:
                return of(random.nextBoolean() ? random.nextInt() : random.nextDouble());
            case 2:
                return of(random.nextBoolean());
            case 3:
                return of(new String(random.ints(random.nextInt(8), 0, 0xd800)
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)));
            case 4:
                ListValue.Builder list = ListValue.newBuilder();
                for (int n = random.nextInt(4); n > 0; n--) {
                    list.addValues(random(random, depth - 1));
                }
                return of(list);
            default:
                Struct.Builder struct = Struct.newBuilder();
                for (int n = random.nextInt(4); n > 0; n--) {
                    struct.putFields("k" + random.nextInt(100), random(random, depth - 1));
                }
                return of(struct.build());
        }
    }

    // ---- test messages

    private static Value nested(int depth) {
        Value value = of(1);
        for (int i = 1; i < depth; i++) {
            value = of(ListValue.newBuilder().addValues(value));
        }
        return value;
    }

    private static Value ofNull() {
        return Value.newBuilder().setNullValue(NullValue.NULL_VALUE).build();
    }

    private static Value of(double number) {
        return Value.newBuilder().setNumberValue(number).build();
    }

    private static Value of(String text) {
        return Value.newBuilder().setStringValue(text).build();
    }

    private static Value of(boolean bool) {
        return Value.newBuilder().setBoolValue(bool).build();
    }

    private static Value of(Struct struct) {
        return Value.newBuilder().setStructValue(struct).build();
    }

    private static Value of(ListValue.Builder list) {
        return Value.newBuilder().setListValue(list).build();
    }

    private static boolean isListValue(byte[] bytes) {
        try {
            ListValue.parseFrom(bytes);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isRequest(byte[] bytes, int parameters) {
        return ValueMessages.isRequest(bytes, 0, bytes.length, parameters);
    }

    private static String toJson(byte[] bytes, int parameters) {
        OutputBuffer json = new OutputBuffer();
        json.reset(64 << 20);
        // the array contains more bytes after the message, which must not change the result
        byte[] longer = Arrays.copyOf(bytes, bytes.length + 9);
        Arrays.fill(longer, bytes.length, longer.length, (byte) 0x11);
        ValueMessages.requestToJson(longer, 0, bytes.length, parameters, json);
        return new String(json.toByteArray(), StandardCharsets.UTF_8);
    }

    private static Value toValue(String json) throws IOException {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        OutputBuffer out = new OutputBuffer();
        out.reset(64 << 20);
        ValueMessages.jsonToValue(Arrays.copyOf(bytes, bytes.length + 3), bytes.length, out);
        CodedInputStream input = CodedInputStream.newInstance(out.toByteArray());
        input.setRecursionLimit(1_000);
        return Value.parseFrom(input);
    }
}
