package tern.rpc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

class WaitingReportTest {

    private static final Vitals VITALS =
            new Vitals(List.of(new Vitals.Line("cpu", "process uses 1.5 of 2 processors")));
    private static final List<StackClassifier> BY_NAME = List.of(thread -> switch (thread.name()) {
        case "borrows" -> new Wait("Druid: get connection", "spring.datasource.druid.max-active");
        case "returns" -> new Wait("Druid: return connection", "spring.datasource.druid.use-unfair-lock");
        case "logs" -> new Wait("Log4j 2: appender", "rpc.logging.async");
        case "idle" -> Wait.IDLE;
        default -> null;
    });

    private long nextId = 1;

    private List<ThreadStack> threads(int count, String name) {
        List<ThreadStack> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            threads.add(new ThreadStack(name, nextId++, Thread.State.WAITING, null, List.of(), true));
        }
        return threads;
    }

    private static RunningCall call(long thread, Phase phase, long phaseMillis) {
        return new RunningCall(
                "ScheduleService.schedule",
                thread,
                phase,
                TimeUnit.MILLISECONDS.toNanos(phaseMillis),
                TimeUnit.MILLISECONDS.toNanos(phaseMillis + 1),
                tern.rpc.CallLedger.none());
    }

    private static PoolSnapshot druid() {
        return PoolSnapshot.builder("dataSource", PoolKind.JDBC, 600)
                .now(600, 0, 442)
                .waitLimit(Duration.ofSeconds(6))
                .counts(1_000, 3)
                .settings(
                        List.of(new PoolSetting("spring.datasource.druid.max-active", "600", PoolSetting.Source.USER)))
                .build();
    }

    private WaitingReport ofTheStory() {
        List<ThreadStack> stacks = new ArrayList<>();
        stacks.addAll(threads(77, "logs"));
        stacks.addAll(threads(442, "borrows"));
        stacks.addAll(threads(164, "returns"));
        stacks.addAll(threads(10, "idle"));
        stacks.addAll(threads(5, "busy"));
        List<RunningCall> running =
                List.of(call(78, Phase.JDBC_CONNECTION, 1_900), call(79, Phase.JDBC_CONNECTION, 40));
        return WaitingReport.of(VITALS, stacks, running, List.of(druid()), BY_NAME);
    }

    @Test
    void rowsAreSortedByTheThreadsThatWait() {
        WaitingReport report = ofTheStory();

        assertThat(report.rows())
                .extracting(WaitingReport.Row::resource)
                .containsExactly("Druid: get connection", "Druid: return connection", "Log4j 2: appender");
        assertThat(report.rows()).extracting(WaitingReport.Row::threads).containsExactly(442, 164, 77);
        assertThat(report.waiting()).isEqualTo(683);
        assertThat(report.threads()).isEqualTo(698);
        assertThat(report.rows().get(0).share()).isEqualTo(442 / 683.0);
    }

    @Test
    void longestWaitIsThatOfALedger() {
        assertThat(ofTheStory().rows().get(0).longest()).isEqualTo(Duration.ofMillis(1_900));
        assertThat(ofTheStory().rows().get(1).longest()).isNull();
    }

    @Test
    void propertyIsShownWithTheValueThatThePoolHas() {
        WaitingReport report = ofTheStory();

        assertThat(report.rows().get(0).change()).isEqualTo("spring.datasource.druid.max-active (now 600)");
        assertThat(report.rows().get(2).change()).isEqualTo("rpc.logging.async");
        assertThat(report.pools()).containsExactly(new WaitingReport.Pool("dataSource", "jdbc", 600, 600, 442, 3, 0));
    }

    @Test
    void callsWithoutAStackAreToldByTheirLedgers() {
        List<RunningCall> onVirtualThreads = List.of(
                call(1_001, Phase.REDIS, 5),
                call(1_002, Phase.REDIS, 7),
                call(1_003, Phase.OWN, 9),
                call(RunningCall.NO_THREAD, Phase.UNATTRIBUTED, 50),
                call(RunningCall.NO_THREAD, Phase.UNATTRIBUTED, 60));

        WaitingReport report = WaitingReport.of(VITALS, threads(1, "idle"), onVirtualThreads, List.of(), BY_NAME);

        assertThat(report.rows())
                .containsExactly(
                        new WaitingReport.Row(
                                "Redis: answer",
                                2,
                                0.5,
                                Duration.ofMillis(7),
                                "fewer commands for each request (MGET, pipeline)"),
                        new WaitingReport.Row(
                                "result that other threads work on",
                                2,
                                0.5,
                                Duration.ofMillis(60),
                                "what completes the method's future, or those threads"));
        assertThat(report.calls()).isEqualTo(5);
    }

    @Test
    void stackSaysMoreThanTheLedgerOfTheSameCall() {
        List<ThreadStack> one = threads(1, "borrows");

        WaitingReport report =
                WaitingReport.of(VITALS, one, List.of(call(one.get(0).id(), Phase.OWN, 30)), List.of(), BY_NAME);

        assertThat(report.rows()).hasSize(1);
        assertThat(report.rows().get(0).resource()).isEqualTo("Druid: get connection");
    }

    @Test
    void firstClassifierThatKnowsDecides() {
        List<StackClassifier> classifiers = List.of(thread -> new Wait("mine", "my.property"), thread -> Wait.IDLE);

        WaitingReport report = WaitingReport.of(VITALS, threads(2, "any"), List.of(), List.of(), classifiers);

        assertThat(report.rows()).extracting(WaitingReport.Row::resource).containsExactly("mine");
        assertThat(BuiltInClassifiers.after(classifiers)).startsWith(classifiers.get(0), classifiers.get(1));
    }

    @Test
    void everyPhaseButThoseOfTheCallItselfIsAWait() {
        for (Phase phase : Phase.values()) {
            boolean busy = phase == Phase.OWN || phase == Phase.DECODE;

            assertThat(PhaseWaits.of(phase) == null).as(phase.key()).isEqualTo(busy);
        }
    }

    @Test
    void textIsTheStateThenTheTableThenThePools() {
        assertThat(ofTheStory().text().lines())
                .containsExactly(
                        "683 of 698 threads and 2 running calls wait",
                        "  cpu     process uses 1.5 of 2 processors",
                        "  threads  share    longest  waiting for               to change",
                        "      442   65 %    1900 ms  Druid: get connection     spring.datasource.druid.max-active (now 600)",
                        "      164   24 %          -  Druid: return connection  spring.datasource.druid.use-unfair-lock",
                        "       77   11 %          -  Log4j 2: appender         rpc.logging.async",
                        "  pool dataSource (jdbc): 600 of 600 in use, 442 waiting, 3 refused, 0 run by callers");
    }
}
