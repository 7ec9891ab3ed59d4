package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.KnownProcesses;
import tern.rpc.registry.dubbo.KnownProcesses.Known;
import tern.rpc.registry.dubbo.ProcessEntry;

/** Tests revisions whose services are requested from the providers. The clock is a fake, and there is no server. */
@Timeout(120)
class MetadataCacheTest {

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final FakeThread thread = new FakeThread();
    private final Session session = thread.session(RegistryUrl.parse("zookeeper://127.0.0.1:1"));
    private final List<ProcessEntry> requests = new CopyOnWriteArrayList<>();
    private final AtomicInteger changes = new AtomicInteger();
    private volatile Function<ProcessEntry, CompletableFuture<ApplicationMetadata>> answers =
            process -> CompletableFuture.failedFuture(new IllegalStateException("refused"));
    private final MetadataCache cache = new MetadataCache(
            session,
            process -> {
                requests.add(process);
                return answers.apply(process);
            },
            changes::incrementAndGet);

    @AfterEach
    void stop() {
        session.close();
    }

    private static Known process(int number) {
        Known known = new KnownProcesses("shop")
                .parse(new ProcessEntry(
                                "shop",
                                "10.0.0." + number + ":7001",
                                "10.0.0." + number,
                                7001,
                                Map.of(ProcessEntry.REVISION, "r" + number, ProcessEntry.STORAGE, ProcessEntry.LOCAL))
                        .json(1));
        assertThat(known).isNotNull();
        return known;
    }

    /** Waits until the session has run all tasks so far. */
    private void awaitTasks() throws Exception {
        for (int i = 0; i < 10; i++) {
            CompletableFuture<Void> ran = new CompletableFuture<>();
            session.execute(() -> ran.complete(null));
            ran.get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void servicesOfAnApplicationThatIsNoLongerWatchedAreNotRequestedAgain() throws Exception {
        session.execute(() -> cache.update(List.of(process(1))));
        awaitTasks();
        assertThat(requests).hasSize(1);
        thread.advance(LONGEST_PAUSE);
        awaitTasks();
        assertThat(requests).hasSizeGreaterThan(1);
        int before = requests.size();

        session.execute(cache::close);
        awaitTasks();
        thread.advance(LONGEST_PAUSE.multipliedBy(3));
        awaitTasks();

        assertThat(requests).hasSize(before);
    }

    @Test
    void manyRevisionsThatBecomeKnownTogetherAreReportedOnlyAFewTimes() throws Exception {
        ApplicationMetadata.Service service =
                new ApplicationMetadata.Service("cap.Greeting", "", "", "dubbo", 0, "cap.Greeting", Map.of());
        answers = process ->
                CompletableFuture.completedFuture(ApplicationMetadata.of("shop", Map.of(service.key(), service)));
        List<Known> processes =
                IntStream.range(0, 200).mapToObj(MetadataCacheTest::process).toList();

        session.execute(() -> cache.update(processes));
        Await.until("all are requested", () -> requests.size() == 200);
        awaitTasks();

        assertThat(changes.get()).isBetween(1, 3);
        CompletableFuture<List<Boolean>> known = new CompletableFuture<>();
        session.execute(() -> known.complete(
                processes.stream().map(process -> cache.of(process) != null).toList()));
        assertThat(known.get(60, TimeUnit.SECONDS)).hasSize(200).doesNotContain(false);
    }
}
