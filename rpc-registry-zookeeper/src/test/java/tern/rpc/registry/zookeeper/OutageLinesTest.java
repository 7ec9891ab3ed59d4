package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.EndpointSnapshot.State;
import tern.rpc.registry.Registrar;
import tern.rpc.registry.Registration;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription;

/** Counts the lines that Tern logs during an outage that lasts an hour on a fake clock. */
@Timeout(180)
class OutageLinesTest {

    private static final ServiceKey GREETING = new ServiceKey("cap.Greeting", "", "");
    private static final int CHECKS_PER_HOUR = 120;

    /** The time between two checks of the connection, and between two verifications of a registration. */
    private static final Duration BETWEEN_CHECKS = Duration.ofSeconds(30);

    private final FakeThread thread = new FakeThread();
    private final Logger logger = (Logger) LoggerFactory.getLogger("tern.rpc");
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private final AppenderBase<ILoggingEvent> log = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
                lines.add(event.getFormattedMessage());
            }
        }
    };

    private ZooKeeperServer zooKeeper;
    private Session session;
    private ZooKeeperRegistry registry;

    @BeforeEach
    void start() throws Exception {
        log.start();
        logger.addAppender(log);
        zooKeeper = new ZooKeeperServer();
    }

    @AfterEach
    void stop() throws Exception {
        logger.detachAppender(log);
        registry.close();
        zooKeeper.close();
    }

    private void open(RegistryUrl url) {
        ZooKeeperRegistry.Factory factory = new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT);
        session = new Session(ZooKeeperSettings.of(url, factory.bundles()), thread, thread);
        registry = new ZooKeeperRegistry(url, factory, Clock.systemUTC(), session);
    }

    /** Waits until the running check of the connection has ended, and advances the clock to the next check. */
    private void awaitNextCheck() throws Exception {
        Await.until("the next check is scheduled", thread::hasDelayed);
        thread.advance(BETWEEN_CHECKS);
    }

    private void stopServer() throws Exception {
        zooKeeper.stop();
        Await.until(
                "the outage is noticed",
                () -> thread.submit(() -> !session.isConnected()).get(60, TimeUnit.SECONDS));
    }

    /** A timer whose periodic task runs when the test requests it. */
    private static final class Verification extends ScheduledThreadPoolExecutor {

        private Runnable task = () -> {};

        Verification() {
            super(1);
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long first, long delay, TimeUnit unit) {
            task = command;
            return schedule(() -> {}, 1, TimeUnit.DAYS);
        }
    }

    @Test
    void providerLogsAnHourWithoutZooKeeperOnce() throws Exception {
        open(zooKeeper.url());
        Verification verification = new Verification();
        try (Registrar registrar = new Registrar(List.of(registry), verification)) {
            registrar
                    .register(new Registration(
                            "shop",
                            "10.0.0.7",
                            20880,
                            List.of("dubbo"),
                            List.of(new Registration.Service(GREETING, List.of("greet"), 100)),
                            Map.of(),
                            0,
                            0))
                    .get(60, TimeUnit.SECONDS);
            lines.clear();

            stopServer();
            for (int i = 0; i < CHECKS_PER_HOUR; i++) {
                verification.task.run();
                awaitNextCheck();
            }

            assertThat(lines).singleElement().asString().contains(zooKeeper.url() + " does not answer");
            assertThat(registrar.problems().values()).singleElement().asString().contains("does not answer");
        } finally {
            verification.shutdownNow();
        }
    }

    @Test
    void consumerLogsAnHourWithoutZooKeeperOnce() throws Exception {
        open(zooKeeper.url());
        Snapshots snapshots = new Snapshots();
        registry.source(new Subscription(GREETING, "dubbo")).start(snapshots);
        snapshots.awaitState(State.EMPTY);
        lines.clear();
        int before = snapshots.count();

        stopServer();
        for (int i = 0; i < CHECKS_PER_HOUR; i++) {
            awaitNextCheck();
        }

        assertThat(snapshots.last().state()).isEqualTo(State.STALE);
        assertThat(snapshots.count()).isEqualTo(before + 1);
        assertThat(lines).singleElement().asString().contains(zooKeeper.url() + " does not answer");
    }

    /**
     * The port alternates between refusing connections and accepting them without an answer, so each check of the
     * connection finds a different cause than the previous check.
     */
    @Test
    void causeThatKeepsChangingIsLoggedAtMostOnceAMinute() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, loopback)) {
            port = free.getLocalPort();
        }
        open(RegistryUrl.parse("zookeeper://127.0.0.1:" + port + "?timeout=50"));
        Snapshots snapshots = new Snapshots();
        registry.source(new Subscription(GREETING, "dubbo")).start(snapshots);
        Await.until("the first check is scheduled", thread::hasDelayed);

        int minutes = 10;
        for (int i = 0; i < minutes; i++) {
            awaitNextCheck();
            try (ServerSocket silent = new ServerSocket(port, 1, loopback)) {
                assertThat(silent.isBound()).isTrue();
                awaitNextCheck();
                Await.until("the next check is scheduled", thread::hasDelayed);
            }
        }

        assertThat(lines).isNotEmpty().hasSizeLessThanOrEqualTo(minutes + 1);
        assertThat(snapshots.count()).isLessThanOrEqualTo(minutes + 2);
    }

    @Test
    void sourceThatStartsDuringAnOutageGetsTheReason() throws Exception {
        open(RegistryUrl.parse("zookeeper://127.0.0.1:1"));
        Snapshots first = new Snapshots();
        registry.source(new Subscription(GREETING, "dubbo")).start(first);
        Await.until("the first check is scheduled", thread::hasDelayed);
        thread.advance(Duration.ofSeconds(10));
        first.awaitState(State.UNKNOWN);

        Snapshots later = new Snapshots();
        registry.source(new Subscription(GREETING, "tri")).start(later);

        later.awaitState(State.UNKNOWN);
        assertThat(later.last().why()).contains("127.0.0.1:1 does not answer");
    }
}
