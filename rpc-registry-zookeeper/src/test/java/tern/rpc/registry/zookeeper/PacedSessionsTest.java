package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

class PacedSessionsTest {

    private final AtomicLong nanos = new AtomicLong();
    private final List<Long> pauses = new ArrayList<>();
    private final AtomicInteger opened = new AtomicInteger();
    private final PacedSessions sessions = new PacedSessions(
            new ZookeeperFactory() {
                @Override
                public ZooKeeper newZooKeeper(String servers, int millis, Watcher watcher, boolean canBeReadOnly) {
                    opened.incrementAndGet();
                    return null;
                }
            },
            nanos::get,
            pause -> {
                pauses.add(Duration.ofNanos(pause).toMillis());
                nanos.addAndGet(pause);
            });

    private void open(int number) throws Exception {
        for (int i = 0; i < number; i++) {
            sessions.newZooKeeper("127.0.0.1:2181", 30_000, event -> {}, false);
        }
    }

    @Test
    void sessionsThatEndAtOnceFollowAfterPauses() throws Exception {
        open(8);

        assertThat(opened).hasValue(8);
        assertThat(pauses).containsExactly(2_000L, 2_000L, 2_000L);
    }

    @Test
    void sessionThatExpiresOnceIsReplacedAtOnce() throws Exception {
        for (int i = 0; i < 20; i++) {
            open(1);
            nanos.addAndGet(Duration.ofSeconds(2).toNanos());
        }
        open(5);

        assertThat(pauses).isEmpty();
    }

    /** Curator would not close a client that is created after Curator has been closed. */
    @Test
    void noSessionBeginsAfterTheEnd() throws Exception {
        open(1);

        sessions.close();

        assertThatThrownBy(() -> open(1)).isInstanceOf(IllegalStateException.class);
        assertThat(opened).hasValue(1);
    }
}
