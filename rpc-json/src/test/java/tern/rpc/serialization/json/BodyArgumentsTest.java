package tern.rpc.serialization.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonAnySetter;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.IntToLongFunction;
import java.util.function.ToIntBiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.StreamObserver;
import tern.rpc.serialization.SerializationException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests how arguments are decoded from a request body (docs/wire-protocol.md 4.2), and the restrictions of the Connect
 * protocol.
 */
class BodyArgumentsTest {

    enum Color {
        RED,
        GREEN
    }

    record Person(String name, int age) {}

    static class Open {
        public String known;

        @JsonAnySetter
        public Map<String, Object> rest = new HashMap<>();
    }

    interface Greetings {
        String nothing();

        String echo(String s);

        String pojo(Person p);

        int twice(int n);

        String color(Color c);

        String price(BigDecimal amount);

        String day(LocalDate d);

        String moment(Instant i);

        String bytes(byte[] b);

        String list(List<String> l);

        String lists(List<List<String>> l);

        String array(int[] a);

        String any(Object o);

        String map(Map<String, Integer> m);

        String set(Set<Integer> s);

        long add(long a, long b);

        String both(Person p, List<String> tags);

        String named(Person name);

        String open(Open o);

        String place(URI u);

        String chain(Link l);
    }

    private static Texts method(String name) {
        return Texts.of(Greetings.class, name);
    }

    private static void assertRefused(String method, String json, String message) {
        assertThatThrownBy(() -> method(method).arguments(json))
                .isInstanceOf(SerializationException.class)
                .hasMessage(message);
    }

    @Test
    void aMethodWithoutParametersTakesNoArguments() {
        for (String body : List.of("", "{}", "[]", "null")) {
            assertThat(method("nothing").arguments(body)).isEmpty();
        }
        for (String body : List.of("[1,2]", "{\"a\":1}", "\"a\"", "7", "true")) {
            assertRefused("nothing", body, "Greetings/nothing: expected no arguments, found some");
        }
        assertRefused("nothing", "{} {}", "Greetings/nothing: further data after the end of the JSON");
        assertThatThrownBy(() -> method("nothing").arguments("not JSON")).isInstanceOf(SerializationException.class);
    }

    @Test
    void oneParameterIsTheValueItself() {
        assertThat(method("echo").argument("\"hello\"")).isEqualTo("hello");
        assertThat(method("pojo").argument("{\"name\":\"Ann\",\"age\":3}")).isEqualTo(new Person("Ann", 3));
        assertThat(method("twice").argument("4")).isEqualTo(4);
        assertThat(method("color").argument("\"GREEN\"")).isEqualTo(Color.GREEN);
        assertThat(method("price").argument("12.50")).isEqualTo(new BigDecimal("12.50"));
        assertThat(method("map").argument("{\"a\":1}")).isEqualTo(Map.of("a", 1));
        assertThat(method("bytes").argument("\"AQI=\"")).isEqualTo(new byte[] {1, 2});
        assertThat(method("any").argument("{\"a\":[1]}")).isEqualTo(Map.of("a", List.of(1)));
    }

    @Test
    void aBeanMayStandInAnObjectThatNamesTheParameter() {
        Person ann = new Person("Ann", 3);
        assertThat(method("pojo").argument("{\"p\":{\"name\":\"Ann\",\"age\":3}}"))
                .isEqualTo(ann);
        assertThat(method("pojo").argument(" {\n\"p\" : {\"age\":3,\"name\":\"Ann\"} } "))
                .isEqualTo(ann);
        assertThat(method("pojo").argument("{\"p\":1,\"name\":\"Ann\",\"age\":3}"))
                .isEqualTo(ann);
        assertThat(method("pojo").argument("{\"p\":{},\"name\":\"Ann\",\"age\":3}"))
                .isEqualTo(ann);
        assertThat(method("named").argument("{\"name\":\"Ann\"}")).isEqualTo(new Person("Ann", 0));
        assertThat(method("open").argument("{\"o\":{\"a\":1}}"))
                .isInstanceOfSatisfying(
                        Open.class, open -> assertThat(open.rest).containsKey("o"));
        assertRefused(
                "pojo",
                "{\"p\":{\"name\":\"Ann\",\"age\":\"x\"}}",
                "Greetings/pojo, parameter 1 (p) at $.age: expected int");
    }

    @Test
    void unknownConstantIsReportedWithTheKnownOnes() {
        assertRefused(
                "color",
                "\"BLUE\"",
                "Greetings/color, parameter 1 (c): expected " + Color.class.getName() + ", one of RED, GREEN");
    }

    @Test
    void arrayWithOneElementIsUnwrappedIfTheTypeAcceptsNoArray() {
        assertThat(method("echo").argument("[\"hello\"]")).isEqualTo("hello");
        assertThat(method("pojo").argument("[{\"name\":\"Ann\",\"age\":3}]")).isEqualTo(new Person("Ann", 3));
        assertThat(method("twice").argument("[4]")).isEqualTo(4);
        assertThat(method("color").argument("[\"GREEN\"]")).isEqualTo(Color.GREEN);
        assertThat(method("map").argument("[{\"a\":1}]")).isEqualTo(Map.of("a", 1));
        assertThat(method("day").argument("[\"2026-01-02\"]")).isEqualTo(LocalDate.of(2026, 1, 2));
        assertThat(method("moment").argument("[\"2026-01-02T03:04:05Z\"]"))
                .isEqualTo(Instant.parse("2026-01-02T03:04:05Z"));
        assertThat(method("bytes").argument("[\"0012\"]")).isEqualTo(new byte[] {(byte) 0xd3, 0x4d, 0x76});
        assertThat(method("echo").argument("[null]")).isNull();
    }

    @Test
    void anArrayIsTheValueWhereItCanBe() {
        assertThat(method("list").argument("[\"a\"]")).isEqualTo(List.of("a"));
        assertThat(method("lists").argument("[[\"a\"]]")).isEqualTo(List.of(List.of("a")));
        assertThat(method("array").argument("[7]")).isEqualTo(new int[] {7});
        assertThat(method("set").argument("[7]")).isEqualTo(Set.of(7));
        assertThat(method("any").argument("[7]")).isEqualTo(List.of(7));
        assertThat(method("day").argument("[2026,1,2]")).isEqualTo(LocalDate.of(2026, 1, 2));
        assertThat(method("bytes").argument("[1,2]")).isEqualTo(new byte[] {1, 2});
        assertThatThrownBy(() -> method("list").arguments("[[\"a\"]]")).isInstanceOf(SerializationException.class);
    }

    @Test
    void aStringParameterTakesNothingButAString() {
        assertRefused(
                "echo",
                "[\"a\",\"b\"]",
                "Greetings/echo, parameter 1 (s): expected java.lang.String," + " found an array of several values");
        assertRefused(
                "echo",
                "{\"x\":\"a\"}",
                "Greetings/echo, parameter 1 (s): expected java.lang.String," + " or an object with 's' alone");
        assertRefused("echo", "1", "Greetings/echo, parameter 1 (s): expected java.lang.String");
        assertRefused("echo", "true", "Greetings/echo, parameter 1 (s): expected java.lang.String");
        assertRefused("echo", "[1]", "Greetings/echo, parameter 1 (s): expected java.lang.String");
        assertRefused("echo", "[[\"a\"]]", "Greetings/echo, parameter 1 (s): expected java.lang.String");
    }

    @Test
    void aScalarMayStandInAnObjectUnderItsName() {
        assertThat(method("echo").argument("{\"s\":\"hello\"}")).isEqualTo("hello");
        assertThat(method("twice").argument("{\"n\":4}")).isEqualTo(4);
        assertThat(method("day").argument("{\"d\":\"2026-01-02\"}")).isEqualTo(LocalDate.of(2026, 1, 2));
        assertThat(method("bytes").argument("{\"b\":\"AQI=\"}")).isEqualTo(new byte[] {1, 2});
        assertRefused(
                "echo",
                "{\"s\":\"hello\",\"t\":1}",
                "Greetings/echo, parameter 1 (s): expected" + " java.lang.String, or an object with 's' alone");
        assertRefused(
                "echo",
                "{}",
                "Greetings/echo, parameter 1 (s): expected java.lang.String," + " or an object with 's' alone");
    }

    @Test
    void nullIsAValueButNotOfAPrimitive() {
        assertThat(method("echo").argument("null")).isNull();
        assertThat(method("pojo").argument("null")).isNull();
        assertRefused("twice", "null", "Greetings/twice, parameter 1 (n) is missing: expected int");
        assertRefused("add", "[1,null]", "Greetings/add, parameter 2 (b) is missing: expected long");
    }

    @Test
    void severalParametersAreReadByPosition() {
        assertThat(method("add").arguments("[1,2]")).containsExactly(1L, 2L);
        assertThat(method("both").arguments("[{\"name\":\"Ann\"},[\"a\"]]"))
                .containsExactly(new Person("Ann", 0), List.of("a"));
    }

    @Test
    void severalParametersAreReadByName() {
        assertThat(method("add").arguments("{\"b\":2,\"a\":1}")).containsExactly(1L, 2L);
        assertThat(method("both").arguments("{\"tags\":[\"a\"]}")).containsExactly(null, List.of("a"));
        assertRefused("add", "{\"a\":1}", "Greetings/add, parameter 2 (b) is missing: expected long");
    }

    @Test
    void unknownParameterNameIsRefusedIfAnArgumentIsAbsent() {
        assertRefused(
                "both", "{\"Tags\":[\"a\"],\"p\":{}}", "Greetings/both: unknown argument 'Tags'; both has p, tags");
        assertRefused(
                "both",
                "{\"other\":{\"x\":[1]},\"P\":null}",
                "Greetings/both: unknown argument 'other'; both has p, tags");
        assertRefused("add", "{\"a\":1,\"c\":2}", "Greetings/add: unknown argument 'c'; add has a, b");
        assertRefused("add", "{\"\\u0007\":1}", "Greetings/add: unknown argument '\\u0007'; add has a, b");
    }

    @Test
    void unknownNameIsIgnoredIfAllArgumentsArePresent() {
        assertThat(method("add").arguments("{\"a\":1,\"new\":{\"x\":[1]},\"b\":2}"))
                .containsExactly(1L, 2L);
        assertThat(method("both").arguments("{\"new\":1,\"p\":null,\"tags\":null}"))
                .containsExactly(null, null);
    }

    @Test
    void aListMayStandInAnObjectUnderItsName() {
        assertThat(method("list").argument("{\"l\":[\"a\"]}")).isEqualTo(List.of("a"));
        assertThat(method("lists").argument(" {\"l\" : [[\"a\"]]}")).isEqualTo(List.of(List.of("a")));
        assertThat(method("array").argument("{\"a\":[7]}")).isEqualTo(new int[] {7});
        assertThat(method("set").argument("{\"s\":[7]}")).isEqualTo(Set.of(7));
        assertThat(method("list").argument("{\"l\":null}")).isNull();
        assertThat(method("any").argument("{\"o\":[7]}")).isEqualTo(Map.of("o", List.of(7)));
        assertThat(method("map").argument("{\"m\":7}")).isEqualTo(Map.of("m", 7));
        String expected = "Greetings/list, parameter 1 (l): expected java.util.List<java.lang.String>";
        for (String body : List.of("{\"x\":[\"a\"]}", "{\"l\":[\"a\"],\"m\":1}", "{}")) {
            assertRefused("list", body, expected + ", or an object with 'l' alone");
        }
        assertRefused("list", "{\"l\":{\"x\":1}}", expected + ", found no array");
    }

    @Test
    void aMessageNamesTheDeclaredTypeAndNotTheClassThatIsMade() {
        assertRefused(
                "list",
                "7",
                "Greetings/list, parameter 1 (l): expected java.util.List<java.lang.String>, found no array");
        assertRefused(
                "set",
                "7",
                "Greetings/set, parameter 1 (s): expected java.util.Set<java.lang.Integer>, found no array");
        assertRefused("array", "7", "Greetings/array, parameter 1 (a): expected int[], found no array");
        assertRefused(
                "lists", "[7]", "Greetings/lists, parameter 1 (l) at $[0]: expected java.util.List, found no array");
        assertRefused(
                "map",
                "7",
                "Greetings/map, parameter 1 (m): expected java.util.Map<java.lang.String, java.lang.Integer>");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"[1]|found 1", "[]|found 0", "[1,2,3]|found more", "[1,2,[[[|found more"})
    void anArrayOfAnotherLengthIsRefused(String json, String found) {
        assertRefused("add", json, "Greetings/add: expected an array of 2 values, " + found);
    }

    @Test
    void severalParametersNeedAnArrayOrAnObject() {
        assertRefused("add", "7", "Greetings/add: expected an array of 2 values, or an object with a, b");
        assertRefused(
                "add",
                "",
                "Greetings/add: expected an array of 2 values, or an object with a, b, found no JSON; an example is"
                        + " {\"a\":1,\"b\":1}");
    }

    @Test
    void bytesOfAnotherCharacterSetAreReported() {
        byte[] latin = "\"M\u00fcller\"".getBytes(StandardCharsets.ISO_8859_1);

        assertThatThrownBy(() -> method("echo").method().readArguments(latin, 0, latin.length, false))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("the bytes are not UTF-8 at line 1, column ")
                .hasMessageEndingWith("; send JSON in UTF-8");
    }

    @Test
    void anEmptyBodyIsNoValue() {
        assertRefused(
                "echo",
                "",
                "Greetings/echo, parameter 1 (s): expected java.lang.String, found no JSON; an example is \"text\"");
        assertRefused(
                "pojo",
                " ",
                "Greetings/pojo, parameter 1 (p): expected " + Person.class.getName()
                        + ", found no JSON; an example is {\"name\":\"text\",\"age\":1}");
        assertRefused(
                "echo", "[]", "Greetings/echo, parameter 1 (s): expected java.lang.String," + " found an empty array");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "twice|1",
                "color|\"RED\"",
                "price|1.5",
                "day|\"2026-01-31\"",
                "moment|\"2026-01-31T12:30:00Z\"",
                "bytes|\"AQI=\"",
                "list|[\"text\"]",
                "lists|[[\"text\"]]",
                "array|[1]",
                "any|\"text\"",
                "map|{}",
                "both|{\"p\":{\"name\":\"text\",\"age\":1},\"tags\":[\"text\"]}",
                "place|\"text\"",
                "chain|{\"next\":{\"next\":{}}}",
            })
    void exampleInAMessageCanBeSent(String method, String example) {
        assertThatThrownBy(() -> method(method).arguments("")).hasMessageEndingWith("; an example is " + example);
        assertThat(method(method).arguments(example)).doesNotContainNull();
    }

    @Test
    void byteOrderMarkBeforeTheBodyIsIgnored() {
        assertThat(method("echo").argument("\ufeff\"a\"")).isEqualTo("a");
        assertThat(method("add").arguments("\ufeff[1,2]")).containsExactly(1L, 2L);
        assertThat(method("pojo").argument("\ufeff{\"p\":{\"name\":\"Ann\",\"age\":3}}"))
                .isEqualTo(new Person("Ann", 3));
        assertThat(method("nothing").arguments("\ufeff")).isEmpty();
        assertThat(method("pojo").arguments("\ufeff{}", true)).containsExactly(new Person(null, 0));
        assertThatThrownBy(() -> method("echo").argument("\ufeff\ufeff\"a\""))
                .isInstanceOf(SerializationException.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"echo|\"a\" \"b\"", "echo|[\"a\"]]", "pojo|{}{}", "pojo|[{}] 1", "add|[1,2]3"})
    void nothingMayFollowTheValue(String method, String json) {
        assertThatThrownBy(() -> method(method).arguments(json)).isInstanceOf(SerializationException.class);
    }

    @Test
    void connectHasOneMessageWithoutWrapping() {
        assertThat(method("pojo").arguments("{\"name\":\"Ann\",\"age\":3}", true))
                .containsExactly(new Person("Ann", 3));
        for (String body : List.of("{}", "{\"added\":[1]}", "")) {
            assertThat(method("nothing").arguments(body, true)).isEmpty();
        }
        for (String body : List.of("\"a\"", "[1]", "{} {}", "{")) {
            assertThatThrownBy(() -> method("nothing").arguments(body, true))
                    .isInstanceOf(SerializationException.class);
        }
        for (String method : List.of("echo", "pojo", "map")) {
            assertThatThrownBy(() -> method(method).arguments("[{\"a\":1}]", true))
                    .isInstanceOf(SerializationException.class);
        }
        assertThatThrownBy(() -> method("echo").arguments("{\"s\":\"a\"}", true))
                .isInstanceOf(SerializationException.class);
        assertThatThrownBy(() -> method("add").arguments("[1,2]", true))
                .hasMessage("Greetings/add: 2 parameters do not fit into the single message of a Connect request; leave"
                        + " out connect-protocol-version");
    }

    @Test
    void argumentsOfAClientAreReadBack() {
        assertThat(method("nothing").written()).isEqualTo("{}");
        assertThat(method("echo").written("a")).isEqualTo("\"a\"");
        assertThat(method("echo").written((Object) null)).isEqualTo("null");
        assertThat(method("list").written(List.of("a"))).isEqualTo("[\"a\"]");
        assertThat(method("lists").written(List.of(List.of("a")))).isEqualTo("[[\"a\"]]");
        assertThat(method("bytes").written(new byte[] {1, 2})).isEqualTo("\"AQI=\"");
        assertThat(method("any").written(List.of(List.of(7)))).isEqualTo("[[7]]");
        assertThat(method("add").written(1L, 2L)).isEqualTo("[1,2]");
        assertThat(method("both").written(null, List.of())).isEqualTo("[null,[]]");
        assertThat(method("pojo").written(new Person(null, 1))).isEqualTo("{\"age\":1}");
    }

    @Test
    void namesThatTheClassFileLacksAreNumberedAndReported() {
        Texts compare = Texts.of(ToIntBiFunction.class, "applyAsInt");

        assertThat(compare.arguments("{\"arg1\":2,\"arg0\":1}")).containsExactly(1, 2);
        assertThatThrownBy(() -> compare.arguments("{\"x\":2,\"y\":1}"))
                .hasMessage("ToIntBiFunction/applyAsInt: unknown argument 'x'; applyAsInt has arg0, arg1 (the interface"
                        + " was compiled without -parameters)");
        assertThatThrownBy(
                        () -> Texts.of(IntToLongFunction.class, "applyAsLong").arguments("{\"x\":2}"))
                .hasMessageEndingWith(
                        "or an object with 'arg0' alone (the interface was compiled without -parameters)");
        assertThat(compare.method().warnings())
                .containsExactly("ToIntBiFunction/applyAsInt: its class file has no parameter names (compile with"
                        + " -parameters); in JSON and queries they are called arg0, arg1");
        assertThat(method("add").method().warnings()).isEmpty();
    }

    interface Streams {
        void down(String s, int n, StreamObserver<Person> out);

        StreamObserver<Person> both(StreamObserver<Color> out);

        CompletableFuture<Person> up(Flow.Publisher<String> in);
    }

    @Test
    void messagesOfStreamsAreReadAsArgumentAndResult() {
        Texts down = Texts.of(Streams.class, "down");
        Texts both = Texts.of(Streams.class, "both");
        Texts up = Texts.of(Streams.class, "up");

        assertThat(down.arguments("{\"n\":1,\"s\":\"a\"}")).containsExactly("a", 1);
        assertThat(down.result("{\"name\":\"Ann\"}")).isEqualTo(new Person("Ann", 0));
        assertThat(both.arguments("{\"name\":\"Ann\"}", true)).containsExactly(new Person("Ann", 0));
        assertThat(both.writtenResult(Color.RED)).isEqualTo("\"RED\"");
        assertThat(up.arguments("\"a\"", true)).containsExactly("a");
        assertThat(up.written("a")).isEqualTo("\"a\"");
        assertThat(List.of(down, both, up))
                .allSatisfy(texts -> assertThat(texts.method().warnings()).isEmpty());
    }

    interface Shape {}

    interface Odd {
        void draw(Shape shape);
    }

    @Test
    void aTypeThatJsonCannotBeMadeIntoIsReportedBeforeTheFirstCall() {
        assertThat(Texts.of(Odd.class, "draw").method().warnings())
                .containsExactly("Odd/draw, parameter 1 (shape): " + Shape.class.getName()
                        + " is abstract and cannot be read from JSON; name its subtypes with @JsonTypeInfo and"
                        + " @JsonSubTypes, or declare a class");
    }

    record Page(Shape shape) {}

    interface Drawings {
        void print(Page page);
    }

    @Test
    void abstractTypeInAMessageIsRefusedWithTheChangeToMake() {
        assertThatThrownBy(() -> Texts.of(Odd.class, "draw").arguments("{\"radius\":1}"))
                .hasMessageEndingWith("parameter 1 (shape): " + Shape.class.getName()
                        + " is abstract and cannot be read from JSON; name its subtypes with @JsonTypeInfo and"
                        + " @JsonSubTypes, or declare a class");
        assertThatThrownBy(() -> Texts.of(Drawings.class, "print").arguments("{\"shape\":{\"radius\":1}}"))
                .hasMessageContaining("parameter 1 (page) at $.shape: " + Shape.class.getName() + " is abstract");
    }

    @Test
    void expectedFormOfADateIsShown() {
        assertThatThrownBy(() -> Texts.of(Greetings.class, "day").arguments("\"31.01.2026\""))
                .hasMessageEndingWith("parameter 1 (d): expected java.time.LocalDate such as 2026-01-31");
        assertThatThrownBy(() -> Texts.of(Greetings.class, "moment").arguments("\"yesterday\""))
                .hasMessageEndingWith("parameter 1 (i): expected java.time.Instant such as 2026-01-31T12:30:00Z");
    }

    record Parcel(UUID id, ZoneId zone, byte[] label, Integer pieces, long grams, String... tags) {}

    interface Parcels {
        void send(Parcel parcel);

        void count(Map<Integer, Color> colors);

        void join(String separator, String... parts);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {"id":"7"}               | $.id: expected java.util.UUID such as 123e4567-e89b-12d3-a456-426614174000
        {"zone":"Nowhere"}       | $.zone: expected java.time.ZoneId such as Europe/Berlin
        {"label":"***"}          | $.label: expected byte[] in base64 such as AQI=
        {"pieces":3000000000}    | $.pieces: expected int, found a number that does not fit
        {"grams":99999999999999999999} | $.grams: expected long, found a number that does not fit
        {"pieces":"many"}        | $.pieces: expected java.lang.Integer
        {"tags":"fragile"}       | $.tags: expected java.lang.String[], found no array
        """)
    void formOfAWrongValueIsShown(String json, String message) {
        assertThatThrownBy(() -> Texts.of(Parcels.class, "send").arguments(json))
                .hasMessage("Parcels/send, parameter 1 (parcel) at " + message);
    }

    interface Switches {
        void set(boolean on);

        void count(Integer pieces);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        set   | True  | expected boolean in JSON, found text without double quotes at line 1, column 1; write true or false
        set   | "yes" | expected boolean, true or false
        count | five  | expected java.lang.Integer in JSON, found text without double quotes at line 1, column 1; write a number
        """)
    void wordInPlaceOfABooleanOrANumberIsAnsweredWithItsForm(String method, String json, String message) {
        assertThatThrownBy(() -> Texts.of(Switches.class, method).arguments(json))
                .hasMessageEndingWith("): " + message);
    }

    @Test
    void keyOfAMapInAnotherFormIsNamedAsAKey() {
        assertThatThrownBy(() -> Texts.of(Parcels.class, "count").arguments("{\"two\":\"RED\"}"))
                .hasMessageEndingWith("parameter 1 (colors): expected java.lang.Integer as the key of a map");
    }

    @Test
    void mapInAnObjectWithTheNameOfTheParameterIsExplained() {
        assertThatThrownBy(() -> Texts.of(Parcels.class, "count").arguments("{\"colors\":{\"2\":\"RED\"}}"))
                .hasMessageEndingWith("expected java.lang.Integer as the key of a map; a map is sent without an object"
                        + " with 'colors' around it");
    }

    @Test
    void variableArgumentsAreAnArray() {
        assertThatThrownBy(() -> Texts.of(Parcels.class, "join").arguments("[\"-\",\"a\"]"))
                .hasMessageEndingWith("parameter 2 (parts): expected java.lang.String[], found no array");
    }

    static class Link {
        public Link next;
    }

    interface Chains {
        Link first();
    }

    @Test
    void pathOfObjectsThatReferToEachOtherIsShortened() {
        Link first = new Link();
        first.next = new Link();
        first.next.next = first;

        assertThatThrownBy(() -> Texts.of(Chains.class, "first").writtenResult(first))
                .message()
                .contains(" at $.next.next", "…")
                .hasSizeLessThan(400);
    }

    @Test
    void aMethodIsResolvedOnce() {
        JsonCodec codec = new JsonCodec(new JsonMapper());

        assertThat(Texts.of(codec, Greetings.class, "add").method())
                .isSameAs(Texts.of(codec, Greetings.class, "add").method());
    }
}
