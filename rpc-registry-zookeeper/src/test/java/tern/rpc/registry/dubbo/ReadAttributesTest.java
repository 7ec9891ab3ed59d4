package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.endpoint.Attributes;

class ReadAttributesTest {

    private final ReadAttributes attributes = new ReadAttributes();

    private Attributes of(Map<String, String> parameters) {
        return attributes.of(parameters::get, "r1");
    }

    /** The tag must not be shortened, because calls with one tag must not reach providers with a different tag. */
    @ParameterizedTest
    @ValueSource(ints = {10, 200, 2_000})
    void tagsAndZonesThatDifferOnlyAtTheirEndAreDifferent(int length) {
        String common = "x".repeat(length);
        Attributes one = of(Map.of("dubbo.tag", common + "1", "zone", common + "1"));
        Attributes two = of(Map.of("dubbo.tag", common + "2", "zone", common + "2"));

        assertThat(one.tag()).isEqualTo(common + "1").isNotEqualTo(two.tag());
        assertThat(one.zone()).isEqualTo(common + "1").isNotEqualTo(two.zone());
    }

    @Test
    void equalAttributesShareOneObject() {
        assertThat(of(Map.of("dubbo.tag", "gray", "weight", "7")))
                .isSameAs(of(Map.of("weight", "7", "dubbo.tag", "gray")));
    }

    @Test
    void longTagIsNotKeptForOtherProviders() {
        Map<String, String> parameters = Map.of("dubbo.tag", "x".repeat(Limits.MAX_ATTRIBUTE + 1));

        assertThat(of(parameters)).isEqualTo(of(parameters)).isNotSameAs(of(parameters));
    }
}
