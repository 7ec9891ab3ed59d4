package tern.rpc.registry.dubbo.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.endpoint.Endpoint;

/** Tests the addresses in rules. */
class AddressPatternTest {

    private static final List<Endpoint> ALL =
            List.of(new Endpoint("10.0.0.1", 20880), new Endpoint("10.0.0.2", 20881), new Endpoint("10.0.0.3", 20880));

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
            10.0.0.1                | 1
            10.0.0.1:20880          | 1
            10.0.0.1:20881          | none
            10.0.0.2:*              | 2
            0.0.0.0                 | 1 2 3
            *                       | 1 2 3
            0.0.0.0:*               | 1 2 3
            0.0.0.0:20880           | 1 3
            0.0.0.0:20881           | 2
            10.0.0.*                | 1 2 3
            10.0.*.2                | 2
            10.0.0.*:20880          | 1 3
            10.0.0.2-3              | 2 3
            10.0.0.1-2:20881        | 2
            10.0.0.0/30             | 1 2 3
            10.0.0.2/31             | 2 3
            10.0.0.3/32             | 3
            0.0.0.0/0               | 1 2 3
            10.0.0.0/20             | 1 2 3
            10.0.16.0/20            | none
            10.0.0.2-300            | 2 3
            300.*.*.*               | none
            11.0.0.0/8              | none
            2001:db8::/32           | none
            name.example            | none
            """)
    void addressOfARuleHasTheSameMeaningAsInDubbo(String address, String expected) {
        AddressPattern pattern = AddressPattern.parse(address);

        assertThat(ALL.stream().filter(pattern::matches))
                .extracting(provider -> String.valueOf(ALL.indexOf(provider) + 1))
                .containsExactlyElementsOf(expected == null ? List.of() : List.of(expected.split(" ")));
    }

    @Test
    void addressesOfVersion6AreMatchedToo() {
        Endpoint endpoint = new Endpoint("2001:db8::1", 20880);

        for (String address : List.of("2001:db8::1", "[2001:db8::1]:20880", "[2001:db8::1]:*", "2001:db8::/32")) {
            assertThat(AddressPattern.parse(address).matches(endpoint))
                    .as(address)
                    .isTrue();
        }
        assertThat(AddressPattern.parse("[2001:db8::1]:1").matches(endpoint)).isFalse();
        assertThat(AddressPattern.parse("2001:db9::/32").matches(endpoint)).isFalse();
        assertThat(AddressPattern.parse("10.0.0.0/8").matches(endpoint)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", " ", ":20880", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:x", "10.0.0.0/33", "10.0.0/8",
                "::/129", "web-*", "10.*", "10.0.0.5-1", "2001:db8::*", "[::1", "[::1]20880", "a b", "10.0.0.0/8:20880"
            })
    void addressOfAnotherFormIsNotUnderstood(String address) {
        assertThatThrownBy(() -> AddressPattern.parse(address)).hasMessageContaining("is not understood");
    }
}
