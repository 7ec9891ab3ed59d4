package tern.rpc.advice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.DURATION;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.advice.Situation.Cpu;
import tern.rpc.advice.Situation.LoggingMode;
import tern.rpc.pool.Goal;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSetting.Source;
import tern.rpc.pool.PoolSetting.Use;
import tern.rpc.pool.PoolSnapshot;

/**
 * Each rule of the advice as a table of numbers, for a target of 500 calls/s within 100 ms, and the order of several
 * findings.
 */
class AdvisorTest {

    private static final Goal GOAL = new Goal(500, Duration.ofMillis(100));

    @ParameterizedTest
    @CsvSource({
        // columns: operations, their time, wait for connections, call (ms); severity; time saved
        "42, 6100, 200, 6400, BLOCKS, 6154",
        "40, 60, 5300, 5400, BLOCKS, 5358",
        "42, 42, 0, 60, RISKS, 41",
        "6, 30, 0, 50, RISKS, 25",
        "5, 90, 0, 95, , ",
        "42, 5, 0, 95, , ",
        "1, 80, 0, 90, , ",
    })
    void chattyCalls(
            double operations, int time, int wait, int call, @Nullable Severity severity, @Nullable Integer saved) {
        for (Phase[] kind : new Phase[][] {
            {Phase.REDIS, Phase.REDIS_CONNECTION},
            {Phase.SQL, Phase.JDBC_CONNECTION},
            {Phase.HTTP, Phase.HTTP_CONNECTION}
        }) {
            Situation situation =
                    served(call(call, Map.of(kind[0], use(operations, time), kind[1], use(operations, wait))));

            expect("chatty-calls", situation, severity);
            if (saved != null) {
                assertThat(found("chatty-calls", situation).saved().toMillis()).isEqualTo(saved.longValue());
            }
        }
    }

    @Test
    void chattyCallIsNamedWithItsNumbers() {
        Situation situation = served(call(6_400, Map.of(Phase.REDIS, use(42, 6_100))));

        Finding finding = found("chatty-calls", situation);

        assertThat(finding.bottleneck()).contains("ScheduleService/schedule");
        assertThat(finding.evidence()).isEqualTo("42 serial Redis commands a call take 6100 ms of 6400 ms");
        assertThat(finding.change()).contains("MGET");
    }

    @ParameterizedTest
    @CsvSource({
        // columns: total, per host, hosts, source, time per use, wait per call (ms); severity; line
        "300, 8, 1, USER, 20, 1800, BLOCKS, rpc.pools.http.max-per-host=300",
        "300, 8, 1, USER, 0, 0, RISKS, rpc.pools.http.max-per-host=300",
        "300, 8, 1, LIBRARY, 0, 0, RISKS, rpc.pools.http.max-per-host=300",
        "200, 64, 1, TUNED, 0, 0, , ",
        "200, 64, 1, TUNED, 200, 80, BLOCKS, rpc.pools.http.max-per-host=200",
        "300, 8, 40, USER, 20, 50, , ",
        "300, 8, 5, USER, 0, 0, , ",
        "300, 300, 1, USER, 20, 50, , ",
    })
    void perHostBelowTotal(
            int total,
            int perHost,
            int hosts,
            Source source,
            int use,
            int wait,
            @Nullable Severity severity,
            @Nullable String line) {
        PoolSnapshot pool = PoolSnapshot.builder("http", PoolKind.HTTP, total)
                .hosts(perHost, hosts)
                .counts(use == 0 ? 0 : 500, 0)
                .sums(Duration.ofMillis(500L * wait), Duration.ofMillis(500L * use))
                .settings(List.of(
                        new PoolSetting("rpc.pools.http.max-total", "" + total, source, Use.MAX),
                        new PoolSetting("rpc.pools.http.max-per-host", "" + perHost, source, Use.MAX_PER_HOST)))
                .build();
        Situation situation = situation(
                List.of(pool), List.of(call(wait + 90, Map.of(Phase.HTTP_CONNECTION, use(1, wait)))), Cpu.UNKNOWN);

        expect("per-host-below-total", situation, severity);
        if (line != null) {
            assertThat(found("per-host-below-total", situation).change()).isEqualTo(line);
            assertThat(found("per-host-below-total", situation).evidence())
                    .startsWith("one host, total " + total + ", per host " + perHost + ": effective limit " + perHost);
        }
    }

    @ParameterizedTest
    @CsvSource({
        // columns: fair, wait per call (ms); severity
        "true, 900, BLOCKS",
        "true, 1, RISKS",
        "false, 900, ",
    })
    void fairLock(boolean fair, int wait, @Nullable Severity severity) {
        PoolSnapshot pool = jdbc(600)
                .fair(fair)
                .settings(List.of(new PoolSetting(
                        "spring.datasource.druid.use-unfair-lock", "" + !fair, Source.USER, Use.FAIRNESS)))
                .build();
        Situation situation = situation(
                List.of(pool), List.of(call(wait + 90, Map.of(Phase.JDBC_CONNECTION, use(5, wait)))), Cpu.UNKNOWN);

        expect("fair-lock", situation, severity);
        if (severity != null) {
            assertThat(found("fair-lock", situation).change())
                    .isEqualTo("spring.datasource.druid.use-unfair-lock=true");
        }
    }

    @ParameterizedTest
    @CsvSource({
        // columns: tasks run by callers, their time per call (ms); severity
        "107, 60, BLOCKS",
        "3, 0, RISKS",
        "0, 0, ",
    })
    void callerRuns(long tasks, int time, @Nullable Severity severity) {
        PoolSnapshot pool = PoolSnapshot.builder("bind", PoolKind.EXECUTOR, 16)
                .now(16, 0, 200)
                .queueCapacity(200)
                .callerRuns(tasks)
                .settings(List.of(new PoolSetting("rpc.pools.executors.bind.threads", "16", Source.USER, Use.MAX)))
                .build();
        Situation situation = situation(
                List.of(pool), List.of(call(time + 50, Map.of(Phase.CALLER_RUNS, use(0.2, time)))), Cpu.UNKNOWN);

        expect("caller-runs", situation, severity);
        if (severity != null) {
            assertThat(found("caller-runs", situation).change()).isEqualTo("rpc.pools.executors.bind.threads=32");
        }
    }

    @ParameterizedTest
    @CsvSource({
        // columns: mode, time per call, call (ms); severity
        "SYNCHRONOUS, 77, 180, BLOCKS",
        "SYNCHRONOUS, 6, 90, RISKS",
        "SYNCHRONOUS, 1, 90, ",
        "NO_DISRUPTOR, 0, 50, HINTS",
        "NO_DISRUPTOR, 77, 180, BLOCKS",
        "ASYNCHRONOUS, 77, 180, ",
    })
    void synchronousLogging(LoggingMode mode, int time, int call, @Nullable Severity severity) {
        Situation situation = new Situation(
                GOAL,
                List.of(),
                List.of(call(call, Map.of(Phase.LOGGING, use(20, time)))),
                List.of(),
                mode,
                Cpu.UNKNOWN);

        expect("synchronous-logging", situation, severity);
        if (severity != null) {
            assertThat(found("synchronous-logging", situation).change()).contains("com.lmax:disruptor");
        }
    }

    @ParameterizedTest
    @CsvSource({
        // columns: size, uses per call, time of a use, wait per call, call (ms); severity; advised size
        "8, 1, 20, 80, 150, BLOCKS, 12", // 500/s × 20 ms = 10, plus a fifth
        "8, 1, 20, 0, 50, RISKS, 12",
        "8, 1, 5, 0, 50, , ", // 2.5 are busy
        "8, 5, 5, 0, 50, RISKS, 15", // 12.5 are busy
        "10, 0.1, 100, 0, 50, , ", // used by every tenth call
        "12, 1, 20, 0, 50, , ",
    })
    void poolBelowDemand(
            int size,
            double uses,
            int hold,
            int wait,
            int call,
            @Nullable Severity severity,
            @Nullable Integer enough) {
        PoolSnapshot pool = jdbc(size)
                .counts(1_000, 0)
                .sums(Duration.ZERO, Duration.ofMillis(1_000L * hold))
                .settings(List.of(
                        new PoolSetting("spring.datasource.hikari.maximum-pool-size", "", Source.LIBRARY, Use.MAX)))
                .build();
        Situation situation = situation(
                List.of(pool), List.of(call(call, Map.of(Phase.JDBC_CONNECTION, use(uses, wait)))), Cpu.UNKNOWN);

        expect("pool-below-demand", situation, severity);
        if (enough != null) {
            assertThat(found("pool-below-demand", situation).change())
                    .isEqualTo("spring.datasource.hikari.maximum-pool-size=" + enough);
        }
    }

    @ParameterizedTest
    @CsvSource({
        // columns: active, waiting, refused; severity. The queue shows a lack that the arithmetic does not.
        "8, 40, 0, BLOCKS",
        "3, 0, 12, BLOCKS",
        "3, 0, 0, ",
        "3, 40, 0, ", // connections are free, so something else delays the waiting threads
    })
    void fullPoolIsBelowDemandWhateverTheArithmetic(int active, int waiting, int refused, @Nullable Severity severity) {
        PoolSnapshot pool = jdbc(8).now(active, 8 - active, waiting)
                .counts(1_000, refused)
                .sums(Duration.ZERO, Duration.ofMillis(1_000))
                .build();
        Situation situation =
                situation(List.of(pool), List.of(call(500, Map.of(Phase.JDBC_CONNECTION, use(1, 400)))), Cpu.UNKNOWN);

        expect("pool-below-demand", situation, severity);
    }

    @Test
    void workersThatWaitForOthersAreASymptom() {
        PoolSnapshot workers = PoolSnapshot.builder("workers", PoolKind.WORKERS, 200)
                .now(200, 0, 400)
                .counts(1_000, 50)
                .build();
        CallSnapshot call = call(
                2_000, Map.of(Phase.QUEUE, use(0, 1_500), Phase.HTTP_CONNECTION, use(1, 450), Phase.OWN, use(0, 5)));

        Finding finding = found("pool-below-demand", situation(List.of(workers), List.of(call), Cpu.UNKNOWN));

        assertThat(finding.severity()).isEqualTo(Severity.RISKS);
        assertThat(finding.saved()).isZero();
        assertThat(finding.change()).startsWith("shorten what the calls wait for");
    }

    @ParameterizedTest
    @CsvSource({
        // columns: workers, connections, source; severity; advised connections
        "200, 10, LIBRARY, RISKS, 50",
        "200, 10, USER, RISKS, 50",
        "200, 10, TUNED, , ",
        "20, 10, USER, RISKS, 20",
        "200, 50, USER, , ",
        "8, 10, USER, , ",
    })
    void workersBeyondConnections(
            int workers, int connections, Source source, @Nullable Severity severity, @Nullable Integer enough) {
        PoolSnapshot pool = jdbc(connections)
                .settings(List.of(new PoolSetting("spring.datasource.druid.max-active", "", source, Use.MAX)))
                .build();
        Situation situation = Situation.atStart(
                GOAL,
                List.of(
                        PoolSnapshot.builder("workers", PoolKind.WORKERS, workers)
                                .build(),
                        pool),
                LoggingMode.ASYNCHRONOUS);

        expect("workers-beyond-connections", situation, severity);
        if (enough != null) {
            assertThat(found("workers-beyond-connections", situation).change())
                    .isEqualTo("spring.datasource.druid.max-active=" + enough);
        }
    }

    @ParameterizedTest
    @CsvSource({
        // columns: longest wait (ms), source, refused; severity
        "6000, USER, 0, HINTS",
        "6000, USER, 3, RISKS",
        "-1, USER, 0, RISKS",
        "-1, LIBRARY, 0, RISKS",
        "1000, TUNED, 0, ",
        "100, USER, 0, ",
    })
    void waitBeyondTarget(int millis, Source source, int refused, @Nullable Severity severity) {
        PoolSnapshot pool = jdbc(600)
                .waitLimit(Duration.ofMillis(millis))
                .counts(10, refused)
                .settings(List.of(
                        new PoolSetting("spring.datasource.druid.max-wait", "" + millis, source, Use.WAIT_LIMIT)))
                .build();
        Situation situation = Situation.atStart(GOAL, List.of(pool), LoggingMode.ASYNCHRONOUS);

        expect("wait-beyond-target", situation, severity);
        if (severity != null) {
            assertThat(found("wait-beyond-target", situation).change())
                    .isEqualTo("spring.datasource.druid.max-wait=100");
        }
    }

    @ParameterizedTest
    @CsvSource({
        // columns: places, threads, time of a task (ms; 0 if unknown), waiting, source; severity; seconds of work
        "20000, 16, 0, 0, USER, HINTS, 40",
        "20000, 16, 60, 2400, USER, RISKS, 75",
        "200, 16, 0, 0, USER, , ",
        "200, 16, 60, 200, USER, , ",
        "20000, 16, 0, 0, TUNED, , ",
    })
    void queueBeyondTarget(
            int capacity,
            int threads,
            int task,
            int waiting,
            Source source,
            @Nullable Severity severity,
            @Nullable String seconds) {
        PoolSnapshot pool = PoolSnapshot.builder("bind", PoolKind.EXECUTOR, threads)
                .now(threads, 0, waiting)
                .queueCapacity(capacity)
                .counts(task == 0 ? 0 : 100, 0)
                .sums(Duration.ZERO, Duration.ofMillis(100L * task))
                .settings(List.of(new PoolSetting(
                        "rpc.pools.executors.bind.queue-capacity", "" + capacity, source, Use.QUEUE_CAPACITY)))
                .build();
        Situation situation = Situation.atStart(GOAL, List.of(pool), LoggingMode.ASYNCHRONOUS);

        expect("queue-beyond-target", situation, severity);
        if (seconds != null) {
            assertThat(found("queue-beyond-target", situation).evidence()).contains(" " + seconds + " s of work");
        }
    }

    @ParameterizedTest
    @CsvSource({
        // columns: timeout, 99th percentile (ms), source; rule; severity
        "1000, 900, TUNED, timeout-below-latency, RISKS",
        "1000, 700, TUNED, timeout-below-latency, ",
        "0, 700, TUNED, timeout-below-latency, ",
        "10000, 50, USER, timeout-beyond-target, HINTS",
        "10000, 50, TUNED, timeout-beyond-target, ",
        "3000, 50, USER, timeout-beyond-target, ",
    })
    void timeoutAgainstTarget(int timeout, int p99, Source source, String rule, @Nullable Severity severity) {
        expect(rule, calling(timeout, 1, p99, source, 0), severity);
    }

    @ParameterizedTest
    @CsvSource({
        // columns: attempts, 99th percentile, timeout (ms), retries a second; severity
        "3, 400, 1000, 5, RISKS",
        "3, 400, 1000, 0, HINTS",
        "2, 400, 1000, 5, ",
        "1, 1200, 1000, 0, ",
        "3, 400, 0, 5, ",
    })
    void attemptsBeyondTimeout(int attempts, int p99, int timeout, int retries, @Nullable Severity severity) {
        expect("attempts-beyond-timeout", calling(timeout, attempts, p99, Source.USER, retries), severity);
    }

    @ParameterizedTest
    @CsvSource({
        // columns: group, processors it uses, those of the process, those of all processes; severity
        "lettuce-nioEventLoop, 1.1, 1.95, 1.95, BLOCKS",
        "lettuce-nioEventLoop, 0.3, 1.95, 1.95, HINTS",
        "lettuce-nioEventLoop, 0.5, 1, 1, HINTS",
        "lettuce-nioEventLoop, 0.5, 1, 1.9, BLOCKS", // callers on the same machine use all processors
        "lettuce-nioEventLoop, 0.5, 1.2, 1.4, BLOCKS", // processors are not fully used, but each command waits twice
        "lettuce-nioEventLoop, 0.5, 1.9, 0, BLOCKS", // the system reports only this process
        "rpc-io, 1.1, 1.95, 1.95, ",
    })
    void clientThreads(String group, double cores, double busy, double machine, @Nullable Severity severity) {
        Situation situation = situation(
                List.of(),
                List.of(call(2_000, Map.of())),
                new Cpu(2, busy, machine, List.of(new ThreadGroupCpu(group, 8, cores))));

        expect("client-threads", situation, severity);
        if (severity != null) {
            assertThat(found("client-threads", situation).change()).isEqualTo("spring.data.redis.client-type=jedis");
        }
    }

    @ParameterizedTest
    @CsvSource({
        // columns: processors that the process and all processes use, call (ms); severity; start of the change
        "1.2, 1.95, 300, BLOCKS, more processors",
        "1.9, 0, 300, BLOCKS, more processors",
        "0.4, 1.95, 300, BLOCKS, fewer other processes",
        "1.2, 1.95, 50, , ",
        "1.2, 1.5, 300, , ",
    })
    void fullProcessors(double busy, double machine, int call, @Nullable Severity severity, @Nullable String change) {
        Situation situation = situation(
                List.of(), List.of(call(call, Map.of(Phase.OWN, use(0, 30)))), new Cpu(2, busy, machine, List.of()));

        expect("full-processors", situation, severity);
        if (change != null) {
            assertThat(found("full-processors", situation).change()).startsWith(change);
            assertThat(found("full-processors", situation).saved()).hasMillis(30);
        }
    }

    @ParameterizedTest
    @CsvSource({
        // columns: connections, busy processors; severity; first finding
        "50, 1.95, RISKS, full-processors", // 500/s × 3 × 11 ms = 16 would suffice
        "50, 1.2, BLOCKS, pool-below-demand",
        "8, 1.95, BLOCKS, pool-below-demand",
    })
    void poolThatWouldDoIsASymptomOfFullProcessors(int size, double machine, Severity severity, String first) {
        PoolSnapshot pool = jdbc(size)
                .now(size, 0, 122)
                .counts(15_000, 9)
                .sums(Duration.ofMillis(15_000L * 17), Duration.ofMillis(15_000L * 11))
                .build();
        CallSnapshot call = call(300, Map.of(Phase.JDBC_CONNECTION, use(3, 51), Phase.OWN, use(0, 7)));
        Situation situation = situation(List.of(pool), List.of(call), new Cpu(2, 1, machine, List.of()));

        expect("pool-below-demand", situation, severity);
        assertThat(rules(situation)).startsWith(first);
    }

    @ParameterizedTest
    @CsvSource({
        // columns: per host, time of a use (ms), busy processors; severity
        "64, 20, 1.95, ", // 500/s × 20 ms = 10 would suffice
        "64, 20, 1.2, BLOCKS",
        "8, 20, 1.95, BLOCKS",
    })
    void limitPerHostThatWouldDoIsASymptomOfFullProcessors(
            int perHost, int use, double machine, @Nullable Severity severity) {
        PoolSnapshot http = PoolSnapshot.builder("http", PoolKind.HTTP, 200)
                .hosts(perHost, 1)
                .now(perHost, 0, 60)
                .counts(1_000, 3)
                .sums(Duration.ofMillis(1_000L * 50), Duration.ofMillis(1_000L * use))
                .settings(List.of(
                        new PoolSetting("rpc.pools.http.max-per-host", "" + perHost, Source.TUNED, Use.MAX_PER_HOST)))
                .build();
        CallSnapshot call = call(300, Map.of(Phase.HTTP_CONNECTION, use(1, 50)));

        expect(
                "per-host-below-total",
                situation(List.of(http), List.of(call), new Cpu(2, 1, machine, List.of())),
                severity);
    }

    @Test
    void tasksThatWaitForAThreadAreNotCallsThatDo() {
        PoolSnapshot bind = PoolSnapshot.builder("bind", PoolKind.EXECUTOR, 8)
                .now(8, 0, 6)
                .counts(500, 0)
                .sums(Duration.ofMillis(500L * 178), Duration.ofMillis(500L * 65))
                .build();

        Finding finding =
                found("pool-below-demand", situation(List.of(bind), List.of(call(300, Map.of())), Cpu.UNKNOWN));

        assertThat(finding.severity()).isEqualTo(Severity.RISKS);
        assertThat(finding.saved()).isZero();
    }

    @Test
    void fewRefusalsOfAPauseAskForNoLargerPool() {
        PoolSnapshot pool = PoolSnapshot.builder("jedis", PoolKind.REDIS, 50)
                .now(5, 45, 0)
                .counts(30_000, 17)
                .sums(Duration.ofSeconds(3), Duration.ofSeconds(60))
                .build();

        assertThat(rules(situation(List.of(pool), List.of(call(300, Map.of())), Cpu.UNKNOWN)))
                .doesNotContain("pool-below-demand");
    }

    @Test
    void chattyCallsComeBeforeTheSmallPoolThatTheyEmpty() {
        PoolSnapshot pool = PoolSnapshot.builder("jedis", PoolKind.REDIS, 8)
                .now(8, 0, 150)
                .counts(3_600, 90)
                .sums(Duration.ofSeconds(470), Duration.ofMillis(3_600 * 60))
                .build();
        CallSnapshot call = call(5_400, Map.of(Phase.REDIS, use(40, 60), Phase.REDIS_CONNECTION, use(40, 5_300)));

        assertThat(rules(situation(List.of(pool), List.of(call), Cpu.UNKNOWN)))
                .startsWith("chatty-calls", "pool-below-demand");
    }

    @Test
    void fullProcessorComesBeforeWhatItMakesSlow() {
        CallSnapshot call = call(2_000, Map.of(Phase.REDIS, use(40, 1_800)));
        Cpu cpu = new Cpu(2, 1.95, 1.95, List.of(new ThreadGroupCpu("lettuce-nioEventLoop", 2, 1.1)));

        assertThat(rules(situation(List.of(), List.of(call), cpu))).startsWith("client-threads", "chatty-calls");
    }

    @Test
    void eventLoopsOnCrowdedProcessorsComeBeforeTheRoundTripsThatTheyMakeSlow() {
        CallSnapshot call = call(261, Map.of(Phase.REDIS, use(200, 255)));
        Cpu cpu = new Cpu(2, 1.2, 1.55, List.of(new ThreadGroupCpu("lettuce-nioEventLoop", 2, 0.5)));

        assertThat(rules(situation(List.of(), List.of(call), cpu))).startsWith("client-threads", "chatty-calls");
    }

    @Test
    void limitPerHostComesBeforeTheWorkersThatWaitThere() {
        PoolSnapshot http = PoolSnapshot.builder("http", PoolKind.HTTP, 300)
                .hosts(8, 1)
                .now(8, 0, 190)
                .counts(4_000, 0)
                .sums(Duration.ofSeconds(4_000), Duration.ofMillis(4_000 * 20))
                .build();
        PoolSnapshot workers = PoolSnapshot.builder("workers", PoolKind.WORKERS, 200)
                .now(200, 0, 400)
                .counts(4_000, 800)
                .build();
        CallSnapshot call = call(
                3_000,
                Map.of(Phase.QUEUE, use(0, 1_900), Phase.HTTP_CONNECTION, use(1, 1_000), Phase.HTTP, use(1, 20)));

        assertThat(rules(situation(List.of(workers, http), List.of(call), Cpu.UNKNOWN)))
                .startsWith("per-host-below-total");
    }

    @Test
    void whatSavesMoreComesFirst() {
        PoolSnapshot druid = jdbc(600).fair(true).build();
        PoolSnapshot bind = PoolSnapshot.builder("bind", PoolKind.EXECUTOR, 16)
                .callerRuns(107)
                .build();
        CallSnapshot call = call(
                2_000,
                Map.of(
                        Phase.JDBC_CONNECTION,
                        use(5, 1_200),
                        Phase.CALLER_RUNS,
                        use(0.5, 300),
                        Phase.LOGGING,
                        use(20, 150)));
        Situation situation = new Situation(
                GOAL, List.of(druid, bind), List.of(call), List.of(), LoggingMode.SYNCHRONOUS, Cpu.UNKNOWN);

        assertThat(rules(situation)).startsWith("fair-lock", "caller-runs", "synchronous-logging");
    }

    @Test
    void nothingIsSaidOfAnApplicationThatReachesItsTarget() {
        PoolSnapshot pool = jdbc(50).counts(1_000, 0)
                .sums(Duration.ZERO, Duration.ofSeconds(5))
                .build();
        CallSnapshot call = call(20, Map.of(Phase.SQL, use(3, 9), Phase.JDBC_CONNECTION, use(3, 0)));
        Situation situation = new Situation(
                GOAL,
                List.of(pool.since(pool)),
                List.of(call),
                List.of(),
                LoggingMode.ASYNCHRONOUS,
                new Cpu(2, 0.8, 0.9, List.of()));

        assertThat(Advisor.advise(situation))
                .filteredOn(finding -> !finding.rule().equals("wait-beyond-target")
                        && !finding.rule().equals("workers-beyond-connections"))
                .isEmpty();
    }

    @Test
    void snapshotSinceAnEarlierOneCountsWhatHappenedInBetween() {
        PoolSnapshot then = jdbc(8).counts(100, 1)
                .sums(Duration.ofMillis(10), PoolSnapshot.UNKNOWN)
                .build();
        PoolSnapshot now = jdbc(8).counts(150, 4)
                .sums(Duration.ofMillis(35), PoolSnapshot.UNKNOWN)
                .build();

        PoolSnapshot between = now.since(then);

        assertThat(between.taken()).isEqualTo(50);
        assertThat(between.refused()).isEqualTo(3);
        assertThat(between).extracting(PoolSnapshot::waited, DURATION).hasMillis(25);
        assertThat(between.held()).isEqualTo(PoolSnapshot.UNKNOWN);
    }

    private static PoolSnapshot.Builder jdbc(int size) {
        return PoolSnapshot.builder("druid", PoolKind.JDBC, size);
    }

    private static CallSnapshot.Use use(double operations, int millis) {
        return new CallSnapshot.Use(operations, Duration.ofMillis(millis));
    }

    /** Creates a call whose mean equals its slowest time. */
    private static CallSnapshot call(int millis, Map<Phase, CallSnapshot.Use> phases) {
        Map<Phase, CallSnapshot.Use> all = new EnumMap<>(Phase.class);
        all.putAll(phases);
        return new CallSnapshot(
                "ScheduleService",
                "schedule",
                300,
                Duration.ofMillis(millis),
                Duration.ofMillis(millis),
                CallSnapshot.Limits.NONE,
                0,
                0,
                all);
    }

    private static Situation served(CallSnapshot call) {
        return situation(List.of(), List.of(call), Cpu.UNKNOWN);
    }

    private static Situation calling(int timeout, int attempts, int p99, Source source, int retries) {
        CallSnapshot.Limits limits =
                new CallSnapshot.Limits(Duration.ofMillis(timeout), attempts, "rpc.client.timeout", source);
        CallSnapshot call = new CallSnapshot(
                "Other", "call", 100, Duration.ofMillis(p99), Duration.ofMillis(p99), limits, 1, retries, Map.of());
        return new Situation(GOAL, List.of(), List.of(), List.of(call), LoggingMode.ASYNCHRONOUS, Cpu.UNKNOWN);
    }

    private static Situation situation(List<PoolSnapshot> pools, List<CallSnapshot> calls, Cpu cpu) {
        return new Situation(GOAL, pools, calls, List.of(), LoggingMode.ASYNCHRONOUS, cpu);
    }

    private static void expect(String rule, Situation situation, @Nullable Severity severity) {
        List<Severity> found = Advisor.advise(situation).stream()
                .filter(finding -> finding.rule().equals(rule))
                .map(Finding::severity)
                .toList();
        assertThat(found).isEqualTo(severity == null ? List.of() : List.of(severity));
    }

    private static Finding found(String rule, Situation situation) {
        return Advisor.advise(situation).stream()
                .filter(finding -> finding.rule().equals(rule))
                .findFirst()
                .orElseThrow();
    }

    private static List<String> rules(Situation situation) {
        return Advisor.advise(situation).stream().map(Finding::rule).toList();
    }
}
