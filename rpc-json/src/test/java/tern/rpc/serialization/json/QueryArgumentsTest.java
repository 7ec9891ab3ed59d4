package tern.rpc.serialization.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.serialization.SerializationException;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/** Tests query parameters and forms (docs/wire-protocol.md 4.2). */
class QueryArgumentsTest {

    enum Color {
        RED,
        GREEN
    }

    record Person(String name, int age, List<String> tags, Color color) {}

    record Span(ZonedDateTime start, String note) {}

    interface Search {
        String none();

        String byName(String s);

        String byNumber(int n, Long limit);

        String scalars(boolean exact, BigDecimal price, Color color, Instant since, byte[] key);

        String list(List<String> tags);

        String numbers(int[] ids);

        String people(List<Person> people);

        String person(Person p);

        String pair(Person p, String q);

        String filter(Map<String, String> filter);

        String any(Object o);

        String from(OffsetDateTime start, byte[] key);

        String within(Span span);

        String primitives(char c, double d);
    }

    private static Texts method(String name) {
        return Texts.of(Search.class, name);
    }

    @Test
    void scalarsAreFoundByName() {
        assertThat(method("none").query("x=1")).isEmpty();
        assertThat(method("byName").query("s=hello")).containsExactly("hello");
        assertThat(method("byName").query("s=[1]")).containsExactly("[1]");
        assertThat(method("byNumber").query("limit=5&n=3&other=x")).containsExactly(3, 5L);
        assertThat(method("scalars").query("exact=true&price=12.50&color=GREEN&since=2026-01-02T03:04:05Z&key=AQI="))
                .containsExactly(
                        true, new BigDecimal("12.50"), Color.GREEN, Instant.parse("2026-01-02T03:04:05Z"), new byte[] {
                            1, 2
                        });
    }

    @Test
    void absentOnesAreNullUnlessPrimitive() {
        assertThat(method("byName").query("")).containsExactly((Object) null);
        assertThat(method("byNumber").query("n=3")).containsExactly(3, null);
        assertThat(method("list").query("")).containsExactly((Object) null);
        assertThat(method("person").query("")).containsExactly((Object) null);
        assertThatThrownBy(() -> method("byNumber").query("limit=3"))
                .isInstanceOf(SerializationException.class)
                .hasMessage("Search/byNumber, parameter 1 (n) is missing: expected int");
    }

    @Test
    void unknownParameterNameIsRefusedIfAnArgumentIsAbsent() {
        assertThatThrownBy(() -> method("byNumber").query("n=3&Limit=5"))
                .isInstanceOf(SerializationException.class)
                .hasMessage("Search/byNumber: unknown argument 'Limit'; byNumber has n, limit");
        assertThatThrownBy(() -> method("byNumber").query("N=3&limit=5"))
                .hasMessage("Search/byNumber: unknown argument 'N'; byNumber has n, limit");
        assertThatThrownBy(() -> method("byName").query("S=hello"))
                .hasMessage("Search/byName: unknown argument 'S'; byName has s");
        assertThatThrownBy(() -> method("pair").query("p={}&Q=x"))
                .hasMessage("Search/pair: unknown argument 'Q'; pair has p, q");
    }

    @Test
    void theFormatOfTheAnswerIsNoArgument() {
        assertThat(method("byNumber").query("n=3&format=txt")).containsExactly(3, null);
    }

    @Test
    void aFractionIsNoInteger() {
        for (String number : List.of("2.7", "2.5e0", "0.1")) {
            assertThatThrownBy(() -> method("byNumber").query("n=" + number))
                    .hasMessage("Search/byNumber, parameter 1 (n): expected int");
            assertThatThrownBy(() -> method("numbers").query("ids=1&ids=" + number))
                    .hasMessageStartingWith("Search/numbers, parameter 1 (ids) at $[1]: expected int");
            assertThatThrownBy(() -> method("numbers").query("ids=[1," + number + "]"))
                    .hasMessage("Search/numbers, parameter 1 (ids) at $[1]: expected int, found a fraction");
            assertThatThrownBy(() -> method("person").query("age=" + number))
                    .hasMessage("Search/person, parameter 1 (p) at $.age: expected int");
        }
    }

    @Test
    void anEmptyValueIsNoNumberAndNoFlag() {
        for (String empty : List.of("n=&limit=5", "n= &limit=5")) {
            assertThatThrownBy(() -> method("byNumber").query(empty))
                    .isInstanceOf(SerializationException.class)
                    .hasMessage("Search/byNumber, parameter 1 (n): expected int, found an empty text");
        }
        assertThatThrownBy(() -> method("scalars").query("exact=&price=1"))
                .hasMessage(
                        "Search/scalars, parameter 1 (exact): expected boolean, true or false, found an empty text");
        assertThatThrownBy(() -> method("numbers").query("ids=1&ids="))
                .hasMessage("Search/numbers, parameter 1 (ids) at $[1]: expected int, found an empty text");
        assertThatThrownBy(() -> method("person").query("name=Ann&age="))
                .hasMessage("Search/person, parameter 1 (p) at $.age: expected int, found an empty text");
        assertThatThrownBy(() -> method("byNumber").arguments("[\"\",5]"))
                .hasMessage("Search/byNumber, parameter 1 (n): expected int, found an empty text");
        assertThatThrownBy(() -> method("primitives").query("c=&d=1")).hasMessageContaining("parameter 1 (c)");
        assertThatThrownBy(() -> method("primitives").query("c=x&d=")).hasMessageContaining("parameter 2 (d)");
    }

    @Test
    void anEmptyValueIsAnEmptyTextOrNull() {
        assertThat(method("byName").query("s=")).containsExactly("");
        assertThat(method("byNumber").query("n=3&limit=")).containsExactly(3, null);
    }

    @Test
    void aRepeatedNameFillsAList() {
        assertThat(method("list").query("tags=a&tags=b")).containsExactly(List.of("a", "b"));
        assertThat(method("list").query("tags=a")).containsExactly(List.of("a"));
        assertThat(method("list").query("tags={a}&tags=[b]")).containsExactly(List.of("{a}", "[b]"));
        assertThat(method("numbers").query("ids=1&ids=2")).containsExactly(new int[] {1, 2});
        assertThat(method("numbers").query("ids=1")).containsExactly(new int[] {1});
        assertThat(method("any").query("o=a")).containsExactly("a");
        assertThat(method("any").query("o=a&o=b")).containsExactly(List.of("a", "b"));
        assertThatThrownBy(() -> method("byName").query("s=a&s=b"))
                .hasMessage("Search/byName, parameter 1 (s): expected one value, found 2");
    }

    @Test
    void listsMayBeJson() {
        assertThat(method("list").query("tags=[\"a\",\"b\"]")).containsExactly(List.of("a", "b"));
        assertThat(method("numbers").query("ids=[1,2]")).containsExactly(new int[] {1, 2});
        assertThat(method("people").query("people={\"name\":\"A\"}&people={\"name\":\"B\"}"))
                .containsExactly(List.of(new Person("A", 0, null, null), new Person("B", 0, null, null)));
    }

    @Test
    void aBeanIsMadeOfItsProperties() {
        assertThat(method("person").query("name=Ann&age=3&tags=a&tags=b&color=GREEN"))
                .containsExactly(new Person("Ann", 3, List.of("a", "b"), Color.GREEN));
        assertThat(method("person").query("name=Ann&tags=a&unknown=1"))
                .containsExactly(new Person("Ann", 0, List.of("a"), null));
        assertThat(method("pair").query("name=Ann&q=x")).containsExactly(new Person("Ann", 0, null, null), "x");
        assertThat(method("pair").query("q=x")).containsExactly(null, "x");
        assertThat(method("filter").query("a=1&b=2")).containsExactly(Map.of("a", "1", "b", "2"));
    }

    @Test
    void aBeanMayBeJsonUnderItsName() {
        assertThat(method("person").query("p={\"name\":\"Q\"}&name=other"))
                .containsExactly(new Person("Q", 0, null, null));
        assertThat(method("filter").query("filter={\"a\":\"1\"}")).containsExactly(Map.of("a", "1"));
    }

    @Test
    void unconvertibleTextIsRefusedWithoutTheValue() {
        assertThatThrownBy(() -> method("byNumber").query("n=secret"))
                .isInstanceOf(SerializationException.class)
                .hasMessage("Search/byNumber, parameter 1 (n): expected int");
        assertThatThrownBy(() -> method("person").query("age=secret"))
                .hasMessage("Search/person, parameter 1 (p) at $.age: expected int");
        assertThatThrownBy(() -> method("person").query("p={\"name\":"))
                .hasMessage("Search/person, parameter 1 (p): the JSON ends too early");
        assertThatThrownBy(() -> method("person").query("p={} {}")).isInstanceOf(SerializationException.class);
    }

    @Test
    void numbersInTextAreWithinTheLimitsToo() {
        assertThatThrownBy(() -> method("scalars").query("exact=true&price=" + "9".repeat(101)))
                .hasMessage("Search/scalars, parameter 2 (price): a text of 101 characters; at most 100 are read as"
                        + " a number or a time");
    }

    @Test
    void worksWithAMapperThatMakesNoNumbersOfText() {
        JsonCodec strict = new JsonCodec(JsonMapper.builder()
                .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                .build());
        Texts byNumber = Texts.of(strict, Search.class, "byNumber");

        assertThat(byNumber.query("n=3&limit=4")).containsExactly(3, 4L);
        assertThatThrownBy(() -> byNumber.arguments("[\"3\",4]")).isInstanceOf(SerializationException.class);
    }

    /** Query parameters are decoded before the test's method gets them, so a plus sign arrives as a space. */
    @Test
    void plusSignThatBecameASpaceIsExplained() {
        String advice = "; in a query and a form, + is a space, so write it as %2B";
        assertThatThrownBy(() -> method("from").query("start=2026-01-31T12:30:00 01:00&key=AQI="))
                .hasMessage("Search/from, parameter 1 (start): expected java.time.OffsetDateTime such as"
                        + " 2026-01-31T12:30:00+01:00" + advice);
        assertThatThrownBy(() -> method("within").query("start=2026-01-31T12:30:00 01:00&note=a b"))
                .hasMessageContaining("at $.start")
                .hasMessageEndingWith(advice);
        assertThatThrownBy(() -> method("from").query("start=2026-01-31T12:30:00Z&key=A I="))
                .hasMessage("Search/from, parameter 2 (key): expected base64, found a space" + advice);
        assertThatThrownBy(() -> method("within").query("start=soon&note=a 01:00"))
                .message()
                .doesNotContain("%2B");
        assertThat(method("from").query("start=2026-01-31T12:30:00+01:00&key=A+I="))
                .isNotNull();
    }

    interface Lists {
        void numbers(List<Integer> ids);

        void words(List<String> names);
    }

    @Test
    void commasBetweenTheElementsOfAListAreExplained() {
        assertThatThrownBy(() -> Texts.of(Lists.class, "numbers").query("ids=1,2"))
                .hasMessage("Lists/numbers, parameter 1 (ids) at $[0]: expected java.lang.Integer; a comma does not"
                        + " separate elements, so repeat the parameter: ids=…&ids=…");
        assertThatThrownBy(() -> Texts.of(Lists.class, "numbers").query("ids=one"))
                .hasMessageEndingWith("expected java.lang.Integer");
        assertThat(Texts.of(Lists.class, "words").query("names=a,b")).containsExactly(List.of("a,b"));
    }
}
