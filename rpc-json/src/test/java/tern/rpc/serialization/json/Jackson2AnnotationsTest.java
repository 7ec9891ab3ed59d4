package tern.rpc.serialization.json;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.ServiceDescriptor;
import tern.rpc.serialization.JsonMethod;
import tools.jackson.databind.json.JsonMapper;

/** Tests the warnings about annotations of Jackson 2, which Jackson 3 ignores. */
class Jackson2AnnotationsTest {

    record Price(@JsonSerialize(using = Void.class) String amount) {}

    record Order(Map<String, List<Price>> prices) {}

    record Current(
            @JsonProperty("n") @tools.jackson.databind.annotation.JsonSerialize
            String name) {}

    interface Shop {
        void place(Order[] orders);

        Current current();
    }

    private final JsonCodec codec = new JsonCodec(JsonMapper.builder().build());

    private JsonMethod method(String name) {
        return codec.method(ServiceDescriptor.of(Shop.class).overloads(name).get(0));
    }

    @Test
    void ignoredAnnotationInsideAnArgumentIsNamedOnBothSides() {
        String line =
                "Annotations of Jackson 2 on " + Price.class.getName() + " have no effect, because Jackson 3 reads"
                        + " and writes JSON: @JsonSerialize. Import them from tools.jackson.databind instead of"
                        + " com.fasterxml.jackson.databind";

        assertThat(method("place").warnings()).contains(line);
        assertThat(method("place").lostState()).contains(line);
    }

    @Test
    void annotationsThatJacksonThreeReadsAreNotNamed() {
        assertThat(method("current").warnings()).isEmpty();
    }
}
