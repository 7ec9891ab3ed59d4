package tern.rpc.serialization.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.serialization.SerializationException;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.JacksonModule;
import tools.jackson.databind.deser.ValueInstantiator;
import tools.jackson.databind.deser.ValueInstantiators;
import tools.jackson.databind.deser.std.StdValueInstantiator;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/** Tests that constructors receive the same arguments as from Jackson itself. */
class QuickConstructorsTest {

    private record Primitives(
            boolean yes, byte small, short two, int four, long eight, float half, double full, char one) {}

    record Range(int from, int to) {
        Range {
            if (from > to) {
                throw new IllegalArgumentException("from " + from + " is above to " + to);
            }
        }
    }

    record Generic<T>(T value, List<T> more) {}

    static final class Made {
        private final String how;

        @JsonCreator
        Made(@JsonProperty("first") String first, @JsonProperty("rest") String... rest) {
            this.how = first + Arrays.toString(rest);
        }
    }

    static final class Factory {
        private final String how;

        private Factory(String how) {
            this.how = how;
        }

        @JsonCreator
        static Factory of(@JsonProperty("a") String a, @JsonProperty("b") @Nullable String b) {
            return new Factory(a + b);
        }
    }

    interface Service {
        Primitives primitives();

        Range range();

        List<Range> ranges();

        Generic<Range> generic();

        Made made();

        Factory factory();
    }

    private static @Nullable Object read(String method, String json) {
        return Texts.of(Service.class, method).result(json);
    }

    @Test
    void primitivesThatAreMissingOrNullAreZero() {
        Primitives zero = new Primitives(false, (byte) 0, (short) 0, 0, 0, 0, 0, '\0');

        assertThat(read("primitives", "{}")).isEqualTo(zero);
        assertThat(read("primitives", "{\"four\":null,\"full\":null}")).isEqualTo(zero);
        assertThat(
                        read(
                                "primitives",
                                "{\"yes\":true,\"small\":1,\"two\":2,\"four\":4,\"eight\":8,\"half\":0.5,\"full\":1.5,\"one\":\"x\"}"))
                .isEqualTo(new Primitives(true, (byte) 1, (short) 2, 4, 8, 0.5f, 1.5, 'x'));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "range; {'from':2,'to':1}; Service/range, result could",
                "generic; {'more':[{'from':2,'to':1}]}; Service/generic, result at $.more[0] could",
                "ranges; [{'from':1,'to':1},{'from':2,'to':1}]; Service/ranges, result at $[1] could"
            })
    void errorNamesTheMemberThatAConstructorRejects(String method, String json, String place) {
        assertThatThrownBy(() -> read(method, json.replace('\'', '"')))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining(place)
                .hasMessageContaining("IllegalArgumentException");
    }

    @Test
    void genericRecordsAndOtherCreatorsAreMade() {
        assertThat(read("generic", "{\"value\":{\"from\":1,\"to\":2},\"more\":[{\"from\":3,\"to\":4}]}"))
                .isEqualTo(new Generic<>(new Range(1, 2), List.of(new Range(3, 4))));
        assertThat(((Made) read("made", "{\"first\":\"a\",\"rest\":[\"b\",\"c\"]}")).how)
                .isEqualTo("a[b, c]");
        assertThat(((Factory) read("factory", "{\"a\":\"x\"}")).how).isEqualTo("xnull");
    }

    /** Rejects an instantiator that another module has wrapped, as the modules for Kotlin and Scala do. */
    private static final class Strict extends ValueInstantiators.Base {
        @Override
        public ValueInstantiator modifyValueInstantiator(
                DeserializationConfig config, BeanDescription.Supplier description, ValueInstantiator made) {
            if (made.getClass() != StdValueInstantiator.class) {
                throw new IllegalStateException("wrapped as " + made.getClass());
            }
            return made;
        }
    }

    @Test
    void moduleOfTheApplicationSeesTheInstantiatorOfJackson() {
        JacksonModule strict = new SimpleModule("strict") {
            private static final long serialVersionUID = 1L;

            @Override
            public void setupModule(SetupContext context) {
                context.addValueInstantiators(new Strict());
            }
        };
        JsonCodec codec = new JsonCodec(JsonMapper.builder().addModule(strict).build());

        assertThat(Texts.of(codec, Service.class, "range").result("{\"from\":1,\"to\":2}"))
                .isEqualTo(new Range(1, 2));
    }
}
