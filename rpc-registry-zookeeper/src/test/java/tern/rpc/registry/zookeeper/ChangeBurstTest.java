package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Counts the reads that frequent changes cause. The clock is a fake, and the ZooKeeper server is real. */
@Timeout(120)
class ChangeBurstTest {

    private static final Duration TICK = Duration.ofMillis(1);
    private static final String PARENT = "/services/shop";

    private final FakeThread thread = new FakeThread();
    private final BlockingQueue<List<String>> lists = new LinkedBlockingQueue<>();
    private ZooKeeperServer zooKeeper;
    private Session session;
    private int created;

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new ZooKeeperServer();
        zooKeeper.create(PARENT, "", CreateMode.PERSISTENT);
        session = new Session(
                ZooKeeperSettings.of(zooKeeper.url(), name -> {
                    throw new AssertionError(name);
                }),
                thread,
                thread);
        session.start();
    }

    @AfterEach
    void stop() throws Exception {
        session.close();
        zooKeeper.close();
    }

    private void create(int number) throws Exception {
        for (int i = 0; i < number; i++) {
            zooKeeper.create(PARENT + "/" + created++, "0", CreateMode.PERSISTENT);
        }
    }

    /** Waits until the session has handled the watch events of all changes so far. ZooKeeper keeps their order. */
    private void awaitEvents() throws Exception {
        CompletableFuture<Object> answered = new CompletableFuture<>();
        session.execute(() -> session.exists(PARENT, null).thenAccept(answered::complete));
        answered.get(60, TimeUnit.SECONDS);
    }

    private List<String> nextList() throws InterruptedException {
        List<String> next = lists.poll(60, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    private void listNames() throws Exception {
        ChildNames names = new ChildNames(session, PARENT, lists::add);
        session.execute(() -> session.add(new Session.Listener() {
            @Override
            public void connected(boolean isNew) {
                names.connected();
            }

            @Override
            public void stale(String why) {}
        }));
        assertThat(nextList()).isEmpty();
    }

    @Test
    void firstChangeIsReadAtOnceAndBurstsAreReadOncePerGrowingInterval() throws Exception {
        listNames();
        create(1);
        assertThat(nextList()).hasSize(1);

        for (int millis : new int[] {100, 200, 400, 800, 1_000, 1_000}) {
            create(20);
            awaitEvents();
            thread.advance(Duration.ofMillis(millis).minus(TICK));
            awaitEvents();
            assertThat(lists).as("reads within %s ms", millis).isEmpty();

            thread.advance(TICK);
            assertThat(nextList()).hasSize(created);
            assertThat(lists).isEmpty();
        }
    }

    @Test
    void changeAfterAQuietTimeIsReadAtOnceAgain() throws Exception {
        listNames();
        create(1);
        assertThat(nextList()).hasSize(1);
        create(20);
        awaitEvents();
        thread.advance(Duration.ofMillis(100));
        assertThat(nextList()).hasSize(21);

        thread.advance(Duration.ofSeconds(2));
        create(1);

        assertThat(nextList()).hasSize(22);
    }

    @Test
    void reconnectionReadsAtOnceEvenIfAReadIsScheduled() throws Exception {
        listNames();
        create(1);
        assertThat(nextList()).hasSize(1);
        create(20);
        awaitEvents();

        zooKeeper.stop();
        zooKeeper.restart();

        assertThat(nextList()).hasSize(21);
    }

    @Test
    void changedDataOfManyEntriesIsReadOncePerInterval() throws Exception {
        create(10);
        BlockingQueue<String> reads = new LinkedBlockingQueue<>();
        BlockingQueue<List<String>> entries = new LinkedBlockingQueue<>();
        AtomicReference<Folder<String>> folder = new AtomicReference<>();
        Folder.Reader<String> reader = data -> {
            String text = new String(data, StandardCharsets.UTF_8);
            reads.add(text);
            return text;
        };
        folder.set(new Folder<>(
                session,
                PARENT,
                Comparator.naturalOrder(),
                reader,
                () -> entries.add(folder.get().entries())));
        session.execute(() -> folder.get().start());
        assertThat(entries.poll(60, TimeUnit.SECONDS)).containsOnly("0").hasSize(10);
        reads.clear();

        zooKeeper.replace(PARENT + "/0", "1");
        assertThat(entries.poll(60, TimeUnit.SECONDS)).containsOnly("0", "1").hasSize(10);
        assertThat(reads).containsExactly("1");
        reads.clear();

        for (int version = 2; version <= 5; version++) {
            for (int i = 0; i < created; i++) {
                zooKeeper.replace(PARENT + "/" + i, String.valueOf(version));
            }
        }
        awaitEvents();
        assertThat(reads).isEmpty();
        thread.advance(Duration.ofMillis(100));

        assertThat(entries.poll(60, TimeUnit.SECONDS)).containsOnly("5").hasSize(10);
        assertThat(reads).containsOnly("5").hasSize(10);
    }
}
