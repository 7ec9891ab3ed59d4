package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MetadataTest {

    @Test
    void namesAreComparedWithoutCaseAndKeptAsWritten() {
        Metadata metadata = new Metadata().put("TraceParent", "00-1");

        assertThat(metadata.get("traceparent")).isEqualTo("00-1");
        assertThat(metadata.names()).containsExactly("TraceParent");
    }

    @Test
    void putReplacesAndAddAppends() {
        Metadata metadata = new Metadata().add("k", "1").add("K", "2").add("other", "x");
        assertThat(metadata.getAll("k")).containsExactly("1", "2");
        assertThat(metadata.get("k")).isEqualTo("2");

        metadata.put("k", "3");

        assertThat(metadata.getAll("k")).containsExactly("3");
        assertThat(metadata.get("other")).isEqualTo("x");
    }

    @Test
    void textAndBinaryAreKeptApart() {
        Metadata metadata = new Metadata().put("b", new byte[] {1}).put("t", "x");

        assertThat(metadata.get("b")).isNull();
        assertThat(metadata.getBytes("b")).containsExactly(1);
        assertThat(metadata.getBytes("t")).isNull();
        assertThat(metadata.contains("b")).isTrue();
    }

    @Test
    void binaryValueIsFoundWithAndWithoutItsSuffix() {
        for (String written : List.of("trace", "trace-bin", "Trace-Bin")) {
            Metadata metadata = new Metadata().put(written, new byte[] {1});

            assertThat(metadata.getBytes("trace")).containsExactly(1);
            assertThat(metadata.getBytes("trace-bin")).containsExactly(1);
            assertThat(metadata.contains("TRACE-bin")).isTrue();
            assertThat(metadata.count("trace")).isEqualTo(1);
            assertThat(metadata.getBytes("trac")).isNull();
            assertThat(metadata.getBytes("trace-bin-bin")).isEqualTo(written.equals("trace") ? null : new byte[] {1});
            assertThat(metadata.names()).containsExactly(written);

            metadata.remove("trace");

            assertThat(metadata.isEmpty()).isTrue();
        }
    }

    @Test
    void binSuffixHasNoEffectOnTextValues() {
        Metadata metadata = new Metadata().put("recycle-bin", "full");

        assertThat(metadata.get("recycle")).isNull();
        assertThat(metadata.contains("recycle")).isFalse();
    }

    @Test
    void textAndBinaryValueOfOneNameDoNotHideEachOther() {
        Metadata metadata = new Metadata().add("k", "text").add("k", new byte[] {1});
        assertThat(metadata.get("k")).isEqualTo("text");
        assertThat(metadata.getBytes("k")).containsExactly(1);

        metadata.add("k", "later");

        assertThat(metadata.get("k")).isEqualTo("later");
        assertThat(metadata.getBytes("k")).containsExactly(1);
        assertThat(metadata.count("k")).isEqualTo(3);
    }

    @Test
    void removeTakesEveryValueAndKeepsTheOrderOfTheRest() {
        Metadata metadata = new Metadata();
        for (int i = 0; i < 20; i++) {
            metadata.add(i % 2 == 0 ? "even" : "odd", String.valueOf(i));
        }

        metadata.remove("EVEN");

        assertThat(metadata.size()).isEqualTo(10);
        assertThat(metadata.getAll("odd")).startsWith("1", "3").endsWith("19");
        assertThat(metadata.contains("even")).isFalse();
    }

    @Test
    void copyIsIndependent() {
        Metadata metadata = new Metadata().put("k", "1");
        Metadata copy = metadata.copy().put("k", "2");

        assertThat(metadata.get("k")).isEqualTo("1");
        assertThat(copy.get("k")).isEqualTo("2");
    }

    @Test
    void textFormShowsNamesAndNoValues() {
        List<String> seen = new ArrayList<>();
        Metadata metadata = new Metadata().put("token", "secret");
        metadata.forEach((name, value) -> seen.add(name + "=" + value));

        assertThat(seen).containsExactly("token=secret");
        assertThat(metadata).hasToString("[token]");
    }

    /**
     * Unicode lower-case mapping turns the Kelvin sign, the long s and the dotted and dotless i into k, s and i. HTTP
     * proxies do not apply this mapping.
     */
    @Test
    void lettersBeyondAsciiAreNoAscii() {
        Metadata metadata = new Metadata()
                .put("x-\u212Aey", "kelvin")
                .put("u\u017Fer", "long s")
                .put("\u0131d", "dotless")
                .put("t\u0130me", "dotted")
                .put("\u212A", new byte[] {1})
                .put("k-b\u0131n", new byte[] {2});

        assertThat(List.of("x-key", "user", "id", "time", "k", "k-bin")).noneMatch(metadata::contains);
        assertThat(metadata.get("X-\u212AEY")).isEqualTo("kelvin");
    }
}
