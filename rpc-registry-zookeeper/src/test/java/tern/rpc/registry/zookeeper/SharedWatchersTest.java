package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests several watches on the same nodes. The ZooKeeper server is real. */
@Timeout(120)
class SharedWatchersTest {

    private static final String RULE = "/dubbo/config/dubbo/shop.tag-router";
    private static final String PARENT = "/services/shop";
    private static final String ENTRY = PARENT + "/one";
    private static final String MISSING = "missing";

    private final FakeThread thread = new FakeThread();
    private ZooKeeperServer zooKeeper;
    private Session session;

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new ZooKeeperServer();
        session = thread.session(zooKeeper.url());
        session.start();
    }

    @AfterEach
    void stop() throws Exception {
        session.close();
        zooKeeper.close();
    }

    private static String next(BlockingQueue<String> texts) throws InterruptedException {
        return texts.poll(60, TimeUnit.SECONDS);
    }

    /** Watches a rule's node, and adds the rule's text to the queue after each change. */
    private NodeData watchRule(BlockingQueue<String> texts) {
        NodeData node = new NodeData(session, RULE, new NodeData.Reader() {
            @Override
            public void read(byte @Nullable [] data) {
                texts.add(data == null ? MISSING : new String(data, StandardCharsets.UTF_8));
            }

            @Override
            public void unreadable(String why) {
                throw new AssertionError(why);
            }
        });
        session.execute(node::start);
        return node;
    }

    /** Watches the entries, and adds the list of entries to the queue after each change. */
    private Folder<String> watchEntries(BlockingQueue<String> sizes) {
        CompletableFuture<Folder<String>> made = new CompletableFuture<>();
        Folder<String> folder = new Folder<>(
                session,
                PARENT,
                Comparator.<String>naturalOrder(),
                data -> new String(data, StandardCharsets.UTF_8),
                () -> sizes.add(String.valueOf(made.join().entries())));
        made.complete(folder);
        session.execute(folder::start);
        return folder;
    }

    @Test
    void watchingTheSameNodesAgainNeedsNoFurtherWatchers() throws Exception {
        zooKeeper.create(ENTRY, "1", CreateMode.PERSISTENT);
        for (int i = 0; i < 3; i++) {
            BlockingQueue<String> texts = new LinkedBlockingQueue<>();
            BlockingQueue<String> entries = new LinkedBlockingQueue<>();
            NodeData rule = watchRule(texts);
            Folder<String> folder = watchEntries(entries);
            assertThat(next(texts)).isEqualTo(MISSING);
            assertThat(next(entries)).isEqualTo("[1]");
            session.execute(rule::close);
            session.execute(folder::close);
        }

        CompletableFuture<Integer> watchers = new CompletableFuture<>();
        session.execute(() -> watchers.complete(session.watchers().size()));
        // There is one watcher for the rule, one for the list of entries, and one for the data of the entries.
        assertThat(watchers.get(60, TimeUnit.SECONDS)).isEqualTo(3);
    }

    @Test
    void changesReachTheOtherWatchesOfANodeAfterOneIsClosed() throws Exception {
        zooKeeper.create(ENTRY, "1", CreateMode.PERSISTENT);
        BlockingQueue<String> closedTexts = new LinkedBlockingQueue<>();
        BlockingQueue<String> closedEntries = new LinkedBlockingQueue<>();
        NodeData closedRule = watchRule(closedTexts);
        Folder<String> closedFolder = watchEntries(closedEntries);
        assertThat(next(closedTexts)).isEqualTo(MISSING);
        assertThat(next(closedEntries)).isEqualTo("[1]");
        BlockingQueue<String> texts = new LinkedBlockingQueue<>();
        BlockingQueue<String> entries = new LinkedBlockingQueue<>();
        watchRule(texts);
        watchEntries(entries);
        assertThat(next(texts)).isEqualTo(MISSING);
        assertThat(next(entries)).isEqualTo("[1]");
        session.execute(closedRule::close);
        session.execute(closedFolder::close);

        zooKeeper.create(RULE, "tags: []", CreateMode.PERSISTENT);
        assertThat(next(texts)).isEqualTo("tags: []");
        zooKeeper.replace(ENTRY, "2");
        assertThat(next(entries)).isEqualTo("[2]");
        zooKeeper.delete(ENTRY);
        Await.until("the deletion is read", () -> {
            thread.advance(Duration.ofSeconds(1));
            return "[]".equals(entries.peek());
        });
        assertThat(closedTexts).isEmpty();
        assertThat(closedEntries).isEmpty();
    }
}
