package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import tern.rpc.registry.Subscription.Level;

/** Tests calls while the registry is down (R18 in docs/figures/promises.md). */
class OutageTest {

    private static final int CALLS = 2_000;

    /** The duration of the outage, in seconds; 0 for an outage that lasts until all calls have been made. */
    private static final int SECONDS = Integer.getInteger("tern.seconds", 0);

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(SECONDS == 0 ? 0 : 2);

    @Test
    void noCallFailsWhileTheRegistryIsDownAndNewProvidersAreFoundAfterwards() throws Exception {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger("tern.rpc");
        try (ZooKeeperServer zooKeeper = new ZooKeeperServer();
                TernProcess one = new TernProcess("one", zooKeeper.url(), ZooKeeperRegistry.Form.DEFAULT);
                TernProcess two = new TernProcess("two", zooKeeper.url(), ZooKeeperRegistry.Form.DEFAULT);
                TernProcess web = new TernProcess("web", zooKeeper.url(), ZooKeeperRegistry.Form.DEFAULT)) {
            one.provide("", "", 100);
            two.provide("", "", 100);
            List<Greeting> greetings =
                    List.of(web.refer("dubbo", Level.BOTH, "", ""), web.refer("tri", Level.BOTH, "", ""));
            for (Greeting greeting : greetings) {
                Set<String> heard = new TreeSet<>();
                Await.until("both providers answer", () -> heard.add(greeting.greet("hello")) || heard.size() == 2);
            }
            logger.addAppender(log);

            zooKeeper.stop();
            int made = 0;
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (made < CALLS || System.nanoTime() - end < 0) {
                for (Greeting greeting : greetings) {
                    assertThat(greeting.greet("call")).endsWith(":call");
                    made++;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            int lines = log.list.size();
            System.out.println("R18 registry down: " + made + " calls, 0 failed, " + lines + " log lines");
            assertThat(lines).isLessThanOrEqualTo(20 + SECONDS / 10);

            zooKeeper.restart();
            try (TernProcess three = new TernProcess("three", zooKeeper.url(), ZooKeeperRegistry.Form.DEFAULT)) {
                three.provide("", "", 100);
                for (Greeting greeting : greetings) {
                    Await.until(
                            "the new provider answers",
                            () -> greeting.greet("again").startsWith("three"));
                }
            }
        } finally {
            logger.detachAppender(log);
        }
    }
}
