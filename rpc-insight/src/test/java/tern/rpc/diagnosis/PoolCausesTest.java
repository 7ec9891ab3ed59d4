package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Tests causes in pools of connections and in executors. */
class PoolCausesTest {

    private final Shop shop = new Shop();

    @Test
    void poolThatIsTooSmallGetsASizeThatMeetsTheTarget() {
        shop.healthy(USUAL);
        long[] taken = {0};
        shop.pools.add(() -> druid(4, 4, 30, taken[0]));
        double[] freeAt = new double[4]; // for each connection, the time in milliseconds when it becomes free
        for (int i = 0; i < 8; i++) {
            shop.evenSecond(110, () -> {
                taken[0]++;
                Arrays.sort(freeAt);
                double now = shop.now() / 1e6;
                double wait = Math.max(0, freeAt[0] - now);
                freeAt[0] = now + wait + 40;
                return call -> call.in(Phase.JDBC_CONNECTION, "druid", wait).in(Phase.SQL, "select 1", 40);
            });
        }
        Diagnosis miss = shop.diagnosis();

        Cause cause = first(miss);
        assertThat(cause.kind()).as(miss.text()).isEqualTo("POOL TOO SMALL");
        assertThat(cause.change().property()).isEqualTo("spring.datasource.druid.max-active");
        assertThat(Integer.parseInt(cause.change().to())).isBetween(5, 20);
        assertThat(cause.change().expectedP99Ms()).isLessThanOrEqualTo(100);
    }

    @Test
    void poolThatBecameSmallerNeedsItsFormerSizeAgain() {
        Consumer<Shop.Steps> usual = call -> call.own(2).in(Phase.SQL, "select stock", 38);
        long[] taken = {0};
        int[] size = {8};
        shop.pools.add(() -> druid(size[0], size[0], size[0] == 8 ? 0 : 30, taken[0]));
        shop.healthy(usual);
        size[0] = 4;
        shop.second(100, usual);
        size[0] = 3;
        for (int i = 0; i < 6; i++) {
            taken[0] += 70;
            shop.second(
                    70,
                    call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 140).in(Phase.SQL, "select stock", 38));
        }

        Cause cause = first(shop.diagnosis());
        assertThat(cause.kind()).as(shop.diagnosis().text()).isEqualTo("POOL TOO SMALL");
        assertThat(cause.change().text())
                .startsWith(
                        "give \"druid\" its former 8 connections again (spring.datasource.druid.max-active, now 3)");
        assertThat(cause.evidence()).anyMatch(line -> line.matches("size     3 since \\d s, before 8"));
    }

    @Test
    void sizeThatTheReplayDoesNotConfirmIsNotPrinted() {
        shop.healthy(USUAL);
        long[] taken = {0};
        shop.pools.add(() -> druid(4, 4, 30, taken[0] += 100));
        Diagnosis miss = shop.miss(
                call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 300).in(Phase.SQL, "select 1", 38));

        assertThat(first(miss).kind()).isEqualTo("POOL TOO SMALL");
        assertThat(first(miss).change().property()).isNull();
        assertThat(first(miss).change().text())
                .startsWith("allow more connections in \"druid\" (spring.datasource.druid.max-active, now 4)")
                .contains("no size is recommended");
    }

    /** Returns a pool whose connections are held for 40 ms each. */
    static PoolSnapshot druid(int max, int active, int waiting, long taken) {
        return PoolSnapshot.builder("druid", PoolKind.JDBC, max)
                .now(active, 0, waiting)
                .counts(taken, 0)
                .sums(Duration.ofMillis(taken * 300), Duration.ofMillis(taken * 40))
                .settings(List.of(new PoolSetting(
                                "spring.datasource.druid.max-active",
                                Integer.toString(max),
                                PoolSetting.Source.USER,
                                PoolSetting.Use.MAX)
                        .accepting(new PoolSetting.Range(1, 10_000))))
                .build();
    }

    @Test
    void busyConnectionsWithoutHoldersAreBeingCheckedAndNotLost() {
        shop.healthy(USUAL);
        long[] taken = {0};
        shop.pools.add(PoolSource.of(
                () -> PoolSnapshot.builder("hikari", PoolKind.JDBC, 5)
                        .now(5, 0, 3)
                        .counts(taken[0] += 20, 0)
                        .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 5))
                        .settings(List.of())
                        .build(),
                new Holders()));

        Diagnosis miss = shop.miss(
                call -> call.own(2).in(Phase.JDBC_CONNECTION, "hikari", 160).in(Phase.SQL, "select stock", 3));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("CONNECTIONS CHECKED SLOWLY: hikari");
    }

    /** A job repeatedly uses all connections for a moment, so few samples show its threads as holders. */
    @Test
    void connectionsThatCallsHoldOnlyForAShortTimeAreHeldByOthers() {
        shop.healthy(USUAL);
        long[] taken = {0};
        shop.pools.add(PoolSource.of(
                () -> PoolSnapshot.builder("hikari", PoolKind.JDBC, 8)
                        .now(8, 0, 20)
                        .counts(taken[0] += 108, 0)
                        .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 65))
                        .settings(List.of())
                        .build(),
                new Holders()));

        Diagnosis miss = shop.miss(
                call -> call.own(2).in(Phase.JDBC_CONNECTION, "hikari", 430).in(Phase.SQL, "select stock", 3));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("HELD BY OTHERS: hikari");
    }

    /**
     * In each second, 24 calls arrive at once. The pool immediately lends 8 connections, and each additional one after
     * a wait.
     */
    @Test
    void burstOfCallsNeedsMoreConnectionsAlthoughFewAreUsedOnAverage() {
        long[] taken = {0};
        shop.pools.add(() -> PoolSnapshot.builder("hikari", PoolKind.JDBC, 8)
                .now(0, 8, 0)
                .counts(taken[0] += 24, 0)
                .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 6))
                .settings(List.of())
                .build());
        shop.healthy(USUAL);

        for (int i = 0; i < 10; i++) {
            shop.second(() -> {
                for (int call = 0; call < 24; call++) {
                    int wait = call < 8 ? 0 : 60 + call * 4;
                    shop.call(
                            Shop.PLACE,
                            0,
                            steps -> steps.own(2)
                                    .in(Phase.JDBC_CONNECTION, "hikari", wait)
                                    .in(Phase.SQL, "select stock", 6));
                }
            });
        }

        Cause first = first(shop.diagnosis());
        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo("POOL TOO SMALL: hikari");
        assertThat(first.evidence()).anyMatch(fact -> fact.contains("24 calls arrive at once"));
    }

    /** An exception with the same simple name as the exception that Jedis throws if its pool is exhausted. */
    private static final class JedisException extends RuntimeException {
        private static final long serialVersionUID = 1;

        JedisException(String message) {
            super(message);
        }
    }

    /** An exception with the same simple name as the Spring exception that wraps the exceptions of Redis clients. */
    private static final class DataAccessException extends RuntimeException {
        private static final long serialVersionUID = 1;

        DataAccessException(Throwable cause) {
            super(cause.getMessage(), cause);
        }
    }

    @Test
    void exhaustedPoolOfRedisIsNotAFailureOfADatabase() {
        shop.healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 100; call++) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            new DataAccessException(new JedisException("Could not get a resource from the pool")),
                            steps -> steps.in(Phase.REDIS_CONNECTION, "jedis", 200));
                }
            });
        }

        assertThat(first(shop.diagnosis()).kind()).isNotEqualTo("PEER FAILS");
        assertThat(first(shop.diagnosis()).name()).isEqualTo("jedis");
    }

    @Test
    void tasksThatOccupyAnExecutorAreTheCauseAndNotTheCallsThatWaitForIt() {
        long[] tasks = new long[1];
        long[] held = new long[1];
        shop.pools.add(() -> PoolSnapshot.builder("mail", PoolKind.EXECUTOR, 3)
                .now(3, 0, 8)
                .counts(tasks[0], 0)
                .sums(Duration.ZERO, Duration.ofMillis(held[0]))
                .settings(List.of())
                .build());
        for (int i = 0; i < 90; i++) {
            tasks[0] += 10;
            held[0] += 10 * 5;
            shop.second(100, USUAL);
        }
        for (int i = 0; i < 6; i++) {
            tasks[0] += 30;
            held[0] += 30 * 80;
            shop.second(100, call -> {
                USUAL.accept(call);
                call.in(Phase.EXECUTOR, "mail", 300).own(20);
            });
        }

        Cause first = first(shop.diagnosis());
        assertThat(first.kind()).isEqualTo("SLOW TASKS");
        assertThat(first.name()).isEqualTo("mail");
        assertThat(first.change().text()).startsWith("use a separate executor for the long tasks, or");
    }

    @Test
    void adviceIsToReturnTheConnectionBeforeTheExchange() {
        long[] taken = new long[1];
        long[] held = new long[1];
        shop.pools.add(() -> PoolSnapshot.builder("orders", PoolKind.JDBC, 4)
                .now(4, 0, 3)
                .counts(taken[0], 0)
                .sums(Duration.ZERO, Duration.ofMillis(held[0]))
                .settings(List.of())
                .build());
        for (int i = 0; i < 90; i++) {
            taken[0] += 100;
            held[0] += 100 * 3;
            shop.second(100, USUAL);
        }
        for (int i = 0; i < 6; i++) {
            taken[0] += 100;
            held[0] += 100 * 300;
            shop.second(100, call -> {
                call.in(Phase.JDBC_CONNECTION, "orders", 60);
                USUAL.accept(call);
                call.in(Phase.HTTP, "GET bank:80", 300);
            });
        }

        Cause first = first(shop.diagnosis());
        assertThat(first.name()).isEqualTo("GET bank:80");
        assertThat(first.change().text())
                .startsWith("do not hold a connection of \"orders\" while this operation runs (run it outside of the");
        assertThat(shop.diagnosis().text()).contains("calls wait for a connection of \"orders\": 60 ms");
    }

    private Cause slowlyOpened(int active, int idle) {
        long[] taken = new long[1];
        shop.healthy(USUAL);
        shop.pools.add(() -> PoolSnapshot.builder("http", PoolKind.HTTP, 64)
                .now(active, idle, 0)
                .counts(taken[0] += 50, 0)
                .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 11))
                .settings(List.of())
                .build());

        return first(shop.miss(
                call -> call.own(2).in(Phase.HTTP_CONNECTION, "http", 160).in(Phase.HTTP, "GET bank:80", 11)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void databaseConnectionsThatAreClosedAfterFewUsesAreNamed(int idle) {
        long[] taken = new long[1];
        Consumer<Shop.Steps> waiting =
                call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 150).in(Phase.SQL, "select stock", 3);
        shop.healthy(USUAL);
        shop.pools.add(() -> PoolSnapshot.builder("druid", PoolKind.JDBC, 20)
                .now(1, idle, 12)
                .counts(taken[0] += 50, 0)
                .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 3))
                .settings(List.of())
                .build());

        String early = first(shop.miss(waiting)).change().text();
        shop.miss(waiting);
        Cause first = first(shop.miss(waiting));

        assertThat(first.kind()).isEqualTo("CONNECTIONS OPEN SLOWLY");
        assertThat(early).startsWith("find out why new connections of");
        assertThat(first.change().text()).startsWith("find out why connections of this pool are closed so soon");
    }

    @Test
    void httpConnectionsThatAreNeverIdleAreNotKeptOpen() {
        Cause first = slowlyOpened(2, 0);

        assertThat(first.kind()).isEqualTo("CONNECTIONS OPEN SLOWLY");
        assertThat(first.change().text()).startsWith("keep connections open: nearly every exchange opens a new one");
    }

    @Test
    void httpConnectionsAreNotCalledUnkeptIfManyAreInUse() {
        Cause first = slowlyOpened(40, 0);

        assertThat(first.kind()).isEqualTo("CONNECTIONS OPEN SLOWLY");
        assertThat(first.change().text()).startsWith("find out why new connections of");
    }

    /**
     * Simulates calls that wait while the pool opens connections, and then run a command. Returns the cause that the
     * diagnosis names first.
     */
    private Cause openedBeforeACommand(double commandMillis) {
        long[] taken = new long[1];
        shop.healthy(USUAL);
        shop.pools.add(() -> PoolSnapshot.builder("jedis", PoolKind.REDIS, 64)
                .now(3, 0, 5)
                .counts(taken[0] += 50, 0)
                .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 4))
                .settings(List.of())
                .build());

        return first(shop.miss(call -> call.own(2)
                .in(Phase.SQL, "select stock", 3)
                .in(Phase.REDIS_CONNECTION, "jedis", 280)
                .in(Phase.REDIS, "GET user:*", commandMillis)));
    }

    @Test
    void serverThatIsAlsoSlowOnOpenConnectionsIsTheCauseOfSlowlyOpenedOnes() {
        Cause first = openedBeforeACommand(150);

        assertThat(first.kind()).as(shop.diagnosis().text()).startsWith("SLOW REDIS");
        assertThat(first.symptoms()).anyMatch(line -> line.startsWith("calls wait for a connection of \"jedis\""));
    }

    @Test
    void connectionsOpenSlowlyIfTheServerAnswersOnOpenOnesInTheUsualTime() {
        assertThat(openedBeforeACommand(1).title()).isEqualTo("CONNECTIONS OPEN SLOWLY: jedis");
    }

    /**
     * Timeouts end some commands, and close their connections. Most calls wait until the pool has opened new
     * connections.
     */
    @ParameterizedTest
    @CsvSource({"REDIS, REDIS, REDIS_CONNECTION", "JDBC, SQL, JDBC_CONNECTION", "HTTP, HTTP, HTTP_CONNECTION"})
    void operationsWhoseTimeoutsCloseConnectionsAreTheCauseOfSlowlyOpenedOnes(
            PoolKind kind, Phase phase, Phase connection) {
        String operation = "GET plan";
        long[] taken = new long[1];
        shop.healthy(call -> call.own(2).in(phase, operation, 2).in(phase, "GET other", 2));
        shop.pools.add(() -> PoolSnapshot.builder("own", kind, 64)
                .now(3, 0, 5)
                .counts(taken[0] += 50, 0)
                .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 4))
                .settings(List.of())
                .build());
        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                for (int i = 0; i < 40; i++) {
                    boolean isTimedOut = i % 10 == 0;
                    shop.call(
                            Shop.PLACE,
                            0,
                            isTimedOut ? new IllegalStateException(new SocketTimeoutException("Read timed out")) : null,
                            isTimedOut
                                    ? call -> call.own(2).in(phase, operation, 250)
                                    : call -> call.own(2)
                                            .in(connection, "own", 800)
                                            .in(phase, "GET other", 2));
                }
            });
        }

        Cause first = first(shop.diagnosis());

        assertThat(first.name()).as(shop.diagnosis().text()).startsWith(operation);
        assertThat(first.symptoms()).anyMatch(line -> line.startsWith("calls wait for a connection of \"own\""));
    }

    /** Returns the first cause of calls that wait until a timeout, while all connections of an HTTP pool are in use. */
    private Cause firstOfFullPool(List<PoolSetting> settings) {
        boolean[] full = {false};
        shop.pools.add(() -> PoolSnapshot.builder("http", PoolKind.HTTP, 24)
                .now(full[0] ? 24 : 2, full[0] ? 0 : 22, full[0] ? 7 : 0)
                .counts(4_000, full[0] ? shop.now() / 100_000_000 : 0)
                .sums(Duration.ZERO, Duration.ofMillis(44_000))
                .settings(settings)
                .build());
        shop.healthy(call -> call.own(2).in(Phase.HTTP, "GET carrier:80/labels", 11));
        full[0] = true;
        return first(shop.miss(call -> call.own(2).in(Phase.HTTP_CONNECTION, "http", 1_000)));
    }

    @Test
    void connectionsThatNoThreadUsesAndNobodyReturnsAreLost() {
        Cause first = firstOfFullPool(
                List.of(new PoolSetting("rpc.pools.http.max", "24", PoolSetting.Source.USER, PoolSetting.Use.MAX)));

        assertThat(first.title()).as(shop.diagnosis().text()).isEqualTo("NOT GIVEN BACK: http");
        assertThat(first.evidence()).anyMatch(line -> line.startsWith("proof    24 are in use, but none was taken"));
    }

    @Test
    void streamsOfReactiveClientsMayKeepConnectionsWithoutAThread() {
        assertThat(firstOfFullPool(List.of()).title()).isEqualTo("HELD BY OTHERS: http");
    }

    /**
     * Simulates calls that wait for a connection of a pool while the pool opens connections. Returns the cause that the
     * diagnosis names first.
     *
     * @param waitMillis returns the wait of a call that begins the given time after the beginning of a second
     */
    private Cause firstOfWaits(PoolKind kind, DoubleUnaryOperator waitMillis) {
        long[] taken = new long[1];
        boolean isDatabase = kind == PoolKind.JDBC;
        Consumer<Shop.Steps> operation = isDatabase
                ? call -> call.in(Phase.SQL, "select stock", 3)
                : call -> call.in(Phase.REDIS, "GET user:*", 1);
        Phase wait = isDatabase ? Phase.JDBC_CONNECTION : Phase.REDIS_CONNECTION;
        shop.healthy(call -> operation.accept(call.own(2).in(wait, "store", 0.1)));
        shop.pools.add(() -> PoolSnapshot.builder("store", kind, 64)
                .now(3, 0, 5)
                .counts(taken[0] += 50, 0)
                .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 4))
                .settings(List.of())
                .build());
        for (int second = 0; second < 6; second++) {
            long begun = shop.now();
            shop.evenSecond(50, () -> {
                double waits = waitMillis.applyAsDouble((shop.now() - begun) / 1e6);
                return call -> operation.accept(call.own(2).in(wait, "store", waits));
            });
        }
        return first(shop.diagnosis());
    }

    @ParameterizedTest
    @EnumSource(names = {"REDIS", "JDBC"})
    void serverThatAnswersNobodyForMomentsIsTheCauseOfSlowlyOpenedConnections(PoolKind kind) {
        Cause first = firstOfWaits(kind, millis -> Math.max(0.1, 250 - millis));

        assertThat(first.title())
                .as(shop.diagnosis().text())
                .isEqualTo(kind == PoolKind.REDIS ? "SLOW REDIS: store" : "SLOW DATABASE: store");
        assertThat(first.change().text()).contains("for moments").contains("no size of the pool helps");
    }

    @Test
    void connectionsOpenSlowlyIfOtherCallsGetConnectionsMeanwhile() {
        assertThat(firstOfWaits(PoolKind.REDIS, millis -> millis % 100 < 20 ? 250 : 0.1)
                        .title())
                .isEqualTo("CONNECTIONS OPEN SLOWLY: store");
    }

    /**
     * Returns the recommended change for an executor with one thread and a core size of at most {@code most}. The
     * executor starts no additional thread, because its queue has room.
     */
    private String changeOfCoreSize(int most, double tasksPerSecond) {
        PoolSetting core = new PoolSetting(
                        "core size (setCorePoolSize)", "1", PoolSetting.Source.USER, PoolSetting.Use.MAX)
                .accepting(new PoolSetting.Range(1, most));
        LongSupplier started = () -> (long) (tasksPerSecond * shop.now() / 1e9);
        shop.pools.add(() -> PoolSnapshot.builder("printing", PoolKind.EXECUTOR, 1)
                .now(1, 0, 4)
                .counts(started.getAsLong(), 0)
                .sums(Duration.ZERO, Duration.ofMillis(30 * started.getAsLong()))
                .settings(List.of(core))
                .build());
        shop.healthy(call -> USUAL.accept(call.in(Phase.EXECUTOR, "printing", 1)));
        Cause first = first(shop.miss(call -> USUAL.accept(call.in(Phase.EXECUTOR, "printing", 150))));
        assertThat(first.name()).isEqualTo("printing");
        assertThat(first.change().property()).isNull();
        return first.change().text();
    }

    @Test
    void coreSizeIsAdvisedIfItLimitsTheThreads() {
        assertThat(changeOfCoreSize(6, 24))
                .matches("set core size \\(setCorePoolSize\\) to [2-6] instead of 1 for the executor \"printing\": it"
                        + " may start 6 threads, but starts more threads than its core size only when its queue is"
                        + " full");
    }

    @Test
    void coreSizeAndMaximumAreAdvisedIfTheMaximumIsTooSmall() {
        assertThat(changeOfCoreSize(2, 200))
                .contains("threads for the executor")
                .contains("its core size and its maximum");
    }

    /** An exception with the name of the exceptions of a Redis client, thrown by code of the application. */
    private static final class RedisConnectionFailureException extends RuntimeException {
        private static final long serialVersionUID = 1;

        RedisConnectionFailureException() {
            super("Could not get a resource from the pool");
            setStackTrace(new StackTraceElement[] {new StackTraceElement("shop.Numbers", "next", "Numbers.java", 20)});
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void redisConnectionsThatNoCallUsesAreLostIfTheWaitsEndInTimeouts(int waiting) {
        boolean[] full = {false};
        shop.pools.add(() -> PoolSnapshot.builder("jedis", PoolKind.REDIS, 50)
                .now(full[0] ? 50 : 1, full[0] ? 0 : 49, full[0] ? waiting : 0)
                .counts(4_000, full[0] ? shop.now() / 100_000_000 : 0)
                .sums(Duration.ZERO, Duration.ofMillis(4_000))
                .settings(
                        List.of(new PoolSetting("jedis.max-total", "50", PoolSetting.Source.USER, PoolSetting.Use.MAX)))
                .build());
        shop.healthy(call -> call.own(2).in(Phase.REDIS, "INCR number:*", 1));
        full[0] = true;
        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                for (int i = 0; i < 4; i++) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            new RedisConnectionFailureException(),
                            call -> call.own(1).in(Phase.REDIS_CONNECTION, "jedis", 200));
                }
            });
        }

        Cause first = first(shop.diagnosis());

        assertThat(first.title()).as(shop.diagnosis().text()).isEqualTo("NOT GIVEN BACK: jedis");
        assertThat(first.change().text()).contains("such as Numbers.next:20");
        assertThat(shop.diagnosis().text()).doesNotContain("does not answer");
    }
}
