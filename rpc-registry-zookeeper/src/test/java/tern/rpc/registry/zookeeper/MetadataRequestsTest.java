package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.ServiceKey;
import tern.rpc.registry.Registry;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.ProcessEntry;

/** Tests consumers that request the list of services directly from the providers. The test defines the responses. */
@Timeout(180)
class MetadataRequestsTest {

    private final List<ProcessEntry> requests = new CopyOnWriteArrayList<>();
    private volatile Function<ProcessEntry, CompletableFuture<ApplicationMetadata>> answers = process -> services();
    private ZooKeeperServer zooKeeper;
    private Registry registry;

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new ZooKeeperServer();
        registry = new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT, "", process -> {
                    requests.add(process);
                    return answers.apply(process);
                })
                .open(zooKeeper.url());
        zooKeeper.create("/dubbo/mapping/cap.Greeting", "shop", CreateMode.PERSISTENT);
    }

    @AfterEach
    void stop() throws Exception {
        registry.close();
        zooKeeper.close();
    }

    private static CompletableFuture<ApplicationMetadata> services() {
        ApplicationMetadata.Service service =
                new ApplicationMetadata.Service("cap.Greeting", "", "", "dubbo", 0, "cap.Greeting", Map.of());
        return CompletableFuture.completedFuture(ApplicationMetadata.of("shop", Map.of(service.key(), service)));
    }

    private void register(String host, String revision) throws Exception {
        zooKeeper.create(
                "/services/shop/" + host + ":7001",
                new ProcessEntry(
                                "shop",
                                host + ":7001",
                                host,
                                7001,
                                Map.of(ProcessEntry.REVISION, revision, ProcessEntry.STORAGE, ProcessEntry.LOCAL))
                        .json(1),
                CreateMode.PERSISTENT);
    }

    private Snapshots look() {
        Snapshots snapshots = new Snapshots();
        registry.source(new Subscription(
                        new ServiceKey("cap.Greeting", "", ""), "dubbo", List.of(), Subscription.Level.APPLICATION))
                .start(snapshots);
        return snapshots;
    }

    @Test
    void oneProcessOfARevisionIsCalledForAllConsumers() throws Exception {
        register("10.0.0.1", "same");
        register("10.0.0.2", "same");
        register("10.0.0.3", "same");

        look().awaitAddresses("10.0.0.1:7001", "10.0.0.2:7001", "10.0.0.3:7001");
        look().awaitAddresses("10.0.0.1:7001", "10.0.0.2:7001", "10.0.0.3:7001");
        register("10.0.0.4", "same");
        look().awaitAddresses("10.0.0.1:7001", "10.0.0.2:7001", "10.0.0.3:7001", "10.0.0.4:7001");

        assertThat(requests).hasSize(1);
    }

    @Test
    void silentProcessDelaysNoOtherProvider() throws Exception {
        answers = process -> process.revision().equals("silent") ? new CompletableFuture<>() : services();
        register("10.0.0.1", "silent");
        register("10.0.0.2", "good");

        Snapshots snapshots = look();
        snapshots.awaitAddresses("10.0.0.2:7001");
        register("10.0.0.3", "better");

        snapshots.awaitAddresses("10.0.0.2:7001", "10.0.0.3:7001");
        assertThat(requests).extracting(ProcessEntry::revision).containsOnlyOnce("silent");
    }

    @Test
    void anotherProcessOfTheRevisionIsCalledAfterAFailure() throws Exception {
        answers = process -> process.equals(requests.get(0))
                ? CompletableFuture.failedFuture(new IllegalStateException("refused"))
                : services();
        register("10.0.0.1", "same");
        register("10.0.0.2", "same");

        look().awaitAddresses("10.0.0.1:7001", "10.0.0.2:7001");

        assertThat(requests).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    void atMostSixteenProcessesAreCalledAtATime() throws Exception {
        List<CompletableFuture<ApplicationMetadata>> silent = new CopyOnWriteArrayList<>();
        answers = process -> {
            silent.add(new CompletableFuture<>());
            return silent.get(silent.size() - 1);
        };
        for (int i = 0; i < 40; i++) {
            register("10.0.1." + i, "revision-" + i);
        }
        Snapshots snapshots = look();
        snapshots.awaitAddresses();
        Await.until("sixteen are called", () -> silent.size() == 16);

        answers = process -> services();
        silent.get(0).completeExceptionally(new IllegalStateException("refused"));

        Await.until(
                "the free call serves the 24 others and the one that failed",
                () -> snapshots.last().instances().size() == 25);
        assertThat(silent).hasSize(16);
    }

    @Test
    void storedServicesAreReadWithoutACall() throws Exception {
        zooKeeper.create("/dubbo/metadata/shop/stored", services().join().json(), CreateMode.PERSISTENT);
        register("10.0.0.1", "stored");

        look().awaitAddresses("10.0.0.1:7001");

        assertThat(requests).isEmpty();
    }
}
