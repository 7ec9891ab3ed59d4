package tern.rpc.serialization.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.ServiceDescriptor;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.Cost;
import tern.rpc.transport.Fuzz;
import tern.rpc.transport.FuzzTarget;
import tern.rpc.transport.WorstCosts;
import tools.jackson.databind.json.JsonMapper;

/**
 * Verifies promises R1 and R2 in docs/figures/promises.md for JSON: the cost of decoding the worst JSON texts, and the
 * robustness against other invalid texts.
 */
@Timeout(3_600)
public class JsonBombsTest {

    private static final int MIB = 1 << 20;
    private static final int SMALL = MIB / 16;
    private static final Map<String, String> SMALL_BOMBS = bombs(SMALL);

    record Node(String name, Node next, Map<String, Integer> counts, List<Node> nodes) {}

    /** A class with many fields. A sender can create an instance without sending any field. */
    record Wide(
            long a,
            long b,
            long c,
            long d,
            long e,
            long f,
            long g,
            long h,
            long i,
            long j,
            long k,
            long l,
            long m,
            long n,
            long o,
            long p,
            long q,
            long r,
            long s,
            long t) {}

    record Small(long id, String name) {}

    interface Target {
        void small(List<Small> s);

        void any(Object o);

        void node(Node n);

        void wide(List<Wide> w);

        void numbers(Set<BigDecimal> s);

        void longs(long[] l);

        void text(String s);

        void strings(Map<String, String> m);

        void times(Map<java.time.LocalDateTime, Integer> m);

        void timeSet(Set<java.time.LocalDateTime> s);

        void timeTable(java.util.concurrent.ConcurrentHashMap<java.time.LocalDateTime, Integer> m);

        void table(java.util.Hashtable<String, Integer> m);

        void copied(java.util.concurrent.CopyOnWriteArrayList<String> l);

        void copiedSet(java.util.concurrent.CopyOnWriteArraySet<String> s);

        void lists(Set<List<Integer>> s);

        void anything(Set<Object> s);

        void several(String s, int i, Node n);
    }

    private static final List<String> METHODS =
            List.of("any", "node", "wide", "numbers", "longs", "text", "strings", "several");

    private final JsonCodec codec = new JsonCodec(new JsonMapper());
    private final List<JsonMethod> methods = METHODS.stream()
            .map(name -> codec.method(
                    ServiceDescriptor.of(Target.class).overloads(name).get(0)))
            .toList();

    private static String equalHash(int number) {
        StringBuilder text = new StringBuilder();
        for (int bit = 0; bit < 18; bit++) {
            text.append((number >> bit & 1) == 0 ? "Aa" : "BB");
        }
        return text.toString();
    }

    private static String joined(String first, String last, int size, IntFunction<String> part) {
        StringBuilder text = new StringBuilder(first);
        for (int i = 0; text.length() < size; i++) {
            text.append(i == 0 ? "" : ",").append(part.apply(i));
        }
        return text.append(last).toString();
    }

    private static Map<String, String> bombs(int size) {
        Map<String, String> bombs = new LinkedHashMap<>();
        bombs.put("deep arrays", "[".repeat(size));
        bombs.put("deep objects", "{\"next\":".repeat(size / 8));
        bombs.put("deep in an unknown field", "{\"x\":" + "[".repeat(size));
        bombs.put("as deep as allowed again and again", joined("[", "]", size, i -> "[".repeat(63) + "]".repeat(63)));
        bombs.put("empty arrays", joined("[", "]", size, i -> "[]"));
        bombs.put("empty objects", joined("[", "]", size, i -> "{}"));
        bombs.put("small numbers", joined("[", "]", size, i -> "1"));
        bombs.put("small texts", joined("[", "]", size, i -> "\"a\""));
        bombs.put("nulls", joined("[", "]", size, i -> "null"));
        bombs.put("names of equal hash", joined("{", "}", size, i -> '"' + equalHash(i) + "\":\"v\""));
        bombs.put(
                "names of equal hash in a field",
                joined("{\"counts\":{", "}}", size, i -> '"' + equalHash(i) + "\":1"));
        bombs.put("names, each another", joined("{", "}", size, i -> "\"n" + i + "\":\"v\""));
        bombs.put("unknown names, each another", joined("{\"next\":{", "}}", size, i -> "\"n" + i + "\":1"));
        bombs.put("long names", joined("{", "}", size, i -> '"' + i + "n".repeat(1_000) + "\":\"v\""));
        bombs.put("numbers of equal hash", joined("[", "]", size, i -> (i + 1) + "e" + -31 * (i % 3)));
        bombs.put("numbers of many digits", joined("[", "]", size, i -> i + "9".repeat(90)));
        bombs.put("fractions of many digits", joined("[", "]", size, i -> "0." + i + "9".repeat(90)));
        bombs.put("large exponents", joined("[", "]", size, i -> i + "e99"));
        bombs.put("small exponents", joined("[", "]", size, i -> i + "e-99"));
        bombs.put("one number of all digits", "1".repeat(size));
        bombs.put("one text", '"' + "x".repeat(size) + '"');
        bombs.put("escapes", '"' + "\\u0041".repeat(size / 6) + '"');
        bombs.put("surrogates", '"' + "\\ud83d\\ude00".repeat(size / 12) + '"');
        bombs.put("white space", " ".repeat(size) + "1");
        bombs.put("lines", "[" + "\n".repeat(size) + "1]");
        bombs.put("one name again and again", joined("{", "}", size, i -> "\"a\":1"));
        bombs.put("text without its end", '"' + "x".repeat(size));
        bombs.put("names of types", joined("[", "]", size, i -> "{\"@class\":\"javax.naming.InitialContext\"}"));
        return bombs;
    }

    static Stream<String> names() {
        return SMALL_BOMBS.keySet().stream();
    }

    private void readByOne(byte[] json) {
        read(methods.get(Math.floorMod(Arrays.hashCode(json), methods.size())), json);
    }

    private static void read(JsonMethod method, byte[] json) {
        try {
            method.readArguments(json, 0, json.length, false);
        } catch (SerializationException refused) {
            assertThat(refused.getMessage()).startsWith("Target/");
        }
    }

    /**
     * Returns the maximum number of bytes that may be allocated while decoding a JSON text. The most expensive element
     * per byte is an entry in a map whose keys have equal hash codes.
     */
    private static long mostAllocated(int size) {
        return 4L * size + MIB + 160L * Math.min(size, MIB);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("names")
    void everyBombIsReadOrRefusedAtABoundedPrice(String name) {
        byte[] bomb = SMALL_BOMBS.get(name).getBytes(UTF_8);

        for (JsonMethod method : methods) {
            Cost cost = Cost.least(3, () -> read(method, bomb));

            assertThat(cost.isTimely(bomb.length))
                    .as(name + ", " + cost.toString(bomb.length))
                    .isTrue();
            assertThat(cost.allocatedBytes())
                    .as(name + ", " + cost.toString(bomb.length))
                    .isLessThanOrEqualTo(mostAllocated(bomb.length));
        }
    }

    private Object[] arguments(String method, String json) {
        byte[] bytes = json.getBytes(UTF_8);
        return codec.method(ServiceDescriptor.of(Target.class).overloads(method).get(0))
                .readArguments(bytes, 0, bytes.length, false);
    }

    @Test
    void emptyObjectsMayTakeOnlyAMultipleOfTheMemoryOfTheirText() {
        String bomb = bombs(MIB).get("empty objects");

        assertThatThrownBy(() -> arguments("wide", bomb))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("Target/wide, parameter 1")
                .hasMessageContaining("a MiB and 4 times the text");
    }

    @Test
    void largeListsOfHonestRecordsAreRead() {
        String small = IntStream.range(0, 100_000)
                .mapToObj(i -> "{\"id\":" + i + ",\"name\":\"n\"}")
                .collect(Collectors.joining(",", "[", "]"));
        String sparse = IntStream.range(0, 50_000)
                .mapToObj(i -> "{\"a\":" + i + ",\"c\":1,\"h\":2,\"k\":333,\"t\":" + i + "}")
                .collect(Collectors.joining(",", "[", "]"));

        assertThat((List<?>) arguments("small", small)[0]).hasSize(100_000);
        assertThat((List<?>) arguments("wide", sparse)[0]).hasSize(50_000);
    }

    @Test
    @Tag("figures")
    void mostExpensiveBombsAreReported() {
        WorstCosts costs = new WorstCosts();
        for (Map.Entry<String, String> entry : bombs(MIB).entrySet()) {
            byte[] bomb = entry.getValue().getBytes(UTF_8);
            for (int i = 0; i < METHODS.size(); i++) {
                JsonMethod method = methods.get(i);
                Cost cost = Cost.least(7, () -> read(method, bomb));
                costs.add(entry.getKey() + " to " + METHODS.get(i), cost, bomb.length, mostAllocated(bomb.length));
            }
        }
        costs.report("JSON");
    }

    private static String timeOfEqualHash(int number) {
        java.time.LocalDate date = java.time.LocalDate.of(1000, 1, 1).plusDays(number);
        long nanos = Integer.toUnsignedLong(date.hashCode() ^ 0x7000_0000);
        return date.atTime(java.time.LocalTime.ofNanoOfDay(nanos)).toString();
    }

    private static Stream<Arguments> keys() {
        String head = "7,".repeat(400);
        return Stream.of(
                Arguments.of("times", joined("{", "}", MIB, i -> '"' + timeOfEqualHash(i) + "\":1")),
                Arguments.of("timeTable", joined("{", "}", MIB, i -> '"' + timeOfEqualHash(i) + "\":1")),
                Arguments.of("timeSet", joined("[", "]", MIB, i -> '"' + timeOfEqualHash(i) + '"')),
                Arguments.of("table", joined("{", "}", MIB, i -> '"' + equalHash(i) + "\":1")),
                Arguments.of("copied", joined("[", "]", MIB, i -> "\"\"")),
                Arguments.of("copiedSet", joined("[", "]", MIB, i -> "\"" + i + '"')),
                Arguments.of("lists", joined("[", "]", MIB, i -> '[' + head + i + ',' + -31 * i + ']')),
                Arguments.of("anything", joined("[", "]", MIB, i -> i % 2 == 0 ? "" + i : '"' + equalHash(i) + '"')));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("keys")
    void keysOfEqualHashAreReadOrRefusedAtABoundedPrice(String method, String bomb) {
        JsonMethod read = codec.method(
                ServiceDescriptor.of(Target.class).overloads(method).get(0));
        byte[] bytes = ("[" + bomb + "]").getBytes(UTF_8);

        Cost cost = Cost.least(2, () -> {
            try {
                read.readArguments(bytes, 0, bytes.length, false);
            } catch (RuntimeException refused) {
                // The exception is ignored, because the test checks only the cost of decoding the text.
            }
        });

        assertThat(cost.isTimely(bytes.length))
                .as(method + ", " + cost.toString(bytes.length))
                .isTrue();
    }

    @Test
    void manyTimesOfOtherHashesAreRead() {
        for (String method : List.of("times", "timeTable")) {
            String honest =
                    "[" + joined("{", "}", 200_000, i -> "\"2026-01-01T00:00:00." + (1_000_000 + i) + "\":1") + "]";
            byte[] bytes = honest.getBytes(UTF_8);
            assertThat(codec.method(ServiceDescriptor.of(Target.class)
                                    .overloads(method)
                                    .get(0))
                            .readArguments(bytes, 0, bytes.length, false))
                    .hasSize(1);
        }
    }

    /** Returns a target that fuzzes the arguments of several methods. */
    public static FuzzTarget target() {
        return new FuzzTarget(honest(), new JsonBombsTest()::readByOne, () -> {});
    }

    private static List<byte[]> honest() {
        List<byte[]> honest = Stream.of(
                        "null",
                        "\"text\"",
                        "{\"name\":\"a\",\"next\":{\"name\":\"b\",\"counts\":{\"x\":1}},\"nodes\":[{},{\"name\":null}]}",
                        "[{\"a\":1,\"b\":-2},{\"t\":9223372036854775807}]",
                        "[1,2.5,-3e10,1E-5,0]",
                        "{\"s\":\"x\",\"i\":1,\"n\":{\"name\":\"\\u00e9\\n\\ud83d\\ude00\"}}",
                        "[\"s\",1,{\"counts\":{}}]",
                        "{\"\u6f22\u5b57\":\"\ud83d\ude00\"}")
                .map(text -> text.getBytes(UTF_8))
                .collect(Collectors.toCollection(ArrayList::new));
        bombs(300).values().forEach(bomb -> honest.add(bomb.getBytes(UTF_8)));
        return honest;
    }

    @Test
    void everyInputIsReadOrRefused() {
        List<byte[]> pieces = Stream.concat(
                        IntStream.range(0, 256).mapToObj(Integer::toString),
                        Stream.of(
                                "[",
                                "]",
                                "{",
                                "}",
                                ",",
                                ":",
                                "\"",
                                "\\",
                                "\\u",
                                "\\ud83d",
                                "\"name\":",
                                "\"next\":",
                                "\"nodes\":",
                                "\"counts\":",
                                "\"s\":",
                                "\"i\":",
                                "null",
                                "true",
                                "false",
                                "NaN",
                                "1e999999999",
                                "1e-999999999",
                                "//",
                                "/*",
                                "\ufeff",
                                "\u0000",
                                "\"@class\":",
                                "\"@type\":"))
                .map(text -> text.getBytes(UTF_8))
                .toList();

        new Fuzz("JSON", honest(), pieces).run(this::readByOne);
    }
}
