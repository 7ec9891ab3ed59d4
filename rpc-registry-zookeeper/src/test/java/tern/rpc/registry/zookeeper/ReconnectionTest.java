package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.KnownProcesses;
import tern.rpc.registry.dubbo.KnownProcesses.Known;
import tern.rpc.registry.dubbo.ProcessEntry;
import tern.rpc.registry.dubbo.ProcessMetadata;

/** Tests what a client reads after a reconnection. The clock is a fake, and the ZooKeeper server is real. */
@Timeout(180)
class ReconnectionTest {

    private final FakeThread thread = new FakeThread();
    private ZooKeeperServer zooKeeper;
    private Session session;

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new ZooKeeperServer();
        session = thread.session(zooKeeper.url());
        session.start();
        awaitConnected(true);
    }

    @AfterEach
    void stop() throws Exception {
        session.close();
        zooKeeper.close();
    }

    /** Calls the supplier on the session's thread, and returns its result. */
    private <T> T ask(Supplier<T> question) throws Exception {
        CompletableFuture<T> answer = new CompletableFuture<>();
        session.execute(() -> answer.complete(question.get()));
        return answer.get(60, TimeUnit.SECONDS);
    }

    private void awaitConnected(boolean expected) {
        Await.until("the session is connected: " + expected, () -> ask(session::isConnected) == expected);
    }

    private static Known process(String revision) {
        Known known = new KnownProcesses("shop")
                .parse(new ProcessEntry(
                                "shop",
                                "10.0.0.1:7001",
                                "10.0.0.1",
                                7001,
                                Map.of(ProcessEntry.REVISION, revision, ProcessEntry.STORAGE, ProcessEntry.REMOTE))
                        .json(1));
        assertThat(known).isNotNull();
        return known;
    }

    @Test
    void servicesThatCouldNotBeReadDuringALongOutageAreReadAtOnceAfterIt() throws Exception {
        ApplicationMetadata.Service service =
                new ApplicationMetadata.Service("cap.Greeting", "", "", "dubbo", 0, "cap.Greeting", Map.of());
        zooKeeper.create(
                "/dubbo/metadata/shop/new",
                ApplicationMetadata.of("shop", Map.of(service.key(), service)).json(),
                CreateMode.PERSISTENT);
        MetadataCache cache = new MetadataCache(session, ProcessMetadata.NONE, () -> {});
        session.execute(cache::start);
        Known process = process("new");

        zooKeeper.stop();
        awaitConnected(false);
        session.execute(() -> cache.update(List.of(process)));
        for (int i = 0; i < 10; i++) { // The pauses between the reads grow to half a minute.
            ask(() -> null);
            thread.advance(Duration.ofSeconds(30));
        }
        assertThat(ask(() -> cache.of(process) == null)).isTrue();
        zooKeeper.restart();

        Await.until("the services are known", () -> ask(() -> cache.of(process) != null));
    }

    @Test
    void listenerThatFailsKeepsNoOtherListenerFromTheNews() throws Exception {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        session.execute(() -> session.add(new Session.Listener() {
            @Override
            public void connected(boolean isNew) {
                throw new IllegalStateException("on purpose");
            }

            @Override
            public void stale(String why) {
                throw new IllegalStateException("on purpose");
            }
        }));
        session.execute(() -> session.add(new Session.Listener() {
            @Override
            public void connected(boolean isNew) {
                heard.add("connected");
            }

            @Override
            public void stale(String why) {
                heard.add("stale");
            }
        }));
        assertThat(heard.poll(60, TimeUnit.SECONDS)).isEqualTo("connected");

        zooKeeper.stop();
        awaitConnected(false);
        thread.advance(Session.STALE_AFTER);
        assertThat(heard.poll(60, TimeUnit.SECONDS)).isEqualTo("stale");
        zooKeeper.restart();

        assertThat(heard.poll(60, TimeUnit.SECONDS)).isEqualTo("connected");
    }
}
