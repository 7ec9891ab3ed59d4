package tern.rpc.serialization.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.SerializationException;
import tools.jackson.databind.json.JsonMapper;

/** Tests malicious input that an unauthenticated peer could send. */
class HostileJsonTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    record Node(String name, Node next, Map<String, Integer> counts) {}

    /** All instances have the same hash code, and the class is not Comparable. */
    record Clash(int number) {
        @Override
        public int hashCode() {
            return 1;
        }
    }

    record Key(String text) {}

    static class Open {
        @JsonAnySetter
        Map<String, Integer> rest = new HashMap<>();
    }

    static class Guarded {
        private final String name;

        public Guarded(String name) {
            if (name.startsWith("secret")) {
                throw new IllegalArgumentException("what is " + name);
            }
            this.name = name;
        }

        public String getName() {
            throw new IllegalStateException("never tell " + name);
        }
    }

    interface Target {
        void node(Node n);

        void any(Object o);

        void list(List<Object> l);

        void number(int n);

        void decimal(BigDecimal d);

        void integer(BigInteger i);

        void integers(List<BigInteger> l);

        void type(Class<?> c);

        void clashes(Set<Clash> s);

        void linked(LinkedHashSet<Clash> s);

        void keyed(Map<Key, Integer> m);

        void lists(Set<List<Integer>> s);

        void numbers(Set<Integer> s);

        void open(Open o);

        void guarded(Guarded g);

        void text(String s);
    }

    interface Scalars {
        void instant(Instant t);

        void offset(OffsetDateTime t);

        void zoned(ZonedDateTime t);

        void local(LocalDateTime t);

        void day(LocalDate t);

        void time(LocalTime t);

        void offsetTime(OffsetTime t);

        void duration(Duration t);

        void period(Period t);

        void year(Year t);

        void yearMonth(YearMonth t);

        void monthDay(MonthDay t);

        void zone(ZoneId t);

        void zoneOffset(ZoneOffset t);

        void date(Date t);

        void decimal(BigDecimal t);

        void integer(BigInteger t);

        void uuid(UUID t);

        void bigInt(int t);

        void bigLong(long t);

        void real(double t);

        void small(float t);

        void flag(boolean t);

        void number(Number t);

        void optional(OptionalDouble t);

        void reals(double[] t);

        void smalls(float[] t);

        void boxes(Double[] t);

        void longs(long[] t);
    }

    private static Texts method(String name) {
        return Texts.of(Target.class, name);
    }

    private static String message(String method, String json) {
        Throwable refused = catchThrowable(() -> method(method).arguments(json));
        assertThat(refused).isInstanceOf(SerializationException.class);
        return refused.getMessage();
    }

    @Test
    void depthIsBounded() {
        assertThat(method("any").argument("[".repeat(64) + "]".repeat(64))).isNotNull();
        assertThat(message("any", "[".repeat(65) + "]".repeat(65)))
                .endsWith(": nested deeper than 64 (set by rpc.limits.max-depth)");
        assertThat(message("list", "[".repeat(1 << 20))).contains("nested deeper than 64");
        assertThat(message("node", "{\"next\":".repeat(1 << 16))).contains("nested deeper than 64");
        assertThat(message("node", "{\"unknown\":" + "[".repeat(1 << 16))).contains("nested deeper than 64");
        assertThat(message("any", "{\"a\":".repeat(64) + "[".repeat(5))).contains("nested deeper than 64");
    }

    @Test
    void digitsOfANumberAreBounded() {
        String hundred = "1".repeat(100);

        assertThat(method("integer").argument(hundred)).isEqualTo(new BigInteger(hundred));
        assertThat(message("integer", hundred + "1"))
                .isEqualTo("Target/integer, parameter 1 (i): a number of 101 characters; at most 100 are read");
        assertThat(message("decimal", "0." + "1".repeat(1 << 20))).contains("at most 100 are read");
        assertThat(message("any", "1".repeat(1 << 20))).contains("at most 100 are read");
        assertThat(message("node", "{\"unknown\":" + "1".repeat(101) + "}")).contains("at most 100 are read");
        assertThat(message("integer", '"' + "1".repeat(101) + '"'))
                .isEqualTo(
                        "Target/integer, parameter 1 (i): a text of 101 characters; at most 100 are read as a number or"
                                + " a time");
    }

    @Test
    void anExponentDoesNotMakeAHugeNumberOfAFewDigits() {
        assertThat(method("integer").argument("1e99")).isEqualTo(BigInteger.TEN.pow(99));
        for (String number : List.of("1e101", "1e99999", "1e999999999", "-1e-999999999")) {
            assertThat(message("integer", number)).contains("more than 100 digits");
            assertThat(message("decimal", number)).contains("more than 100 digits");
            assertThat(message("integers", "[" + number + "]")).contains("more than 100 digits");
        }
        assertThat(message("decimal", "\"1e999999999\"")).contains("more than 100 digits");
        assertThat(message("number", "1e999999999"))
                .isEqualTo("Target/number, parameter 1 (n): expected int, found a number that does not fit");
    }

    @Test
    void lengthOfANameIsBounded() {
        assertThat(method("any").argument("{\"" + "n".repeat(1024) + "\":1}")).isNotNull();
        assertThat(message("any", "{\"" + "n".repeat(1025) + "\":1}")).contains("at most 1024 are read");
        assertThat(message("node", "{\"" + "n".repeat(1 << 20) + "\":1}")).contains("at most 1024 are read");
        assertThat(message("node", "{\"counts\":{\"" + "n".repeat(1025) + "\":1}}"))
                .contains("at most 1024 are read");
    }

    @Test
    void aNameTwiceInOneObjectIsRefused() {
        for (String[] call : new String[][] {
            {"node", "{\"name\":\"a\",\"name\":\"b\"}"},
            {"any", "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"a\":5}"},
            {"node", "{\"counts\":{\"a\":1,\"\\u0061\":2}}"},
            {"node", "{\"unknown\":{\"a\":1,\"a\":1}}"},
            {"text", "{\"s\":\"a\",\"s\":\"b\"}"}
        }) {
            assertThat(message(call[0], call[1]))
                    .containsAnyOf("the same name twice in one object at line 1, column", "'s' alone");
        }
        assertThat(method("node").argument("{\"name\":\"a\",\"next\":{\"name\":\"b\"}}"))
                .isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{",
                "[1",
                "\"abc",
                "{\"a\"",
                "{a:1}",
                "'a'",
                "// x\n1",
                "01",
                "+1",
                "NaN",
                "1,2",
                "\"\\x\"",
                "\"a\tb\"",
                "tru",
                "\u00ff",
                "\ufeff\u0000",
                "[1,]",
                "{\"a\":1,}"
            })
    void invalidJsonIsRefused(String text) {
        assertThat(message("any", text)).startsWith("Target/any");
    }

    @Test
    void onlyUtf8IsRead() {
        JsonMethod any = method("any").method();
        byte[] utf16 = "[1]".getBytes(java.nio.charset.StandardCharsets.UTF_16BE);
        byte[] latin = {'"', (byte) 0xe9, '"'};

        assertThatThrownBy(() -> any.readArguments(utf16, 0, utf16.length, false))
                .isInstanceOf(SerializationException.class);
        assertThatThrownBy(() -> any.readArguments(latin, 0, latin.length, false))
                .isInstanceOf(SerializationException.class);
    }

    @Test
    void aNameFromTheWireNeverLoadsAClass() {
        assertThat(message("type", "\"tern.rpc.StrangeException\"")).contains("java.lang.Class is never read");
        assertThat(method("any").argument("{\"@class\":\"java.util.Date\",\"@type\":\"x\"}"))
                .isEqualTo(Map.of("@class", "java.util.Date", "@type", "x"));
    }

    @Test
    void equalHashesAreBoundedWhereTheyCost() {
        String thousand =
                IntStream.range(0, 1000).mapToObj(i -> "{\"number\":" + i + "}").collect(Collectors.joining(","));
        String pairs = IntStream.range(0, 1001).mapToObj(i -> "\"" + i + "\":1").collect(Collectors.joining(","));

        assertThat((Set<?>) method("clashes").argument("[" + thousand + "]")).hasSize(1000);
        assertThat(method("linked").argument("[" + thousand + "]")).isExactlyInstanceOf(LinkedHashSet.class);
        assertThat(message("clashes", "[" + thousand + ",{\"number\":-1}]"))
                .contains("more than 1000 elements of a set that are not scalars");
        assertThat(message("linked", "[" + thousand + ",{\"number\":-1}]")).contains("more than 1000 elements");
        assertThat(message("keyed", "{" + pairs + "}")).contains("more than 1000 keys of a map that are not scalars");
        assertThat((Set<?>) method("numbers")
                        .argument(IntStream.range(0, 5000).boxed().toList().toString()))
                .hasSize(5000);
    }

    @Test
    void listsOfEqualHashAreRefusedIfTheyAreMany() {
        assertThat((Set<?>) method("lists").argument(listsOfEqualHash(256))).hasSize(256);
        assertThat(message("lists", listsOfEqualHash(990)))
                .contains("elements of a set whose comparison would take too");
    }

    private static String listsOfEqualHash(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> List.of(i, -31 * i))
                .toList()
                .toString();
    }

    @Test
    void messagesNameThePathAndNeverTheValue() {
        assertThat(message("node", "{\"next\":{\"counts\":{\"secret\":\"secret\"}}}"))
                .isEqualTo("Target/node, parameter 1 (n) at $.next.counts.*: expected java.lang.Integer");
        assertThat(message("node", "{\"next\":{\"name\":{\"secret\":1}}}"))
                .isEqualTo("Target/node, parameter 1 (n) at $.next.name: expected java.lang.String");
        assertThat(message("integers", "[1,2,\"secret\"]"))
                .isEqualTo("Target/integers, parameter 1 (l) at $[2]: expected java.math.BigInteger");
        assertThat(message("number", "99999999999"))
                .isEqualTo("Target/number, parameter 1 (n): expected int, found a number that does not fit");
        assertThat(message("any", "[secret]"))
                .isEqualTo("Target/any, parameter 1 (o): expected java.lang.Object in JSON, found text without double"
                        + " quotes at line 1, column 2; write \"text\" with its quotes, in a shell '\"text\"'");
        for (String unquoted : List.of("secret", "'secret'", "2026-01-31", "123e4567-e89b-12d3", "sécret")) {
            assertThat(message("number", unquoted))
                    .contains("found text without double quotes")
                    .doesNotContain("secret");
        }
        assertThat(message("number", "}"))
                .isEqualTo("Target/number, parameter 1 (n): not JSON at line 1, column 1; expected int in JSON");
        assertThat(message("open", "{\"a secret\\n\":\"secret\"}"))
                .isEqualTo("Target/open, parameter 1 (o) at $.*: expected java.lang.Integer");
    }

    @Test
    void exceptionsOfTheUsersCodeAreReportedByClassAndPlaceOnly() {
        Throwable refused = catchThrowable(() -> method("guarded").argument("{\"name\":\"secret\"}"));

        assertThat(refused)
                .hasMessage("Target/guarded, parameter 1 (g) could not be read: java.lang.IllegalArgumentException");
        assertThat(refused.getCause()).hasMessage("java.lang.IllegalArgumentException");
        assertThat(refused.getCause().getStackTrace()[0].getClassName()).isEqualTo(Guarded.class.getName());

        assertThatThrownBy(() -> method("guarded").written(new Guarded("x")))
                .isInstanceOf(SerializationException.class)
                .hasMessage("Target/guarded, parameter 1 (g) at $.name could not be written:"
                        + " java.lang.IllegalStateException")
                .hasRootCauseMessage("java.lang.IllegalStateException");
    }

    static Stream<String> scalars() {
        return ServiceDescriptor.of(Scalars.class).methods().stream().map(MethodDescriptor::name);
    }

    /**
     * The promised maximum time for decoding is 100 ms per MiB. The test decodes a quarter of a MiB but allows ten
     * times the promised time, because the machine may be slow.
     */
    @ParameterizedTest
    @Timeout(60)
    @MethodSource("scalars")
    void aLongRowOfDigitsCostsLittle(String method) {
        Texts scalar = Texts.of(Scalars.class, method);
        String digits = "1".repeat(1 << 17) + "." + "1".repeat(1 << 17);
        for (String json : List.of(
                "\"" + digits + "\"",
                "\"" + digits.replace(".", "") + "\"",
                "[\"" + digits + ".\"]",
                "\"" + digits + ".\"",
                "\"PT" + digits + "S\"",
                "\"P" + digits.replace(".", "") + "Y\"",
                "\"" + digits.replace(".", "") + "-01-01T00:00:00Z\"",
                "1e999999999",
                "-1e999999999",
                "1e-999999999",
                "[1e999999999]",
                "[1e9999,1e9999]")) {
            attempt(scalar, json);
            long cpu = THREADS.getCurrentThreadCpuTime();
            long bytes = THREADS.getCurrentThreadAllocatedBytes();

            attempt(scalar, json);

            assertThat(THREADS.getCurrentThreadAllocatedBytes() - bytes).isLessThan(8L << 20);
            assertThat(THREADS.getCurrentThreadCpuTime() - cpu).isLessThan(TimeUnit.MILLISECONDS.toNanos(250));
        }
    }

    private static void attempt(Texts method, String json) {
        try {
            method.arguments(json);
        } catch (SerializationException e) {
            assertThat(e).hasMessageStartingWith("Scalars/");
        }
    }

    @Test
    void limitsCanBeSet() {
        JsonCodec narrow = new JsonCodec(new JsonMapper(), new JsonLimits(2, 5, 6, 1));
        Texts any = Texts.of(narrow, Target.class, "any");

        assertThat(any.argument("[[12345]]")).isEqualTo(List.of(List.of(12345)));
        assertThatThrownBy(() -> any.argument("[[[]]]")).hasMessageContaining("nested deeper than 2");
        assertThatThrownBy(() -> any.argument("123456")).hasMessageContaining("at most 5 are read");
        assertThatThrownBy(() -> any.argument("{\"surname\":1}")).hasMessageContaining("at most 6 are read");
        assertThatThrownBy(() -> Texts.of(narrow, Target.class, "clashes").argument("[{\"number\":1},{\"number\":2}]"))
                .hasMessageContaining("more than 1 elements");
        assertThatThrownBy(() -> new JsonLimits(0, 1, 1, 1)).hasMessage("depth is 0; expected 1 to 512");
    }
}
