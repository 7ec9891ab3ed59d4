package tern.rpc.serialization.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.Month;
import java.time.OffsetDateTime;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.ServiceDescriptor;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;

/** Tests that values of all types remain equal after encoding and decoding. */
class JsonTypesTest {

    enum Color {
        RED,
        GREEN;

        @Override
        public String toString() {
            return "color " + name();
        }
    }

    record User(long id, String name, List<String> tags) {}

    record Result<T>(int code, T data) {}

    record Page<T>(List<Result<T>> items, Map<String, T> byName) {}

    /** A class with getters and setters, as in old service interfaces. */
    static class Bean {
        private String name;
        private boolean active;
        private Bean friend;

        public String getName() {
            return name;
        }

        public void setName(String name) {
            this.name = name;
        }

        public boolean isActive() {
            return active;
        }

        public void setActive(boolean active) {
            this.active = active;
        }

        public Bean getFriend() {
            return friend;
        }

        public void setFriend(Bean friend) {
            this.friend = friend;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Bean that
                    && Objects.equals(name, that.name)
                    && active == that.active
                    && Objects.equals(friend, that.friend);
        }

        @Override
        public int hashCode() {
            return Objects.hash(name, active, friend);
        }
    }

    /** A class whose instances can be created only by its own code. */
    static final class Built {
        private final String name;

        @SuppressWarnings("UnusedMethod") // The test reads a class whose constructor Jackson cannot call.
        private Built(String name) {
            this.name = name;
        }

        public String getName() {
            return name;
        }
    }

    static class SpecialBean extends Bean {
        public int getExtra() {
            return 7;
        }
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
    @JsonSubTypes({
        @JsonSubTypes.Type(value = Circle.class, name = "circle"),
        @JsonSubTypes.Type(value = Square.class, name = "square")
    })
    sealed interface Shape {}

    record Circle(double radius) implements Shape {}

    record Square(double side) implements Shape {}

    record Times(Instant instant, LocalDate day, LocalDateTime local, OffsetDateTime offset, Duration span, Date old) {}

    interface Base<T> {
        Result<T> find(T like);
    }

    interface Users extends Base<User> {
        Result<List<User>> list();

        Page<User> page();

        CompletableFuture<Result<User>> later();

        Map<Color, Set<UUID>> map();

        List<Shape> shapes();

        Shape shape();

        Times times();

        BigDecimal price();

        BigInteger big();

        Bean bean();

        Color color();

        Month month();

        Built built();

        byte[] bytes();

        int number();

        double real();

        void nothing();

        CompletableFuture<Void> nothingLater();

        Object any();

        Map<String, String> texts();

        float[][] matrix();

        Map.Entry<String, Integer> pair();
    }

    private static final User ANN = new User(1L << 60, "Ann \u00e9 \ud83d\ude00 \"\\", List.of("a"));

    private static Texts method(String name) {
        return Texts.of(Users.class, name);
    }

    private static void roundTrip(String method, @Nullable Object value) {
        Texts texts = method(method);

        assertThat(texts.result(texts.writtenResult(value))).isEqualTo(value);
    }

    @Test
    void genericResultsKeepTheirTypes() {
        roundTrip("list", new Result<>(0, List.of(ANN)));
        roundTrip("page", new Page<>(List.of(new Result<>(1, ANN)), Map.of("a", ANN)));
        roundTrip("later", new Result<>(0, ANN));
        roundTrip("map", Map.of(Color.RED, Set.of(new UUID(1, 2))));
    }

    @Test
    void typeVariablesOfASuperInterfaceAreResolved() {
        roundTrip("find", new Result<>(0, ANN));
        assertThat(method("find").argument("{\"id\":5,\"name\":\"x\"}")).isEqualTo(new User(5, "x", null));
    }

    @Test
    void subtypesOfAFixedListAreSentByName() {
        roundTrip("shapes", List.of(new Circle(1.5), new Square(2)));
        roundTrip("shape", new Circle(1.5));
        assertThat(method("shapes").writtenResult(List.of(new Square(2)))).contains("\"kind\":\"square\"");
    }

    @Test
    void datesAreRfc3339() {
        Times times = new Times(
                Instant.parse("2026-01-02T03:04:05.123456789Z"),
                LocalDate.of(2026, 1, 2),
                LocalDateTime.of(2026, 1, 2, 3, 4, 5, 600_000_000),
                OffsetDateTime.parse("2026-01-02T03:04:05+02:00"),
                Duration.ofMillis(1500),
                new Date(1_767_323_045_123L));

        roundTrip("times", times);
        assertThat(method("times").writtenResult(times))
                .contains("\"2026-01-02T03:04:05.123456789Z\"")
                .contains("\"2026-01-02T03:04:05+02:00\"")
                .contains("\"2026-01-02\"")
                .contains("\"PT1.5S\"")
                .containsPattern("\"2026-01-02T03:04:05\\.123(Z|\\+00:00)\"");
    }

    @Test
    void decimalsKeepTheirScaleAndHaveNoExponent() {
        roundTrip("price", new BigDecimal("12.50"));
        roundTrip("price", new BigDecimal("0.0000000001"));
        roundTrip("big", new BigInteger("9".repeat(100)));
        assertThat(method("price").writtenResult(new BigDecimal("1E+3"))).isEqualTo("1000");
        assertThat(method("real").result("1e3")).isEqualTo(1000.0);
    }

    @Test
    void nullPropertiesAreLeftOutButNotNullValuesOfMaps() {
        Map<String, String> texts = new LinkedHashMap<>();
        texts.put("a", null);

        assertThat(method("bean").writtenResult(new Bean())).isEqualTo("{\"active\":false}");
        assertThat(method("texts").writtenResult(texts)).isEqualTo("{\"a\":null}");
        assertThat(method("bean").writtenResult(null)).isEqualTo("null");
    }

    @Test
    void enumsAreSentByName() {
        roundTrip("color", Color.GREEN);
        assertThat(method("color").writtenResult(Color.GREEN)).isEqualTo("\"GREEN\"");
        assertThatThrownBy(() -> method("color").result("1")).isInstanceOf(SerializationException.class);
    }

    @Test
    void monthsAreSentByNameRegardlessOfTheApplicationsSettings() {
        JsonMapper zeroBased =
                JsonMapper.builder().disable(DateTimeFeature.ONE_BASED_MONTHS).build();

        for (Texts month : List.of(method("month"), Texts.of(new JsonCodec(zeroBased), Users.class, "month"))) {
            assertThat(month.writtenResult(Month.MAY)).isEqualTo("\"MAY\"");
            assertThat(month.result("\"MAY\"")).isEqualTo(Month.MAY);
            assertThat(month.result("5")).isEqualTo(Month.MAY);
        }
    }

    @Test
    void nullKeyOfAMapIsNamedAsTheProblem() {
        Map<String, String> texts = new HashMap<>();
        texts.put(null, "x");

        assertThatThrownBy(() -> method("texts").writtenResult(texts))
                .isInstanceOf(SerializationException.class)
                .hasMessage("Users/texts, result could not be written: a map has a null key, which JSON does not have");
    }

    @Test
    void classThatJsonCannotCreateIsExplained() {
        assertThatThrownBy(() -> method("built").result("{\"name\":\"x\"}"))
                .isInstanceOf(SerializationException.class)
                .hasMessage("Users/built, result: " + Built.class.getName()
                        + " has no constructor that JSON can use; annotate a constructor or a static method with"
                        + " @JsonCreator, add a constructor without parameters, or declare a record");
    }

    @Test
    void bytesAreBase64() {
        roundTrip("bytes", new byte[] {-1, 0, 1});
        assertThat(method("bytes").writtenResult(new byte[] {1})).isEqualTo("\"AQ==\"");
        assertThat(method("bytes").result("\"AQ\"")).isEqualTo(new byte[] {1});
    }

    @Test
    void beansArraysAndPairsComeBack() {
        Bean bean = new Bean();
        bean.setName("Ann");
        bean.setFriend(new Bean());

        roundTrip("bean", bean);
        roundTrip("matrix", new float[][] {{1.5f}, {}});
        roundTrip("pair", Map.entry("a", 1));
    }

    @Test
    void unknownPropertiesAreIgnoredAndAbsentOnesEmpty() {
        assertThat(method("find").result("{\"code\":1,\"new\":{\"x\":[1]}}")).isEqualTo(new Result<>(1, null));
        assertThat(method("find").result("{\"data\":{\"name\":\"x\"}}"))
                .isEqualTo(new Result<>(0, new User(0, "x", null)));
    }

    @Test
    void theRuntimeClassOfAResultIsWritten() {
        assertThat(method("bean").writtenResult(new SpecialBean())).contains("\"extra\":7");
        assertThat(method("any").writtenResult(ANN)).contains("\"tags\":[\"a\"]");
        assertThat(method("any").result("{\"a\":1.5}")).isEqualTo(Map.of("a", 1.5));
    }

    @Test
    void voidIsNull() {
        assertThat(method("nothing").writtenResult(null)).isEqualTo("null");
        assertThat(method("nothing").result("null")).isNull();
        assertThat(method("nothing").result("")).isNull();
        assertThat(method("nothingLater").result("null")).isNull();
        assertThat(method("nothingLater").writtenResult(null)).isEqualTo("null");
    }

    @Test
    void nullIsNoResultOfAPrimitive() {
        assertThatThrownBy(() -> method("number").result("null"))
                .isInstanceOf(SerializationException.class)
                .hasMessage("Users/number, result is missing: expected int");
    }

    @Test
    void valueThatDoesNotFitLeavesTheBufferUnchanged() {
        JsonMethod method = new JsonCodec(new JsonMapper())
                .method(ServiceDescriptor.of(Users.class).overloads("any").get(0));
        OutputBuffer out = new OutputBuffer();
        out.reset(20_000);
        out.write(1);

        assertThatThrownBy(() -> method.writeResult("x".repeat(30_000), out))
                .isInstanceOf(MessageTooLargeException.class);
        assertThatThrownBy(() -> method.writeResult(List.of(new Bean(), Map.of("k", "x".repeat(30_000))), out))
                .isInstanceOf(MessageTooLargeException.class);
        assertThat(out.position()).isEqualTo(1);
    }

    @Test
    void nothingIsWrittenThatCouldNotBeReadForItsDepth() {
        Bean top = new Bean();
        for (int i = 0; i < 70; i++) {
            Bean next = new Bean();
            next.setFriend(top);
            top = next;
        }
        Bean deep = top;

        assertThatThrownBy(() -> method("bean").writtenResult(deep))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("nested deeper than 64 (set by rpc.limits.max-depth)");
    }

    @Test
    void objectsThatReferToEachOtherAreExplained() {
        Bean parent = new Bean();
        Bean child = new Bean();
        parent.setFriend(child);
        child.setFriend(parent);

        assertThatThrownBy(() -> method("bean").writtenResult(parent))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("; if the objects refer to each other, such as a parent and its children, put"
                        + " @JsonIgnore on the getter of one direction");
    }
}
