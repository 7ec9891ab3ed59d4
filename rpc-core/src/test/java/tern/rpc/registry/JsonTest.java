package tern.rpc.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {

    @Test
    void everyKindOfValueIsRead() {
        assertThat(JsonReader.read(" {\"a\" : [1, -2.5e1, true, false, null, \"x\\n\\u00e4\\\"\"], \"b\":{}} ", 100))
                .isEqualTo(Map.of(
                        "a", Arrays.asList(1L, new BigDecimal("-2.5e1"), true, false, null, "x\nä\""), "b", Map.of()));
    }

    @Test
    void writtenTextIsReadAgain() {
        Map<String, Object> value = Map.of("k\u0001\\", List.of(1L, "a\"b\r\n\t", Map.of(), List.of(), true));

        assertThat(JsonReader.read(JsonWriter.write(value), 100)).isEqualTo(value);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "[1,",
                "\"a",
                "\"\\x\"",
                "\"\\u12\"",
                "\"\\uzzzz\"",
                "{\"a\" 1}",
                "{a:1}",
                "tru",
                "1 2",
                "-",
                "1e",
                "\"a\nb\"",
                "nul",
                "[1 2]",
                "{\"a\":1,}"
            })
    void brokenTextIsRefusedWithItsPosition(String text) {
        assertThatThrownBy(() -> JsonReader.read(text, 100))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("not valid JSON at character ");
    }

    @Test
    void depthMembersAndDigitsAreLimited() {
        assertThatThrownBy(() -> JsonReader.read("[".repeat(100_000), 1_000_000))
                .hasMessageContaining("more than 16 levels");
        assertThatThrownBy(() -> JsonReader.read("[1,2,3]", 2)).hasMessageContaining("more than 2 members");
        assertThatThrownBy(() -> JsonReader.read("1".repeat(41), 2)).hasMessageContaining("more than 40 characters");
    }

    @Test
    void otherTypesCannotBeWritten() {
        assertThatThrownBy(() -> JsonWriter.write(Map.of("a", new StringBuilder())))
                .hasMessage("java.lang.StringBuilder cannot be written as JSON");
    }
}
