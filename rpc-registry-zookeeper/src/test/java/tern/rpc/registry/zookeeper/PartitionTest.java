package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSnapshot.State;
import tern.rpc.registry.Publication;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.dubbo.ProcessMetadata;

/**
 * Tests network partitions in which a consumer or a provider cannot reach the registry, but consumers and providers
 * reach each other.
 */
@Timeout(180)
class PartitionTest {

    private ZooKeeperServer zooKeeper;
    private Partition network;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new ZooKeeperServer();
        network = new Partition(zooKeeper.address());
    }

    @AfterEach
    void stop() throws Exception {
        network.heal();
        for (AutoCloseable each : open) {
            each.close();
        }
        network.close();
        zooKeeper.close();
    }

    private TernProcess tern(String name, RegistryUrl url) {
        TernProcess made = new TernProcess(name, url, ZooKeeperRegistry.Form.DEFAULT);
        open.add(made);
        return made;
    }

    private Snapshots look(RegistryUrl url) {
        Registry registry =
                new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT, "", ProcessMetadata.NONE).open(url);
        open.add(registry);
        Snapshots snapshots = new Snapshots();
        registry.source(new Subscription(new ServiceKey(Greeting.class.getName(), "", ""), "dubbo"))
                .start(snapshots);
        return snapshots;
    }

    private static void awaitNames(Greeting greeting, String... names) {
        Await.until(
                List.of(names) + " answer",
                () -> DubboProcess.names(greeting, 30).stream()
                        .sorted()
                        .toList()
                        .equals(List.of(names)));
    }

    @Test
    void consumerWithoutItsRegistryKeepsItsListAndReadsAllChangesAfterwards() throws Exception {
        Publication one = tern("one", zooKeeper.url()).provide("", "", 100);
        tern("two", zooKeeper.url()).provide("", "", 100);
        Greeting greeting = tern("web", network.url()).refer("dubbo", Subscription.Level.BOTH, "", "");
        awaitNames(greeting, "one", "two");
        Snapshots snapshots = look(network.url());
        Await.until("both are listed", () -> snapshots.addresses().size() == 2);

        network.cut();
        one.withdraw().get(60, TimeUnit.SECONDS);
        tern("three", zooKeeper.url()).provide("", "", 100);
        Await.until("the list is stale, and each call is answered", () -> {
            assertThat(greeting.greet("x")).isIn("one:x", "two:x");
            return snapshots.last().state() == State.STALE;
        });
        assertThat(snapshots.addresses()).hasSize(2);

        network.heal();
        awaitNames(greeting, "three", "two");
        Await.until(
                "the list is fresh",
                () -> snapshots.last().state() == State.FRESH
                        && snapshots.addresses().size() == 2);
        EndpointSnapshot before = null;
        for (EndpointSnapshot each : snapshots.all()) {
            assertThat(before == null || !each.saysTheSameAs(before)).isTrue();
            before = each;
        }
    }

    @Test
    void providerWithoutItsRegistryLeavesTheListWithoutALostCallAndReturns() throws Exception {
        TernProcess one = tern("one", network.url());
        one.provide("", "", 100);
        TernProcess two = tern("two", zooKeeper.url());
        two.provide("", "", 100);
        Greeting greeting = tern("web", zooKeeper.url()).refer("dubbo", Subscription.Level.BOTH, "", "");
        awaitNames(greeting, "one", "two");
        List<CompletableFuture<String>> held = new ArrayList<>();
        while (one.held() == 0) {
            // The calls use new threads, because the common pool might have only one thread, and the first unanswered
            // call would block it.
            held.add(CompletableFuture.supplyAsync(
                    () -> greeting.greet(TernProcess.HELD), task -> new Thread(task).start()));
            Await.until("the call is held", () -> one.held() + two.held() == held.size());
        }

        network.cut();
        awaitNames(greeting, "two");
        one.release();
        two.release();
        for (CompletableFuture<String> call : held) {
            assertThat(call.get(60, TimeUnit.SECONDS)).isIn("one:" + TernProcess.HELD, "two:" + TernProcess.HELD);
        }

        network.heal();
        awaitNames(greeting, "one", "two");
    }

    @Test
    void registrationDuringWhichTheSessionExpiresIsCompletedAfterwards() throws Exception {
        List<Registration.Service> services = IntStream.range(0, 300)
                .mapToObj(i -> new Registration.Service(new ServiceKey("cap.S" + i, "", ""), List.of("get"), 100))
                .toList();
        Registration registration =
                new Registration("many", "127.0.0.1", 20880, List.of("dubbo"), services, Map.of(), 0, 0);
        Registry registry = new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT, "", ProcessMetadata.NONE)
                .open(network.url());
        open.add(registry);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(ZooKeeperPublication.class);
        logger.addAppender(log);

        Publication publication = registry.publish(registration);
        Await.until("the registration has begun", () -> zooKeeper.exists("/dubbo/mapping/cap.S0"));
        network.cut();
        int sessions = zooKeeper.sessions();
        Await.until("the session has expired", () -> zooKeeper.sessions() < sessions);
        network.heal();

        publication.seen().get(60, TimeUnit.SECONDS);
        logger.detachAppender(log);
        assertThat(publication.problem()).isEmpty();
        for (Registration.Service service : services) {
            assertThat(zooKeeper.children("/dubbo/" + service.key().interfaceName() + "/providers"))
                    .hasSize(1);
        }
        assertThat(log.list.stream().filter(event -> event.getLevel().isGreaterOrEqual(Level.WARN)))
                .hasSizeLessThanOrEqualTo(1);
    }
}
