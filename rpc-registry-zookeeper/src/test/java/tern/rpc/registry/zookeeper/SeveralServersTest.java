package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.EndpointSnapshot.State;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.dubbo.ProcessMetadata;

/** Tests registries with several servers, some of which cannot be used. */
@Timeout(180)
class SeveralServersTest {

    private static Snapshots look(Registry registry) {
        Snapshots snapshots = new Snapshots();
        registry.source(new Subscription(new ServiceKey(Greeting.class.getName(), "", ""), "dubbo"))
                .start(snapshots);
        return snapshots;
    }

    private static Registry open(String servers) {
        return new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT, "", ProcessMetadata.NONE)
                .open(RegistryUrl.parse("zookeeper://" + servers));
    }

    @Test
    void serverWhoseNameIsUnknownDoesNotPreventTheUseOfAnother() throws Exception {
        try (ZooKeeperServer zooKeeper = new ZooKeeperServer();
                Registry registry = open("no-such-host.invalid:2181," + zooKeeper.address())) {
            look(registry).awaitState(State.EMPTY);
        }
    }

    @Test
    void callsContinueWhileTheServersHaveNoQuorumAndTheOutageIsNamedOnce() throws Exception {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger("tern.rpc.registry");
        try (TestingCluster servers = new TestingCluster(3)) {
            servers.start();
            RegistryUrl url = RegistryUrl.parse("zookeeper://" + servers.getConnectString());
            try (TernProcess one = new TernProcess("one", url, ZooKeeperRegistry.Form.DEFAULT);
                    TernProcess web = new TernProcess("web", url, ZooKeeperRegistry.Form.DEFAULT);
                    Registry registry = open(servers.getConnectString())) {
                one.provide("", "", 100);
                Greeting greeting = web.refer("dubbo", Subscription.Level.BOTH, "", "");
                Await.until("the provider answers", () -> greeting.greet("x").equals("one:x"));
                Snapshots snapshots = look(registry);
                snapshots.awaitState(State.FRESH);
                logger.addAppender(log);

                List<InstanceSpec> stopped = new ArrayList<>(servers.getInstances()).subList(0, 2);
                for (InstanceSpec each : stopped) {
                    servers.killServer(each);
                }
                Await.until("the list is stale, and each call is answered", () -> {
                    assertThat(greeting.greet("x")).isEqualTo("one:x");
                    return snapshots.last().state() == State.STALE;
                });
                List<String> warnings = log.list.stream()
                        .filter(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                        .map(ILoggingEvent::getFormattedMessage)
                        .toList();
                assertThat(warnings).hasSizeBetween(1, 3).allMatch(line -> line.contains("does not answer"));

                for (InstanceSpec each : stopped) {
                    servers.restartServer(each);
                }
                snapshots.awaitState(State.FRESH);
                assertThat(greeting.greet("x")).isEqualTo("one:x");
            }
        } finally {
            logger.detachAppender(log);
        }
    }
}
