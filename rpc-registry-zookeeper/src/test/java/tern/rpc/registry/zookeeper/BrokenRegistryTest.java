package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import tern.rpc.ServiceKey;
import tern.rpc.registry.Publication;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription;

/** Tests registries that lose their data or sessions, and registries with lists that are too long for the client. */
@Timeout(180)
class BrokenRegistryTest {

    private static final ServiceKey GREETING = new ServiceKey("cap.Greeting", "", "");

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final List<Registry> registries = new ArrayList<>();
    private ZooKeeperServer zooKeeper;

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new ZooKeeperServer();
        log.start();
        logger().addAppender(log);
    }

    @AfterEach
    void stop() throws Exception {
        logger().detachAppender(log);
        registries.forEach(Registry::close);
        zooKeeper.close();
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("tern.rpc.registry");
    }

    private List<String> warnings() {
        return log.list.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    private Registry registry() {
        Registry made = new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT)
                .open(RegistryUrl.parse(zooKeeper.url() + "?session=4000"));
        registries.add(made);
        return made;
    }

    private Publication publish(int port) {
        return registry()
                .publish(new Registration(
                        "shop",
                        "10.0.0.9",
                        port,
                        List.of("dubbo"),
                        List.of(new Registration.Service(GREETING, List.of("greet"), 100)),
                        Map.of(),
                        0,
                        1_795_372_294_221L));
    }

    private Snapshots look() {
        Snapshots snapshots = new Snapshots();
        registry().source(new Subscription(GREETING, "dubbo")).start(snapshots);
        return snapshots;
    }

    /**
     * The names of the created nodes take about 69 MB, more than the 64 MiB that the ZooKeeper client accepts in one
     * answer.
     */
    @Test
    void listThatIsTooLongIsNamedAndHidesNoOtherList() throws Exception {
        String name = "x".repeat(60_000);
        zooKeeper.create("/dubbo/cap.Greeting/providers", "", CreateMode.PERSISTENT);
        for (int i = 0; i < 1_150; i++) {
            zooKeeper.createLater("/dubbo/cap.Greeting/providers/" + name + i, "");
        }
        Await.until(
                "all are written",
                () -> zooKeeper.stat("/dubbo/cap.Greeting/providers").getNumChildren() == 1_150);

        publish(7001).seen().get(60, TimeUnit.SECONDS);
        Snapshots snapshots = look();
        snapshots.awaitAddresses("10.0.0.9:7001");
        publish(7002).seen().get(60, TimeUnit.SECONDS);
        snapshots.awaitAddresses("10.0.0.9:7001", "10.0.0.9:7002");

        assertThat(warnings())
                .filteredOn(warning -> warning.contains("/dubbo/cap.Greeting/providers at "))
                .singleElement()
                .asString()
                .contains("cannot be listed", "67108864 bytes");
    }

    @Test
    void registryThatLostItsDataIsFilledAgainByItsProviders() throws Exception {
        publish(7001).seen().get(60, TimeUnit.SECONDS);
        Snapshots snapshots = look();
        snapshots.awaitAddresses("10.0.0.9:7001");

        zooKeeper.stop();
        zooKeeper.loseData();
        zooKeeper.restart();

        Await.until(
                "the provider is written again",
                () -> !zooKeeper.children("/services/shop").isEmpty());
        publish(7002).seen().get(60, TimeUnit.SECONDS);
        snapshots.awaitAddresses("10.0.0.9:7001", "10.0.0.9:7002");
    }

    @Test
    void sessionsThatEndDuringTheRegistrationLeaveTheProviderRegistered() throws Exception {
        Publication publication = publish(7001);
        for (int i = 0; i < 5; i++) {
            zooKeeper.expireOthers();
            Await.until("there is another session", () -> zooKeeper.sessions() > 1);
        }

        publication.seen().get(60, TimeUnit.SECONDS);
        look().awaitAddresses("10.0.0.9:7001");
        long session = zooKeeper.stat("/services/shop/10.0.0.9:7001").getEphemeralOwner();
        assertThat(publication.verify().get(60, TimeUnit.SECONDS)).isEqualTo(Publication.Repair.NONE);
        assertThat(zooKeeper.stat("/services/shop/10.0.0.9:7001").getEphemeralOwner())
                .isEqualTo(session);
    }

    @Test
    void entryReplacedByAnotherApplicationIsNoLongerAProvider() throws Exception {
        publish(7001).seen().get(60, TimeUnit.SECONDS);
        Snapshots snapshots = look();
        snapshots.awaitAddresses("10.0.0.9:7001");

        zooKeeper.replace(
                "/services/shop/10.0.0.9:7001",
                "{\"name\":\"another\",\"id\":\"x\",\"address\":\"10.0.0.9\",\"port\":7001,\"payload\":{\"metadata\":"
                        + "{\"dubbo.metadata.revision\":\"another\",\"dubbo.metadata.storage-type\":\"remote\"}}}");
        for (String name : zooKeeper.children("/dubbo/cap.Greeting/providers")) {
            zooKeeper.delete("/dubbo/cap.Greeting/providers/" + name);
        }

        snapshots.awaitAddresses();
        Await.until(
                "the unknown services are named",
                () -> warnings().stream().anyMatch(warning -> warning.contains("in revision another cannot be read")));
    }
}
