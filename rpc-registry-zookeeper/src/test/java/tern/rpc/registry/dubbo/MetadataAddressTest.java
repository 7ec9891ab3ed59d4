package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class MetadataAddressTest {

    private static MetadataAddress read(String parameters) {
        return MetadataAddress.of(
                new ProcessEntry("a", "h:1", "h", 1, Map.of(ProcessEntry.SERVICE_PARAMETERS, parameters)));
    }

    @Test
    void capturedParametersAreRead() {
        assertThat(read("{\"prefer.serialization\":\"hessian2,fastjson2\",\"version\":\"1.0.0\",\"dubbo\":\"2.0.2\","
                        + "\"release\":\"3.3.6\",\"side\":\"provider\",\"port\":\"20880\",\"protocol\":\"dubbo\"}"))
                .isEqualTo(new MetadataAddress("h", 20880, "dubbo", "1.0.0"));
        assertThat(read("{\"version\":\"2.0.0\",\"port\":\"50051\",\"protocol\":\"tri\"}"))
                .isEqualTo(new MetadataAddress("h", 50051, "tri", "2.0.0"));
    }

    @Test
    void withoutParametersTheOwnPortIsUsed() {
        assertThat(MetadataAddress.of(new ProcessEntry("a", "h:1", "h", 1, Map.of())))
                .isEqualTo(new MetadataAddress("h", 1, "dubbo", "1.0.0"));
        assertThat(read("{}")).isEqualTo(new MetadataAddress("h", 1, "dubbo", "1.0.0"));
    }

    @Test
    void writtenParametersAreReadAgain() {
        for (boolean dubbo : new boolean[] {true, false}) {
            MetadataAddress address = MetadataAddress.on("h", 7, dubbo);
            assertThat(read(address.parameters())).isEqualTo(address);
        }
    }

    @Test
    void invalidParametersAreRefused() {
        assertThatThrownBy(() -> read("{\"port\":\"70000\"}")).hasMessageContaining("no valid port");
        assertThatThrownBy(() -> read("{\"port\":\"x\"}")).hasMessageContaining("no valid port");
        assertThatThrownBy(() -> read("[")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> read("{\"a\":" + "1,\"a\":".repeat(1_000) + "1}"))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
