package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.registry.Subscription.Level;
import tern.rpc.registry.dubbo.ApplicationMetadata;

/**
 * Checks that Tern's consumers find and call real Dubbo 3.3.6 providers, with interface-level and application-level
 * discovery and over both protocols.
 */
@Timeout(180)
@EnabledForJreRange(max = JRE.JAVA_21) // On JDKs after 21, Dubbo 3.3.6 finds no JSON library.
class DubboProvidersTest {

    private ZooKeeperServer zooKeeper;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new ZooKeeperServer();
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        zooKeeper.close();
    }

    private DubboProcess dubbo(String name, DubboProcess.Form form) {
        DubboProcess made = new DubboProcess(name, zooKeeper.address(), form);
        open.add(made);
        return made;
    }

    private TernProcess tern() {
        TernProcess made = new TernProcess("tern-consumer", zooKeeper.url(), ZooKeeperRegistry.Form.DEFAULT);
        open.add(made);
        return made;
    }

    @ParameterizedTest
    @CsvSource({
        "dubbo, all, remote, BOTH",
        "tri, all, remote, BOTH",
        "dubbo, instance, remote, APPLICATION",
        "tri, instance, remote, APPLICATION",
        "dubbo, interface, local, BOTH",
        "dubbo, all, local, BOTH",
        "dubbo, instance, local, APPLICATION",
        "tri, instance, local, APPLICATION",
        "tri, all, local, APPLICATION"
    })
    void providerIsFoundAndCalled(String protocol, String mode, String metadata, Level level) {
        dubbo("dubbo", DubboProcess.Form.of(protocol, mode, metadata)).provide(service -> {});

        Greeting greeting = tern().refer(protocol, level, "", "");

        Await.until("the provider answers", () -> greeting.greet("x").equals("dubbo:x"));
    }

    @ParameterizedTest
    @CsvSource({
        "dubbo, interface, remote, BOTH, true",
        "dubbo, instance, remote, APPLICATION, true",
        "dubbo, instance, local, APPLICATION, a-fixed-token",
        "tri, interface, remote, BOTH, a-fixed-token",
        "tri, instance, remote, APPLICATION, true"
    })
    void publishedTokenIsSentToItsProvider(String protocol, String mode, String metadata, Level level, String token) {
        for (String name : List.of("one", "two")) {
            dubbo(name, DubboProcess.Form.of(protocol, mode, metadata)).provide(service -> service.setToken(token));
        }

        Greeting greeting = tern().refer(protocol, level, "", "");

        Await.until(
                "both providers answer", () -> DubboProcess.names(greeting, 20).size() == 2);
    }

    @Test
    void secondProtocolOnThePortIsFoundAtBothLevels() {
        dubbo("dubbo", new DubboProcess.Form("dubbo", "all", "remote", "tri")).provide(service -> {});

        for (Level level : Level.values()) {
            Greeting greeting = tern().refer("tri", level, "", "");
            Await.until(
                    "the provider answers at " + level,
                    () -> greeting.greet("x").equals("dubbo:x"));
        }
    }

    @Test
    void groupAndVersionAreFound() {
        dubbo("dubbo", DubboProcess.Form.of("dubbo", "all", "remote")).provide(service -> {
            service.setGroup("g1");
            service.setVersion("1.2.3");
        });

        Greeting greeting = tern().refer("dubbo", Level.BOTH, "g1", "1.2.3");

        Await.until("the provider answers", () -> greeting.greet("x").equals("dubbo:x"));
    }

    @Test
    void revisionOfDubboIsReproduced() throws Exception {
        dubbo("dubbo", DubboProcess.Form.of("dubbo", "all", "remote")).provide(service -> service.setWeight(50));
        Await.until(
                "the metadata is stored",
                () -> !zooKeeper.children("/dubbo/metadata/dubbo").isEmpty());

        for (String revision : zooKeeper.children("/dubbo/metadata/dubbo")) {
            ApplicationMetadata stored = ApplicationMetadata.parse(zooKeeper.data("/dubbo/metadata/dubbo/" + revision));
            assertThat(ApplicationMetadata.of("dubbo", stored.services()).revision())
                    .isEqualTo(revision);
        }
    }

    @Test
    void stoppedProviderIsForgotten() {
        DubboProcess leaving =
                dubbo("leaving", DubboProcess.Form.of("dubbo", "all", "remote")).provide(service -> {});
        dubbo("staying", DubboProcess.Form.of("dubbo", "all", "remote")).provide(service -> {});
        Greeting greeting = tern().refer("dubbo", Level.BOTH, "", "");
        Await.until("both answer", () -> DubboProcess.names(greeting, 20).size() == 2);

        open.remove(leaving);
        leaving.close();

        Await.until(
                "the other one answers all",
                () -> DubboProcess.names(greeting, 20).equals(List.of("staying")));
    }
}
