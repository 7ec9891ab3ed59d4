package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.ServiceKey;
import tern.rpc.registry.Publication;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Registry;

/** Tests processes that publish the same address, such as a process and its successor. */
@Timeout(120)
class SharedAddressTest {

    private static final Registration PROVIDER = new Registration(
            "shop",
            "10.0.0.7",
            20880,
            List.of("dubbo"),
            List.of(new Registration.Service(new ServiceKey("cap.Greeting", "", ""), List.of("greet"), 50)),
            Map.of(),
            0,
            1_795_372_294_221L);

    private static Publication publish(Registry registry) throws Exception {
        Publication publication = registry.publish(PROVIDER);
        publication.seen().get(60, TimeUnit.SECONDS);
        return publication;
    }

    @Test
    void processThatStopsKeepsTheEntriesOfItsSuccessor() throws Exception {
        try (ZooKeeperServer zooKeeper = new ZooKeeperServer();
                Registry former = new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT).open(zooKeeper.url());
                Registry next = new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT).open(zooKeeper.url())) {
            Publication stopping = publish(former);
            Publication successor = publish(next);

            stopping.withdraw().get(60, TimeUnit.SECONDS);
            assertThat(zooKeeper.children("/dubbo/cap.Greeting/providers")).hasSize(1);
            assertThat(zooKeeper.children("/services/shop")).containsExactly("10.0.0.7:20880");

            successor.withdraw().get(60, TimeUnit.SECONDS);
            assertThat(zooKeeper.children("/dubbo/cap.Greeting/providers")).isEmpty();
            assertThat(zooKeeper.children("/services/shop")).isEmpty();
        }
    }
}
