package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.registry.dubbo.Limits;

/** Counts the reads that frequent changes cause. The clock is a fake, and the ZooKeeper server is real. */
@Timeout(120)
class ChangeBurstTest {

    private static final Duration TICK = Duration.ofMillis(1);
    private static final String PARENT = "/services/shop";

    private final FakeThread thread = new FakeThread();
    private final BlockingQueue<List<String>> lists = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> reads = new LinkedBlockingQueue<>(); // the data of the entries that were read
    private ZooKeeperServer zooKeeper;
    private Session session;
    private int created;

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new ZooKeeperServer();
        zooKeeper.create(PARENT, "", CreateMode.PERSISTENT);
        session = thread.session(zooKeeper.url());
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

    /**
     * Waits until the session has handled the watch events of all changes so far. ZooKeeper sends these events before
     * it answers a later request.
     */
    private void awaitEvents() throws Exception {
        CompletableFuture<Object> answered = new CompletableFuture<>();
        session.execute(() -> session.nodes().exists(PARENT, null).thenAccept(answered::complete));
        answered.get(60, TimeUnit.SECONDS);
    }

    private List<String> nextList() throws InterruptedException {
        List<String> next = lists.poll(60, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    private ChildNames listNames() throws Exception {
        return listNames(ChildNames.MAX_CHILDREN);
    }

    private ChildNames listNames(int most) throws Exception {
        ChildNames names = new ChildNames(session, PARENT, most, lists::add, () -> {});
        session.execute(() -> session.add(new Session.Listener() {
            @Override
            public void connected(boolean isNew) {
                names.connected();
            }

            @Override
            public void stale(String why) {}
        }));
        assertThat(nextList()).isEmpty();
        return names;
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
    void waitingChangeIsReadEarlyIfItIsNeeded() throws Exception {
        ChildNames names = listNames();
        create(1);
        assertThat(nextList()).hasSize(1);
        for (int millis : new int[] {100, 200}) {
            create(20);
            awaitEvents();
            thread.advance(Duration.ofMillis(millis));
            assertThat(nextList()).hasSize(created);
        }
        create(20); // The client requests the next list only after 400 ms, unless hurry() is called.
        awaitEvents();

        session.execute(names::hurry);
        session.execute(names::hurry);
        awaitEvents();
        assertThat(lists).isEmpty();
        thread.advance(Duration.ofMillis(100));
        assertThat(nextList()).hasSize(created);

        thread.advance(Duration.ofMillis(300));
        session.execute(names::hurry);
        awaitEvents();
        assertThat(lists).isEmpty();
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
    void changesOfAListThatIsTooLongAreReadOnlyAfterPauses() throws Exception {
        listNames(3);
        create(5);
        thread.advance(Duration.ofSeconds(1));
        awaitEvents();
        assertThat(lists).isNotEmpty().allSatisfy(list -> assertThat(list).isSubsetOf("0", "1", "2", "3"));
        lists.clear();

        create(1);
        awaitEvents();
        thread.advance(Duration.ofMillis(200));
        awaitEvents();
        assertThat(lists).isEmpty();
        thread.advance(Duration.ofMillis(300));

        assertThat(nextList()).containsExactly("0", "1", "2");
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

    /** Reads the entries of the parent node, and adds each new list of entries to the result. */
    private BlockingQueue<List<String>> watchEntries() {
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
        return entries;
    }

    private static List<String> next(BlockingQueue<List<String>> entries) throws InterruptedException {
        List<String> next = entries.poll(60, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    private void createAgain(String name, String data) throws Exception {
        zooKeeper.delete(PARENT + "/" + name);
        zooKeeper.create(PARENT + "/" + name, data, CreateMode.PERSISTENT);
    }

    @Test
    void entryThatIsDeletedAndCreatedAgainBetweenTwoListsIsReadAgain() throws Exception {
        create(3);
        BlockingQueue<List<String>> entries = watchEntries();
        assertThat(next(entries)).containsExactly("0", "0", "0");
        // The client lists the children immediately after this change, so its next read must wait for the interval to
        // end.
        create(1);
        assertThat(next(entries)).hasSize(4);
        reads.clear();

        createAgain("1", "after");
        createAgain("2", "after");
        awaitEvents();
        assertThat(reads).isEmpty();
        thread.advance(Duration.ofMillis(100));

        assertThat(next(entries)).containsExactly("0", "0", "after", "after");
        assertThat(reads).containsExactly("after", "after");
        zooKeeper.replace(PARENT + "/1", "changed"); // The client must also watch a node that was created again.
        thread.advance(Duration.ofSeconds(2));
        assertThat(next(entries)).contains("changed");
    }

    @Test
    void entryThatIsDeletedBeforeItIsReadAndCreatedAgainIsReadInTheNextList() throws Exception {
        BlockingQueue<List<String>> entries = watchEntries();
        assertThat(next(entries)).isEmpty();

        Hold first = new Hold();
        first.awaitStart();
        zooKeeper.create(PARENT + "/a", "before", CreateMode.PERSISTENT);
        awaitWaiting("the event of the creation", 1);
        Hold second = new Hold();
        // The session's thread can now request the list of names, but handles the answer only after the second task
        // ends.
        first.end();
        second.awaitStart();
        awaitWaiting("the answer of the list", 1);
        zooKeeper.delete(PARENT + "/a");
        awaitWaiting("the event of the deletion", 2);
        second.end();
        assertThat(next(entries)).isEmpty();
        zooKeeper.create(PARENT + "/a", "after", CreateMode.PERSISTENT);
        thread.advance(Duration.ofMillis(100));

        assertThat(next(entries)).containsExactly("after");
        assertThat(reads).containsExactly("after");
    }

    /** A task that occupies the session's thread until the test ends it. */
    private final class Hold {

        private final CountDownLatch started = new CountDownLatch(1);
        private final CountDownLatch ended = new CountDownLatch(1);

        Hold() {
            session.execute(() -> {
                started.countDown();
                await(ended);
            });
        }

        void awaitStart() {
            await(started);
        }

        void end() {
            ended.countDown();
        }

        private static void await(CountDownLatch latch) {
            try {
                assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Waits until the given number of tasks wait for the session's thread. */
    private void awaitWaiting(String what, int tasks) {
        Await.until(what, () -> session.waitingTasks() == tasks);
    }

    @Test
    void unreadableEntryIsLeftOutUntilItCanBeRead() throws Exception {
        create(2);
        zooKeeper.create(PARENT + "/secret", "1", CreateMode.PERSISTENT);
        zooKeeper.hide(PARENT + "/secret");
        BlockingQueue<List<String>> entries = watchEntries();

        assertThat(next(entries)).containsExactly("0", "0");
        create(1);
        assertThat(next(entries)).containsExactly("0", "0", "0");
        for (int pause = 0; pause < 10; pause++) {
            thread.advance(Retry.LONGEST_PAUSE);
            assertThat(next(entries)).containsExactly("0", "0", "0");
        }

        zooKeeper.unprotect(PARENT + "/secret");
        assertThat(advanceUntil(entries, 4)).containsExactly("0", "0", "0", "1");

        thread.advance(Retry.LONGEST_PAUSE);
        awaitEvents();
        assertThat(reads).containsExactly("0", "0", "0", "1");
    }

    /**
     * Advances the clock until the client knows the given number of entries.
     *
     * @return the last list of entries
     */
    private List<String> advanceUntil(BlockingQueue<List<String>> entries, int number) throws Exception {
        List<String> last = List.of();
        for (int i = 0; i < 200 && last.size() < number; i++) {
            thread.advance(Retry.LONGEST_PAUSE);
            last = next(entries);
        }
        return last;
    }

    @Test
    void nodeThatChangesOftenIsReadOncePerInterval() throws Exception {
        String path = PARENT + "/rule";
        zooKeeper.create(path, "0", CreateMode.PERSISTENT);
        BlockingQueue<List<String>> texts = new LinkedBlockingQueue<>();
        NodeData node = new NodeData(session, path, new NodeData.Reader() {
            @Override
            public void read(byte[] data) {
                texts.add(List.of(new String(data, StandardCharsets.UTF_8)));
            }

            @Override
            public void unreadable(String why) {
                throw new AssertionError(why);
            }
        });
        session.execute(node::start);
        assertThat(next(texts)).containsExactly("0");
        zooKeeper.replace(path, "1");
        assertThat(next(texts)).containsExactly("1");

        for (int i = 2; i < 20; i++) {
            zooKeeper.replace(path, String.valueOf(i));
        }
        awaitEvents();
        thread.advance(Duration.ofMillis(100).minus(TICK));
        awaitEvents();
        assertThat(texts).isEmpty();
        thread.advance(TICK);

        assertThat(next(texts)).containsExactly("19");
        assertThat(texts).isEmpty();
    }

    @Test
    void entryThatWasTooLongIsReadOnceItIsShorter() throws Exception {
        zooKeeper.create(PARENT + "/long", "x".repeat(Limits.MAX_ENTRY + 1), CreateMode.PERSISTENT);
        BlockingQueue<List<String>> entries = watchEntries();
        assertThat(next(entries)).isEmpty();

        zooKeeper.replace(PARENT + "/long", "short");
        thread.advance(Retry.LONGEST_PAUSE);

        assertThat(next(entries)).containsExactly("short");
    }

    @Test
    void manyUnreadableEntriesAreAllReadOnceTheyCanBeRead() throws Exception {
        int number = 150; // the number exceeds 64, because the client retries at most 64 failed reads at a time
        for (int i = 0; i < number; i++) {
            zooKeeper.create(PARENT + "/secret-" + i, "1", CreateMode.PERSISTENT);
            zooKeeper.hide(PARENT + "/secret-" + i);
        }
        BlockingQueue<List<String>> entries = watchEntries();
        assertThat(next(entries)).isEmpty();
        for (int i = 0; i < number; i++) {
            zooKeeper.unprotect(PARENT + "/secret-" + i);
        }

        assertThat(advanceUntil(entries, number)).hasSize(number).containsOnly("1");
        assertThat(reads).hasSize(number);
    }

    @Test
    void pausesAfterFailuresGrowToHalfAMinute() throws Exception {
        listNames(); // After this call, the session is connected.
        AtomicReference<Retry> retry = new AtomicReference<>();
        AtomicInteger tries = new AtomicInteger();
        retry.set(new Retry(session, () -> {
            tries.incrementAndGet();
            retry.get().failed();
        }));

        session.execute(() -> {
            retry.get().failed();
            retry.get().failed(); // The second call to failed() has no effect, because the task is already scheduled.
        });
        awaitEvents();
        assertThat(tries).hasValue(0);
        thread.advance(Duration.ofMillis(500));
        assertThat(tries).hasValue(1);
        thread.advance(Duration.ofMinutes(60));
        assertThat(tries).hasValueBetween(120, 250);
    }

    @Test
    void changedDataOfManyEntriesIsReadOncePerInterval() throws Exception {
        create(10);
        BlockingQueue<List<String>> entries = watchEntries();
        assertThat(next(entries)).containsOnly("0").hasSize(10);
        reads.clear();

        zooKeeper.replace(PARENT + "/0", "1");
        assertThat(next(entries)).containsOnly("0", "1").hasSize(10);
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

        assertThat(next(entries)).containsOnly("5").hasSize(10);
        assertThat(reads).containsOnly("5").hasSize(10);
    }
}
