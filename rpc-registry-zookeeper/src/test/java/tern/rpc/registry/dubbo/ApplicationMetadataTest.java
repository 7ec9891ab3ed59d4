package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tests metadata that was captured from Dubbo 3.3.6. */
class ApplicationMetadataTest {

    private static Map<String, String> parameters(Map<String, String> more) {
        Map<String, String> parameters =
                new TreeMap<>(Map.of("side", "provider", "release", "3.3.6", "deprecated", "false", "dubbo", "2.0.2"));
        parameters.putAll(Map.of(
                "service-name-mapping",
                "true",
                "generic",
                "false",
                "metadata-type",
                "remote",
                "application",
                "demo-provider",
                "prefer.serialization",
                "hessian2,fastjson2",
                "dynamic",
                "true",
                "REGISTRY_CLUSTER",
                "default"));
        parameters.putAll(more);
        return parameters;
    }

    private static final ApplicationMetadata.Service ORDER = new ApplicationMetadata.Service(
            "cap.Order",
            "",
            "",
            "dubbo",
            20880,
            "cap.Order",
            parameters(Map.of("methods", "find", "interface", "cap.Order")));

    private static final ApplicationMetadata.Service GREETING = new ApplicationMetadata.Service(
            "cap.Greeting",
            "g1",
            "1.2.3",
            "dubbo",
            20880,
            "cap.Greeting",
            parameters(Map.of(
                    "methods",
                    "add,boom,greet",
                    "interface",
                    "cap.Greeting",
                    "weight",
                    "50",
                    "version",
                    "1.2.3",
                    "revision",
                    "1.2.3",
                    "group",
                    "g1")));

    @Test
    void keysOfServicesLeaveOutMissingParts() {
        assertThat(ORDER.key()).isEqualTo("cap.Order:dubbo");
        assertThat(GREETING.key()).isEqualTo("g1/cap.Greeting:1.2.3:dubbo");
    }

    /** DubboProvidersTest also compares a hash computed by Tern with one computed by Dubbo. */
    @Test
    void revisionIsTheHashOfApplicationAndServicesInTheOrderOfTheirKeys() {
        ApplicationMetadata.Service small =
                new ApplicationMetadata.Service("b.B", "", "", "dubbo", 1, "b.B", Map.of("y", "2", "x", "1"));
        ApplicationMetadata.Service smaller = new ApplicationMetadata.Service("a.A", "", "", "tri", 0, "a.A", Map.of());

        // The expected hash is the output of: printf 'appa.A:tri0a.A{}b.B:dubbo1b.B{x=1, y=2}' | md5sum
        assertThat(ApplicationMetadata.revision("app", Map.of(small.key(), small, smaller.key(), smaller)))
                .isEqualTo("38a627cd8a9863513ca3c81d419a2b78");
    }

    @Test
    void revisionWithoutServicesIsZero() {
        assertThat(ApplicationMetadata.of("a", Map.of()).revision()).isEqualTo("0");
    }

    @Test
    void smallestMetadataIsRead() {
        ApplicationMetadata metadata = ApplicationMetadata.parse(
                "{\"app\":\"tern-app\",\"revision\":\"tern-1\",\"services\":{\"cap.Greeting:dubbo\":{\"name\":\"cap.Greeting\","
                        + "\"params\":{},\"path\":\"cap.Greeting\",\"port\":20890,\"protocol\":\"dubbo\"}}}");

        assertThat(metadata.application()).isEqualTo("tern-app");
        assertThat(metadata.services())
                .containsOnlyKeys("cap.Greeting:dubbo")
                .containsValue(new ApplicationMetadata.Service(
                        "cap.Greeting", "", "", "dubbo", 20890, "cap.Greeting", Map.of()));
    }

    @Test
    void writtenMetadataIsReadAgain() {
        ApplicationMetadata metadata =
                ApplicationMetadata.of("demo-provider", Map.of(ORDER.key(), ORDER, GREETING.key(), GREETING));

        assertThat(ApplicationMetadata.parse(metadata.json())).isEqualTo(metadata);
        assertThat(metadata.json())
                .contains("\"g1/cap.Greeting:1.2.3:dubbo\":{\"group\":\"g1\",\"name\":\"cap.Greeting\",\"params\":{")
                .contains("\"path\":\"cap.Greeting\",\"port\":20880,\"protocol\":\"dubbo\",\"version\":\"1.2.3\"}");
    }

    @Test
    void hostileMetadataIsRefused() {
        assertThatThrownBy(() -> ApplicationMetadata.parse("x".repeat(Limits.MAX_METADATA + 1)))
                .hasMessageContaining("more than 1048576");
        assertThatThrownBy(
                        () -> ApplicationMetadata.parse("{\"services\":{" + "\"a\":1,".repeat(100_001) + "\"b\":1}}"))
                .hasMessageContaining("more than 100000 members");
        assertThat(ApplicationMetadata.parse("{\"services\":[1,2]}").services()).isEmpty();
    }
}
