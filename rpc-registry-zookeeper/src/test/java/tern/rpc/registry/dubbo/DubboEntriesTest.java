package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.ServiceKey;
import tern.rpc.registry.Registration;

class DubboEntriesTest {

    private static final Registration.Service GREETING = new Registration.Service(
            new ServiceKey("cap.Greeting", "g1", "1.2.3"), List.of("greet", "add", "greet"), 50);

    private static Registration registration(long startedAt, List<String> protocols) {
        return new Registration(
                "shop", "10.0.0.7", 20880, protocols, List.of(GREETING), Map.of("zone", "a"), 30_000, startedAt);
    }

    @Test
    void oneNodeNamesTheSecondProtocol() {
        List<ProviderUrl> urls = new DubboEntries(registration(7, List.of("dubbo", "tri")), false).urls(GREETING);

        assertThat(urls)
                .singleElement()
                .satisfies(url -> assertThat(url.toString())
                        .startsWith(
                                "dubbo://10.0.0.7:20880/cap.Greeting?application=shop&deprecated=false&dubbo=2.0.2&dynamic=true"
                                        + "&ext.protocol=tri&generic=false&group=g1&interface=cap.Greeting&methods=add,greet&")
                        .contains("&revision=1.2.3&", "&timestamp=7&", "&version=1.2.3&", "&weight=50&", "&zone=a"));
    }

    @Test
    void switchGivesEachProtocolItsNode() {
        assertThat(new DubboEntries(registration(7, List.of("dubbo", "tri")), true).urls(GREETING))
                .extracting(ProviderUrl::protocol)
                .containsExactly("dubbo", "tri");
    }

    @Test
    void secondProtocolIsExtraInTheMetadata() {
        Map<String, ApplicationMetadata.Service> services = new DubboEntries(
                        registration(7, List.of("dubbo", "tri")), false)
                .metadata()
                .services();

        assertThat(services).containsOnlyKeys("g1/cap.Greeting:1.2.3:dubbo", "g1/cap.Greeting:1.2.3:tri");
        assertThat(services.get("g1/cap.Greeting:1.2.3:dubbo").parameters()).doesNotContainKey("isExtra");
        assertThat(services.get("g1/cap.Greeting:1.2.3:tri").parameters()).containsEntry("isExtra", "true");
    }

    @Test
    void revisionStaysTheSameAtARestart() {
        assertThat(new DubboEntries(registration(7, List.of("dubbo")), false)
                        .metadata()
                        .revision())
                .isEqualTo(new DubboEntries(registration(8, List.of("dubbo")), false)
                        .metadata()
                        .revision());
    }

    @Test
    void entryOfTheProcessIsReadAgain() {
        ProcessEntry process = new DubboEntries(registration(7, List.of("dubbo", "tri")), false).process();

        ProcessEntry read = ProcessEntry.parse(process.json(1));

        assertThat(read).isEqualTo(process);
        assertThat(read.isMetadataRemote()).isTrue();
        assertThat(read.metadata()).containsEntry("zone", "a").containsEntry("timestamp", "7");
    }
}
