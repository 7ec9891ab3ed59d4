package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.LoggerContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.mock.env.MockEnvironment;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.LoggingMode;
import tern.rpc.pool.PoolSource;

/** Tests the ring buffer of Log4j 2 while the disk is stalled. */
class AsyncLoggingTest {

    // The size of the ring buffer. In such a small buffer, half of the slots are reserved. In a buffer of normal size,
    // the reserved share is smaller.
    private static final int RING = 256;
    private static final int RESERVE = RING / 2;

    private final StalledDisk disk = new StalledDisk(RING);

    private LoggerContext start(String root) throws IOException {
        return disk.start(root);
    }

    @AfterEach
    void stop() {
        disk.close();
    }

    @Test
    void fullRingDropsLinesWithoutAWait() throws Exception {
        Logger log = start("AsyncRoot").getRootLogger();
        RingReserve ring = disk.reserve();
        long before = ring.dropped();
        log.info("first");
        // The background thread has read this line, but the line still occupies a slot in the ring buffer.
        disk.awaitStalled();

        for (int i = 0; i < 1_000; i++) {
            log.info("info {}", i); // If the calling thread blocked, the test would hang here.
        }

        assertThat(ring.free()).isEqualTo(RESERVE);
        long infosDropped = ring.dropped() - before;
        assertThat(infosDropped).isEqualTo(1_000 - (RING - RESERVE - 1));

        for (int i = 0; i < 1_000; i++) {
            log.error("error {}", i);
        }
        assertThat(ring.free()).isZero();
        assertThat(ring.dropped() - before - infosDropped).isEqualTo(1_000 - RESERVE);

        disk.writeOn();
        assertThat(disk.stop()).isTrue();
        assertThat(disk.written())
                .hasSize(RING)
                .contains("first", "info 0", "error 0")
                .doesNotContain("error 999");
    }

    @Test
    void linesInTheRingAreWrittenWhenTheAppenderContinues() throws Exception {
        Logger log = start("AsyncRoot").getRootLogger();
        disk.reserve();
        log.info("first");
        disk.awaitStalled();
        for (int i = 0; i < RING - RESERVE - 1; i++) {
            log.info("info {}", i);
        }

        disk.writeOn();
        disk.stop();

        assertThat(disk.written())
                // The filter runs a second time when a line leaves the ring buffer. In this second run, the filter
                // accepts every line.
                .hasSize(RING - RESERVE);
    }

    @Test
    void synchronousAppenderCountsInTheLedgerOfItsCaller() throws Exception {
        Logger log = start("Root").getRootLogger();
        disk.writeOn();
        watch(true).afterSingletonsInstantiated();

        CallLedger ledger = Serving.ledgerOf(() -> {
            log.info("served");
            return null;
        });

        assertThat(ledger.count(Phase.LOGGING)).isEqualTo(1);
        assertThat(disk.written()).containsExactly("served");
    }

    @ParameterizedTest
    @CsvSource({"AsyncRoot, true, ASYNCHRONOUS", "Root, true, OWN_CONFIGURATION", "Root, false, NO_DISRUPTOR"})
    void modeIsWhatIsReallyActive(String root, boolean disruptor, LoggingMode mode) throws Exception {
        start(root);

        assertThat(watch(disruptor).mode()).isEqualTo(mode);
    }

    @Test
    void ringIsShownAsAPool() throws Exception {
        start("AsyncRoot");

        PoolApplications.with().run(there -> {
            Log4jWatch watch = new Log4jWatch(
                    disk.context(), there.getBean(PoolSources.class), there.getBean(SettingOrigins.class), true);
            watch.afterSingletonsInstantiated();
            disk.context().getRootLogger().info("one");

            PoolSource ring = there.getBean("rpcPool.log4j2", PoolSource.class);

            assertThat(ring.snapshot().max()).isEqualTo(RING);
            assertThat(ring.snapshot().taken()).isEqualTo(1);
            watch.destroy();
        });
    }

    private Log4jWatch watch(boolean disruptor) {
        PoolSources none = new PoolSources(
                new org.springframework.beans.factory.support.DefaultListableBeanFactory(),
                new org.springframework.beans.factory.support.StaticListableBeanFactory()
                        .getBeanProvider(io.micrometer.core.instrument.MeterRegistry.class));
        return new Log4jWatch(disk.context(), none, new SettingOrigins(new MockEnvironment()), disruptor);
    }

    @ParameterizedTest
    @CsvSource({
        "rpc.logging.async=true, true",
        "rpc.logging.async=false, false",
        "logging.config=classpath:mine.xml, false",
        "other=1, true",
    })
    void switchFollowsTheProperties(String property, boolean wanted) {
        String[] pair = property.split("=");

        assertThat(AsyncLogging.isWanted(
                        new MockEnvironment().withProperty(pair[0], pair[1]),
                        getClass().getClassLoader()))
                .isEqualTo(wanted);
    }

    @Test
    void withoutTheDisruptorNothingIsSwitched() {
        assertThat(AsyncLogging.isWanted(
                        new MockEnvironment(), new FilteredClassLoader(com.lmax.disruptor.dsl.Disruptor.class)))
                .isFalse();
    }

    @Test
    void applicationsOwnConfigurationStays(@TempDir Path folder) throws Exception {
        Files.writeString(folder.resolve("log4j2-spring.xml"), "<Configuration/>");

        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            assertThat(AsyncLogging.isWanted(new MockEnvironment(), loader)).isFalse();
        }
    }
}
