package tern.rpc.serialization.json;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.ServiceDescriptor;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.OutputBuffer;
import tools.jackson.databind.json.JsonMapper;

/** Tests the warnings about classes whose fields JSON does not send completely. */
@SuppressWarnings({"unused", "NullAway.Init"}) // Jackson sets and reads the fields of the test's classes.
class LostFieldsTest {

    static class Hidden {
        private String note;
        private int count;
        public String shown;
        private transient String cache;
    }

    static class Named {
        private String name;

        public String getName() {
            return name;
        }
    }

    static class Annotated {
        @JsonProperty
        private String name;

        @JsonIgnore
        private String secret;
    }

    @JsonAutoDetect(fieldVisibility = Visibility.ANY)
    static class Detected {
        private String name;
    }

    static class Valued {
        private final String text = "";

        @JsonValue
        public String text() {
            return text;
        }
    }

    /**
     * A class like the code that Lombok generates for {@code @Accessors(fluent = true)}. Jackson finds none of its
     * properties.
     */
    static class Fluent {
        private String name;

        public String name() {
            return name;
        }
    }

    /** A class like the code that Lombok generates for {@code @Builder}. */
    static final class Built {
        private final String name;
        private final int count;

        private Built(String name, int count) {
            this.name = name;
            this.count = count;
        }

        public String getName() {
            return name;
        }

        public int getCount() {
            return count;
        }
    }

    sealed interface Shape {}

    record Circle(int radius) implements Shape {}

    record Holder(List<Map<String, Hidden>> hidden) {}

    interface Shop {
        Hidden hidden();

        Holder held(Named named);

        void complete(Named named, Annotated annotated, Detected detected, Valued valued);

        Fluent fluent();

        Built built();

        Shape shape();

        Map<Named, String> keyed();

        ZonedDateTime zoned();

        OffsetDateTime offset();

        Number number();
    }

    private final JsonCodec codec = new JsonCodec(JsonMapper.builder().build());

    private JsonMethod method(String name) {
        return codec.method(ServiceDescriptor.of(Shop.class).overloads(name).get(0));
    }

    @Test
    void warningNamesTheFieldsWithoutGetter() {
        assertThat(method("hidden").lostState())
                .containsExactly("Objects of " + Hidden.class.getName() + " lose state in JSON: the fields note, count"
                        + " have no getter. Add one, annotate the field with @JsonProperty or @JsonIgnore, make the"
                        + " class a record, or use the protocol tri");
    }

    @Test
    void warningNamesAClassOfWhichJsonSendsNothing() {
        assertThat(method("fluent").lostState())
                .singleElement()
                .asString()
                .contains(Fluent.class.getName() + " lose state in JSON: the field name has no getter");
    }

    @Test
    void callersAreWarnedOfAClassThatJsonCannotCreate() {
        assertThat(method("built").lostState())
                .containsExactly("Shop/built, result: " + Built.class.getName()
                        + " has no constructor that JSON can use; annotate a constructor or a static method with"
                        + " @JsonCreator, add a constructor without parameters, or declare a record");
        assertThat(method("built").warnings()).isEmpty();
    }

    @Test
    void sealedTypeNeedsOneAnnotation() {
        assertThat(method("shape").warnings())
                .containsExactly("Shop/shape, result: " + Shape.class.getName()
                        + " is abstract and cannot be read from JSON; annotate it with"
                        + " @JsonTypeInfo(use = JsonTypeInfo.Id.NAME), or declare a class");
    }

    @Test
    void keyThatJsonCannotReadIsNamedWithTheKeysToUse() {
        assertThat(method("keyed").warnings())
                .containsExactly("Shop/keyed, result: " + Named.class.getName()
                        + " cannot be the key of a map in JSON; use keys such as a String, a number or an enum, or"
                        + " send a list");
    }

    @Test
    void classesInsideOtherTypesAreFound() {
        assertThat(method("held").lostState()).singleElement().asString().contains(Hidden.class.getName());
    }

    @Test
    void classesThatJsonSendsCompletelyHaveNoWarning() {
        assertThat(method("complete").lostState()).isEmpty();
    }

    private Object arrived(String method, Object value) {
        OutputBuffer out = new OutputBuffer();
        out.reset(1 << 20);
        method(method).writeResult(value, out);
        byte[] bytes = out.toByteArray();
        return method(method).readResult(bytes, 0, bytes.length);
    }

    @Test
    void timesKeepTheirInstantAndNumbersBecomeDouble() {
        ZonedDateTime zoned = ZonedDateTime.parse("2026-03-01T10:00:00+01:00[Europe/Berlin]");

        Object arrived = arrived("zoned", zoned);

        assertThat(arrived).isNotEqualTo(zoned);
        assertThat(((ZonedDateTime) arrived).toInstant()).isEqualTo(zoned.toInstant());
        assertThat(arrived("offset", zoned.toOffsetDateTime())).isEqualTo(zoned.toOffsetDateTime());
        assertThat(arrived("number", new java.math.BigDecimal("1.10"))).isEqualTo(1.1);
    }
}
