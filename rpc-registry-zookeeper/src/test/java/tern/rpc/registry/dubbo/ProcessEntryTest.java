package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tern.rpc.registry.dubbo.ProcessEntry.Port;

/** Tests application-level entries that were captured from Dubbo 3.3.6. */
class ProcessEntryTest {

    private static final String CAPTURED =
            "{\"name\":\"demo-provider\",\"id\":\"192.0.2.2:20880\",\"address\":\"192.0.2.2\",\"port\":20880,"
                    + "\"sslPort\":null,\"payload\":{\"@class\":\"org.apache.dubbo.registry.zookeeper.ZookeeperInstance\","
                    + "\"id\":\"192.0.2.2:20880\",\"name\":\"demo-provider\",\"metadata\":{\"dubbo.endpoints\":"
                    + "\"[{\\\"port\\\":20880,\\\"protocol\\\":\\\"dubbo\\\"}]\","
                    + "\"dubbo.metadata-service.url-params\":\"{\\\"prefer.serialization\\\":\\\"hessian2,fastjson2\\\","
                    + "\\\"version\\\":\\\"1.0.0\\\",\\\"dubbo\\\":\\\"2.0.2\\\",\\\"release\\\":\\\"3.3.6\\\","
                    + "\\\"side\\\":\\\"provider\\\",\\\"port\\\":\\\"20880\\\",\\\"protocol\\\":\\\"dubbo\\\"}\","
                    + "\"dubbo.metadata.revision\":\"85bb54a10b19ffc9e12172f651d9d568\","
                    + "\"dubbo.metadata.storage-type\":\"local\",\"meta-v\":\"1.0.0\",\"timestamp\":\"1795372294221\"}},"
                    + "\"registrationTimeUTC\":1795372294326,\"serviceType\":\"DYNAMIC\",\"uriSpec\":null}";

    @Test
    void capturedEntryIsReadAndWrittenUnchanged() {
        ProcessEntry entry = ProcessEntry.parse(CAPTURED);

        assertThat(entry).isNotNull();
        assertThat(entry.application()).isEqualTo("demo-provider");
        assertThat(entry.host()).isEqualTo("192.0.2.2");
        assertThat(entry.revision()).isEqualTo("85bb54a10b19ffc9e12172f651d9d568");
        assertThat(entry.isMetadataRemote()).isFalse();
        assertThat(entry.ports()).containsExactly(new Port("dubbo", 20880));
        assertThat(entry.json(1795372294326L)).isEqualTo(CAPTURED);
    }

    @Test
    void portsOfBothProtocolsAreWrittenInTheirOrder() {
        assertThat(ProcessEntry.endpoints(List.of(new Port("dubbo", 20890), new Port("tri", 20890))))
                .isEqualTo("[{\"port\":20890,\"protocol\":\"dubbo\"},{\"port\":20890,\"protocol\":\"tri\"}]");
    }

    @Test
    void entryOfSpringCloudIsLeftOut() {
        String springCloud = "{\"name\":\"shop\",\"id\":\"x\",\"address\":\"10.0.0.1\",\"port\":8080,\"payload\":"
                + "{\"@class\":\"org.springframework.cloud.zookeeper.discovery.ZookeeperInstance\",\"id\":\"shop\","
                + "\"name\":\"shop\",\"metadata\":{\"instance_status\":\"UP\"}}}";

        assertThat(ProcessEntry.parse(springCloud)).isNull();
        assertThat(ProcessEntry.parse("{\"name\":\"shop\",\"payload\":null}")).isNull();
    }

    @Test
    void entryWithoutServicesIsLeftOut() {
        assertThat(ProcessEntry.parse(CAPTURED.replace("85bb54a10b19ffc9e12172f651d9d568", "0")))
                .isNull();
        assertThat(ProcessEntry.parse(CAPTURED.replace("85bb54a10b19ffc9e12172f651d9d568", "")))
                .isNull();
    }

    @Test
    void classOfTheWriterIsNeverLoaded() {
        String gadget = CAPTURED.replace("org.apache.dubbo.registry.zookeeper.ZookeeperInstance", Trap.class.getName());

        assertThat(ProcessEntry.parse(gadget)).isNotNull();
        assertThat(sprung).isFalse();
    }

    private static boolean sprung;

    /** A class whose static initializer reveals that a parser has loaded it by name. */
    private static final class Trap {
        static {
            sprung = true;
        }
    }

    @Test
    void wrongAddressesAreRefused() {
        assertThatThrownBy(
                        () -> ProcessEntry.parse(CAPTURED.replace("\"address\":\"192.0.2.2\"", "\"address\":\"a b\"")))
                .hasMessage("an entry without a valid address");
        assertThatThrownBy(() -> ProcessEntry.parse(CAPTURED.replace("\"port\":20880,\"ssl", "\"port\":70000,\"ssl")))
                .hasMessage("an entry without a valid port");
        assertThatThrownBy(() ->
                        ProcessEntry.parse(CAPTURED.replace("\"port\":20880,\"ssl", "\"port\":1.5e400000000,\"ssl")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void limitsBoundTheEntry() {
        String many = IntStream.range(0, Limits.MAX_KEYS + 1)
                .mapToObj(i -> "\"k" + i + "\":\"v\"")
                .collect(Collectors.joining(","));

        assertThatThrownBy(() -> ProcessEntry.parse(CAPTURED.replace("\"meta-v\"", many + ",\"meta-v\"")))
                .hasMessageContaining("more than 256");
        assertThatThrownBy(() -> ProcessEntry.parse(" ".repeat(Limits.MAX_ENTRY) + CAPTURED))
                .hasMessageContaining("more than 65536");
        assertThatThrownBy(() -> ProcessEntry.parse("[".repeat(1_000))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ProcessEntry.parse("{\"a\":".repeat(1_000)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ProcessEntry.parse("")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void portsThatCannotBeReadAreLeftOut() {
        ProcessEntry entry = new ProcessEntry(
                "a",
                "h:1",
                "h",
                1,
                Map.of(ProcessEntry.ENDPOINTS, "[{\"port\":\"x\"},{\"port\":7,\"protocol\":\"tri\"},3,{\"port\":0}]"));

        assertThat(entry.ports()).containsExactly(new Port("tri", 7));
    }
}
