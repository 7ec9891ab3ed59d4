package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.registry.Publication;
import tern.rpc.registry.Subscription.Level;

/**
 * Checks that real Dubbo 3.3.6 consumers find and call Tern's providers, with interface-level and application-level
 * discovery and over both protocols.
 */
@Timeout(180)
@EnabledForJreRange(max = JRE.JAVA_21) // On later JDKs, Dubbo 3.3.6 finds no JSON library.
class DubboConsumersTest {

    private static final DubboProcess.Form CONSUMER = DubboProcess.Form.of("dubbo", "all", "local");

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

    private TernProcess tern(String name, ZooKeeperRegistry.Form form) {
        TernProcess made = new TernProcess(name, zooKeeper.url(), form);
        open.add(made);
        return made;
    }

    private DubboProcess dubbo(String name, DubboProcess.Form form) {
        DubboProcess made = new DubboProcess(name, zooKeeper.address(), form);
        open.add(made);
        return made;
    }

    private static void awaitAnswer(Greeting greeting) {
        Await.until("the provider answers", () -> greeting.greet("x").equals("tern:x"));
    }

    @ParameterizedTest
    @CsvSource({
        "BOTH, '', APPLICATION_FIRST",
        "BOTH, dubbo, FORCE_APPLICATION",
        "BOTH, tri, FORCE_APPLICATION",
        "BOTH, '', FORCE_INTERFACE",
        "INTERFACE, dubbo, APPLICATION_FIRST",
        "APPLICATION, dubbo, APPLICATION_FIRST"
    })
    void providerIsFoundAndCalled(Level level, String protocol, String migration) throws Exception {
        tern("tern", new ZooKeeperRegistry.Form(level, false)).provide("", "", 100);

        Greeting greeting = dubbo("consumer", CONSUMER).refer(reference -> {
            if (!protocol.isEmpty()) {
                reference.setProtocol(protocol);
            }
            reference.setParameters(Map.of("migration.step", migration));
        });

        awaitAnswer(greeting);
    }

    /**
     * A provider with both protocols publishes version 1.0.0 of the metadata service. A provider with only the tri
     * protocol publishes version 2.0.0.
     */
    @ParameterizedTest
    @CsvSource({"dubbo, dubbo;tri", "tri, dubbo;tri", "tri, tri"})
    void metadataServiceOfTheProviderIsCalled(String protocol, String published) throws Exception {
        tern("tern", new ZooKeeperRegistry.Form(Level.APPLICATION, false, false))
                .provide("", "", 100, List.of(published.split(";")));

        Greeting greeting = dubbo("consumer", CONSUMER).refer(reference -> {
            reference.setProtocol(protocol);
            reference.setParameters(Map.of("migration.step", "FORCE_APPLICATION"));
        });

        awaitAnswer(greeting);
        assertThat(zooKeeper.children("/dubbo/metadata/tern")).isEmpty();
    }

    @Test
    void switchServesConsumersOfInterfacesThatInsistOnTriple() throws Exception {
        tern("tern", new ZooKeeperRegistry.Form(Level.INTERFACE, true)).provide("", "", 100);

        Greeting greeting = dubbo("consumer", CONSUMER).refer(reference -> reference.setProtocol("tri"));

        awaitAnswer(greeting);
    }

    @Test
    void groupAndVersionAreFound() throws Exception {
        tern("tern", ZooKeeperRegistry.Form.DEFAULT).provide("g1", "1.2.3", 100);

        Greeting greeting = dubbo("consumer", CONSUMER).refer(reference -> {
            reference.setGroup("g1");
            reference.setVersion("1.2.3");
        });

        awaitAnswer(greeting);
    }

    @ParameterizedTest
    @CsvSource({"dubbo, FORCE_INTERFACE", "dubbo, FORCE_APPLICATION", "tri, FORCE_APPLICATION"})
    void providerChecksTheTokenOfTheReferenceAndPublishesNone(String protocol, String migration) throws Exception {
        tern("tern", ZooKeeperRegistry.Form.DEFAULT).token("the-secret").provide("", "", 100);

        Greeting greeting = dubbo("consumer", CONSUMER).refer(reference -> {
            reference.setProtocol(protocol);
            reference.setParameters(Map.of("migration.step", migration, "token", "the-secret"));
        });
        Greeting without = dubbo("stranger", CONSUMER).refer(reference -> {
            reference.setProtocol(protocol);
            reference.setParameters(Map.of("migration.step", migration));
        });

        awaitAnswer(greeting);
        assertThatThrownBy(() -> without.greet("x")).hasMessageContaining("the call has no token");
        String entry = zooKeeper
                .children("/dubbo/" + Greeting.class.getName() + "/providers")
                .get(0);
        assertThat(entry).doesNotContain("the-secret").doesNotContain("token");
    }

    @Test
    void withdrawnProviderGetsNoMoreCallsAndTheOtherOneGetsThemAll() throws Exception {
        Publication leaving = tern("leaving", ZooKeeperRegistry.Form.DEFAULT).provide("", "", 100);
        tern("staying", ZooKeeperRegistry.Form.DEFAULT).provide("", "", 100);
        Greeting greeting = dubbo("consumer", CONSUMER).refer(reference -> {});
        Await.until("both answer", () -> DubboProcess.names(greeting, 20).size() == 2);

        leaving.withdraw().get(60, TimeUnit.SECONDS);

        Await.until(
                "the other one answers all",
                () -> DubboProcess.names(greeting, 20).equals(List.of("staying")));
    }

    @Test
    void consumersOfBothKindsUseProvidersOfBothKindsByTheirWeights() throws Exception {
        tern("tern", ZooKeeperRegistry.Form.DEFAULT).provide("", "", 300);
        dubbo("dubbo", DubboProcess.Form.of("dubbo", "all", "remote")).provide(service -> {
            service.setWeight(100);
            service.setWarmup(1);
        });
        Greeting theirs = dubbo("consumer", CONSUMER).refer(reference -> reference.setLoadbalance("roundrobin"));
        Greeting ours = tern("tern-consumer", ZooKeeperRegistry.Form.DEFAULT).refer("dubbo", Level.BOTH, "", "");

        Await.until(
                "Dubbo's consumer uses both",
                () -> DubboProcess.names(theirs, 8).size() == 2);
        Await.until(
                "Tern's consumer uses both", () -> DubboProcess.names(ours, 8).size() == 2);
        Map<String, Integer> answers = DubboProcess.answers(theirs, 400);
        assertThat(answers.get("tern")).isBetween(280, 320);
        assertThat(DubboProcess.answers(ours, 400)).containsOnlyKeys("tern", "dubbo");
    }
}
