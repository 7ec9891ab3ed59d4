package tern.rpc.spring.autoconfigure.advice;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import tern.rpc.CallLedger;
import tern.rpc.NanoClock;
import tern.rpc.Phase;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.advice.Finding;
import tern.rpc.advice.Situation;
import tern.rpc.advice.Situation.LoggingMode;
import tern.rpc.metrics.CallMeters;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.RpcReportPart;
import tern.rpc.pool.Goal;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.spring.autoconfigure.RpcAutoConfiguration;
import tern.rpc.spring.autoconfigure.RpcClientAutoConfiguration;
import tern.rpc.spring.autoconfigure.RpcMetricsAutoConfiguration;
import tern.rpc.spring.autoconfigure.actuate.RpcActuatorAutoConfiguration;
import tern.rpc.spring.autoconfigure.insight.InsightActuatorAutoConfiguration;
import tern.rpc.spring.autoconfigure.pool.HikariAutoConfiguration;
import tern.rpc.spring.autoconfigure.pool.RpcPoolsAutoConfiguration;

/** Tests the data that the advice uses, and where the advice appears. */
class CapacityAdviceTest {

    interface Shop {
        void order();
    }

    interface Depot {
        void store();
    }

    private final AtomicLong now = new AtomicLong();
    private final NanoClock clock = now::get;
    private final RpcMeters meters = RpcMeters.withoutRegistry();
    private final AtomicReference<PoolSnapshot> pool = new AtomicReference<>(jdbc(0));
    private final AtomicReference<ProcessorTime> processorTime = new AtomicReference<>(ProcessorTime.NONE);
    private final CapacityAdvice advice = new CapacityAdvice(
            new Goal(500, Duration.ofMillis(100)),
            () -> Stream.of(pool::get),
            meters,
            () -> LoggingMode.ASYNCHRONOUS,
            clock,
            processorTime::get);

    private static PoolSnapshot jdbc(long taken) {
        return PoolSnapshot.builder("druid", PoolKind.JDBC, 8)
                .counts(taken, 0)
                .sums(Duration.ofMillis(2 * taken), Duration.ofMillis(20 * taken))
                .build();
    }

    private void seconds(int seconds) {
        now.addAndGet(Duration.ofSeconds(seconds).toNanos());
    }

    /** Simulates a call with 42 commands of 1 ms each. */
    private void call() {
        CallLedger ledger = new CallLedger(clock);
        for (int i = 0; i < 42; i++) {
            Phase outer = ledger.enter(Phase.REDIS);
            now.addAndGet(1_000_000);
            ledger.leave(outer);
        }
        meters.phases(
                        key(Shop.class),
                        ServiceDescriptor.of(Shop.class).methods().get(0))
                .ended(ledger, now.get());
    }

    private static ServiceKey key(Class<?> type) {
        return new ServiceKey(type.getName(), "", "");
    }

    @Test
    void situationIsThatOfTheTimeBetweenTwoLooks() {
        pool.set(jdbc(1_000));
        call();
        advice.look();
        pool.set(jdbc(1_300));
        processorTime.set(new ProcessorTime(
                15_000_000_000L,
                Map.of(7L, new ProcessorTime.ThreadTime("lettuce-nioEventLoop", 5_000_000_000L)),
                MachineTime.UNKNOWN));
        long before = now.get();
        for (int i = 0; i < 20; i++) {
            call();
        }
        now.set(before + Duration.ofSeconds(10).toNanos());

        Situation situation = advice.situation();

        assertThat(situation.pools().get(0).taken()).isEqualTo(300);
        assertThat(situation.pools().get(0).held()).hasMillis(6_000);
        assertThat(situation.cpu().busy()).isEqualTo(1.5);
        assertThat(situation.cpu().machine()).isEqualTo(1.5);
        assertThat(situation.cpu().groups()).singleElement().satisfies(group -> {
            assertThat(group.name()).isEqualTo("lettuce-nioEventLoop");
            assertThat(group.cores()).isEqualTo(0.5);
        });
        assertThat(situation.served()).singleElement().satisfies(call -> {
            assertThat(call.service() + "/" + call.method()).isEqualTo(Shop.class.getName() + "/order");
            assertThat(call.qps()).isEqualTo(2);
            assertThat(call.mean()).hasMillis(42);
            assertThat(call.phases().get(Phase.REDIS).operations()).isEqualTo(42);
        });
        assertThat(advice.findings()).extracting(Finding::rule).contains("chatty-calls");
    }

    /** Constructors may create tables, and health checks borrow connections from time to time. */
    @Test
    void whatIsNotAskedByCallsIsNoDemand() {
        pool.set(jdbc(1_000));

        assertThat(advice.atStart()).extracting(Finding::rule).doesNotContain("pool-below-demand");

        advice.look();
        pool.set(jdbc(2_000));
        seconds(10);

        assertThat(advice.findings()).extracting(Finding::rule).doesNotContain("pool-below-demand");
    }

    @Test
    void nothingIsJudgedBeforeAMinuteWithCalls() {
        CallMeters server = meters.server(
                key(Shop.class), ServiceDescriptor.of(Shop.class).methods().get(0), "dubbo");
        for (int i = 0; i < 7; i++) {
            advice.look();
            seconds(10);
        }
        assertThat(advice.afterAMinuteOfCalls()).isEmpty();

        for (int i = 0; i < 200; i++) {
            server.ended(null, Duration.ofMillis(5).toNanos());
        }

        assertThat(advice.afterAMinuteOfCalls()).isPresent();
    }

    @Test
    void callsToOthersAreJudgedByTheirMethodWithItsRetries() {
        CallMeters client = meters.client(
                key(Shop.class), ServiceDescriptor.of(Shop.class).methods().get(0), "dubbo", Duration.ofSeconds(1), 2);
        advice.look();
        for (int i = 0; i < 50; i++) {
            client.ended(null, Duration.ofMillis(700).toNanos());
            client.retried();
        }
        seconds(10);

        assertThat(advice.situation().called()).singleElement().satisfies(call -> {
            assertThat(call.service() + "/" + call.method()).isEqualTo(Shop.class.getName() + "/order");
            assertThat(call.qps()).isEqualTo(5);
            assertThat(call.retries()).isEqualTo(5);
        });
        assertThat(advice.findings())
                .filteredOn(finding -> finding.rule().equals("attempts-beyond-timeout"))
                .singleElement()
                .satisfies(finding ->
                        assertThat(finding.change()).startsWith("rpc.client.services.Shop.methods.order.timeout="));
    }

    /** One slow method must not affect the findings of other methods. */
    @Test
    void everyMethodIsJudgedByItsOwnSlowestCalls() {
        CallMeters server = meters.server(
                key(Shop.class), ServiceDescriptor.of(Shop.class).methods().get(0), "dubbo");
        CallMeters other = meters.server(
                key(Depot.class), ServiceDescriptor.of(Depot.class).methods().get(0), "dubbo");
        advice.look();
        for (int i = 0; i < 100; i++) {
            server.ended(null, Duration.ofMillis(5).toNanos());
            other.ended(null, Duration.ofMillis(500).toNanos());
        }
        seconds(10);

        assertThat(advice.situation().served())
                .extracting(call -> call.method() + " " + (call.p99().toMillis() < 100))
                .containsExactlyInAnyOrder("order true", "store false");
    }

    @Test
    void aMinuteIsRememberedAndNoMore() {
        for (int i = 0; i < 10; i++) {
            pool.set(jdbc(100L * i));
            advice.look();
            seconds(10);
        }
        pool.set(jdbc(1_000));

        assertThat(advice.situation().pools().get(0).taken()).isEqualTo(700);
    }

    @Test
    void threadsOfAGroupAreToldByTheirNames() {
        assertThat(List.of("lettuce-nioEventLoop-5-1", "rpc-worker-17", "main"))
                .map(ProcessorTime::group)
                .containsExactly("lettuce-nioEventLoop", "rpc-worker", "main");
        assertThat(ProcessorTime.now().threads().values())
                .extracting(ProcessorTime.ThreadTime::group)
                .contains(ProcessorTime.group(Thread.currentThread().getName()));
    }

    @Test
    void machineIsBusyWhereItsProcessorsAreNeitherIdleNorWaitForDisks() {
        MachineTime then = MachineTime.of("cpu  100 0 50 800 50 0 0 0 100 0");
        MachineTime now = MachineTime.of("cpu  160 0 60 820 60 0 0 0 160 0");

        assertThat(now.busySince(then)).isEqualTo(0.7);
        assertThat(MachineTime.of("intr 1 x").busySince(then)).isZero();
        assertThat(MachineTime.UNKNOWN.busySince(MachineTime.UNKNOWN)).isZero();
    }

    private static ApplicationContextRunner application() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RpcAutoConfiguration.class,
                        RpcMetricsAutoConfiguration.class,
                        RpcClientAutoConfiguration.class,
                        RpcPoolsAutoConfiguration.class,
                        HikariAutoConfiguration.class,
                        RpcAdviceAutoConfiguration.class,
                        InsightActuatorAutoConfiguration.class,
                        RpcActuatorAutoConfiguration.class,
                        DataSourceAutoConfiguration.class))
                .withPropertyValues(
                        "spring.datasource.url=jdbc:h2:mem:advice",
                        "spring.datasource.hikari.connection-timeout=30000",
                        "management.endpoints.web.exposure.include=rpc");
    }

    @Test
    void endpointShowsFindingsAndPools() {
        application().run(there -> {
            RpcReportPart part = there.getBean("rpcAdvicePart", RpcReportPart.class);

            assertThat(part.name()).isEqualTo("advice");
            assertThat(part.report())
                    .asString()
                    .contains("wait-beyond-target")
                    .contains("spring.datasource.hikari.connection-timeout=250")
                    .contains("spring.datasource.hikari.maximum-pool-size");
        });
    }

    @Test
    void configurationIsJudgedOnceAtTheStart() {
        Logger log = (Logger) LoggerFactory.getLogger(CapacityAdvice.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        log.setLevel(Level.INFO);
        log.addAppender(lines);
        try {
            application().run(there -> assertThat(there).hasNotFailed());
        } finally {
            log.detachAppender(lines);
            log.setLevel(null);
        }

        assertThat(lines.list).singleElement().satisfies(line -> {
            assertThat(line.getLevel()).isEqualTo(Level.INFO);
            assertThat(line.getFormattedMessage())
                    .startsWith("Hints on capacity, by the settings alone: ")
                    .contains("a wait may take 30 s, a call is meant to end within 100 ms")
                    .contains("spring.datasource.hikari.connection-timeout=250");
        });
    }
}
