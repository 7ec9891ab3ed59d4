package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import shop.Tickets;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.calls.Answers;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.Silence;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.machine.OpenFileUse;
import tern.rpc.diagnosis.sample.HeldRows;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.pool.Holders;
import tern.rpc.pool.LoggingMode;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Tests calls that hang because a store does not answer, and calls that hang for a different reason. */
class SilentStoresTest {

    private static final Consumer<Shop.Steps> WITHOUT_STORES = call -> call.own(2);

    private final Shop shop = new Shop().healthy(USUAL);
    private final Holders holders = new Holders();
    private final Map<CallLedger, Long> hanging = new LinkedHashMap<>(); // the beginning of each hanging call

    /** Starts calls that hang in the given phase. */
    private void hang(Phase phase, int calls) {
        for (int i = 0; i < calls; i++) {
            Shop.Steps steps = shop.new Steps(0);
            steps.ledger.enter(phase);
            hanging.put(steps.ledger, shop.now());
        }
    }

    /** Starts calls that hang in the given statements, one call for each statement. */
    private void hangIn(String... statements) {
        for (String statement : statements) {
            Shop.Steps steps = shop.new Steps(0);
            CallLedger before = CallLedger.replace(steps.ledger);
            holders.taken(shop.now()).begins(statement);
            CallLedger.replace(before);
            steps.ledger.enter(Phase.SQL, statement);
            hanging.put(steps.ledger, shop.now());
        }
    }

    private void pool(int active, int max) {
        shop.pools.add(PoolSource.of(
                () -> PoolSnapshot.builder("hikari", PoolKind.JDBC, max)
                        .now(active, 0, 5)
                        .counts(0, 0)
                        .sums(Duration.ZERO, Duration.ZERO)
                        .settings(List.of())
                        .build(),
                holders));
    }

    /** Simulates five seconds in which other calls run the given steps. */
    private Diagnosis during(Consumer<Shop.Steps> others) {
        for (int i = 0; i < 5; i++) {
            shop.running.clear();
            hanging.forEach((ledger, started) -> shop.running.add(new RunningCall(
                    Shop.PLACE, RunningCall.NO_THREAD, ledger.phase(), started, shop.now() - started, ledger)));
            shop.second(50, others);
        }
        return shop.diagnosis();
    }

    @Test
    void redisThatAnswersNoCallIsGone() {
        hang(Phase.REDIS, 6);

        Diagnosis miss = during(WITHOUT_STORES);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("PEER FAILS: Redis: does not answer");
        assertThat(first(miss).change().text()).startsWith("connect to Redis with another client: if it answers there");
        assertThat(first(miss).symptoms()).anyMatch(line -> line.contains("none came in the last"));
        assertThat(miss.causes()).hasSize(1);
    }

    @Test
    void redisWhoseCommandsAllTimeOutIsGone() {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 20; call++) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            Tickets.gaveUp(),
                            steps -> steps.own(1).in(Phase.REDIS, "GET user:*", 400));
                }
            });
        }

        assertThat(DiagnosisText.title(first(shop.diagnosis())))
                .as(shop.diagnosis().text())
                .isEqualTo("PEER FAILS: Redis: does not answer");
        assertThat(first(shop.diagnosis()).symptoms())
                .anyMatch(line -> line.startsWith("calls wait for the answer of GET user:*"));
    }

    /** An exception with the name of the exceptions of a Redis client, whose message shows no reason. */
    private static final class RedisConnectionFailureException extends RuntimeException {
        private static final long serialVersionUID = 1;

        RedisConnectionFailureException() {
            super("Unable to connect to Redis");
        }
    }

    @Test
    void redisToWhichAClientCannotConnectDoesNotAnswerEither() {
        shop.pools.add(PoolSource.of(
                () -> PoolSnapshot.builder("jedis", PoolKind.REDIS, 8)
                        .now(0, 0, 0)
                        .counts(0, 0)
                        .sums(Duration.ZERO, Duration.ZERO)
                        .settings(List.of())
                        .build(),
                new Holders()));
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 20; call++) {
                    boolean isOpen = call % 4 == 0;
                    shop.call(
                            Shop.PLACE,
                            0,
                            isOpen ? Tickets.gaveUp() : new RedisConnectionFailureException(),
                            isOpen
                                    ? steps -> steps.own(1).in(Phase.REDIS, "GET user:*", 400)
                                    : steps -> steps.own(1).in(Phase.REDIS_CONNECTION, "jedis", 400));
                }
            });
        }

        assertThat(shop.diagnosis().causes())
                .as(shop.diagnosis().text())
                .extracting(DiagnosisText::title)
                .containsExactly("PEER FAILS: Redis: does not answer");
        assertThat(first(shop.diagnosis()).change().text()).contains("no call gets an answer from it");
    }

    @Test
    void redisThatAnswersOtherCallsIsNotGone() {
        hang(Phase.REDIS, 6);

        assertThat(during(USUAL).causes()).extracting(Cause::kind).doesNotContain("PEER FAILS");
    }

    @Test
    void databaseThatAnswersNoStatementIsGone() {
        pool(4, 4);
        hangIn("select stock", "select b from orders", "update stock", "select stock");
        hang(Phase.JDBC_CONNECTION, 5);

        Diagnosis miss = during(WITHOUT_STORES);

        assertThat(miss.causes())
                .as(miss.text())
                .extracting(DiagnosisText::title)
                .containsExactly("PEER FAILS: database of hikari: does not answer");
    }

    @Test
    void databaseThatIsGoneIsNamedByItsAddress() {
        shop.servers.put("hikari", "jdbc:mariadb://shop:secret@db-1:3306/orders");
        pool(4, 4);
        hangIn("select stock", "select b from orders", "update stock", "select stock");
        hang(Phase.JDBC_CONNECTION, 5);

        Cause first = first(during(WITHOUT_STORES));

        assertThat(DiagnosisText.title(first)).isEqualTo("PEER FAILS: database at db-1:3306: does not answer");
        assertThat(shop.diagnosis().text()).doesNotContain("secret");
    }

    @Test
    void newStatementsThatHangMayOnlyBeSlow() {
        pool(4, 4);
        hangIn("select a from sales", "select b from visits", "select c from returns", "select d from stores");
        hang(Phase.JDBC_CONNECTION, 5);

        assertThat(during(WITHOUT_STORES).causes())
                .extracting(DiagnosisText::title)
                .doesNotContain("PEER FAILS: database of hikari: does not answer");
    }

    @Test
    void databaseToWhichNoConnectionCanBeOpenedIsGone() {
        pool(0, 10);
        hang(Phase.JDBC_CONNECTION, 5);

        assertThat(DiagnosisText.title(first(during(WITHOUT_STORES))))
                .isEqualTo("PEER FAILS: database of hikari: does not answer");
    }

    @Test
    void poolWhoseConnectionsCallsHoldDuringOtherWorkIsNotGone() {
        pool(4, 4);
        hang(Phase.HTTP, 4);
        hang(Phase.JDBC_CONNECTION, 5);

        assertThat(during(WITHOUT_STORES).text()).doesNotContain("does not answer");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "update stock set a=?    | delete from orders",
                "insert into audit       | commit",
                "select pg_advisory_lock | update stock set a=?",
                "select report           | select report",
                "select a from stock     | select b from stock",
            })
    void statementsThatMayWaitForALockOrUseOneTableAreNoSignOfADatabaseThatIsGone(String one, String other) {
        pool(4, 4);
        hangIn(one, other, one, other);

        Diagnosis miss = during(WITHOUT_STORES);

        assertThat(miss.text()).doesNotContain("does not answer");
        assertThat(miss.causes().get(0).name()).isIn(one, other);
    }

    /**
     * Simulates a database that answers statements on other tables for two seconds after these statements began to
     * hang. After that, the database gets no other statement, because the hanging statements occupy all connections.
     */
    private Cause causeOfHanging(String... statements) {
        pool(4, 4);
        hangIn(statements);
        for (int i = 0; i < 4; i++) {
            shop.second(20, call -> call.own(2).in(Phase.SQL, "select a from orders", 4));
        }
        hang(Phase.JDBC_CONNECTION, 5);
        for (int i = 0; i < 3; i++) {
            during(WITHOUT_STORES);
        }
        return first(shop.diagnosis());
    }

    @Test
    void tableIsLockedIfStatementsOnItHangWhileTheDatabaseAnswersOthers() {
        Cause first = causeOfHanging(
                "select a from stock",
                "select b from places p join stock s on s.place=p.id",
                "update stock set a=?",
                "select a from stock");

        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo("TABLE LOCK: stock");
        assertThat(first.change().text()).contains("pg_blocking_pids").contains("LOCK TABLE");
        assertThat(first.evidence()).anyMatch(line -> line.contains("answered other statements meanwhile"));
    }

    /** The driver ends a statement that has waited for the read timeout, and reports a lost connection. */
    private static Throwable readTimeout(String state, String message) {
        Throwable cause = message.contains("timed out") ? null : new SocketTimeoutException("Read timed out");
        return new IllegalStateException(new SQLException(message, state, cause));
    }

    @ParameterizedTest
    @CsvSource({
        "08S01, Communications link failure",
        "08000, (conn=7) Socket error",
        "08006, An I/O error occurred while sending to the backend",
        "08006, IO Error: Socket read timed out",
        "08S01, Read timed out",
    })
    void tableIsLockedIfTheReadTimeoutOfTheDriverEndsStatementsOnItWhileOthersAreAnswered(
            String state, String message) {
        pool(4, 4);
        String[] hanging = {"select a from stock", "update stock set a=?", "select a from stock where b=?"};
        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                for (String statement : hanging) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            readTimeout(state, message),
                            call -> call.own(1).in(Phase.SQL, statement, 5_000).in(Phase.SQL, "rollback", 0.2));
                    shop.call(
                            Shop.PLACE,
                            0,
                            call -> call.in(Phase.JDBC_CONNECTION, "hikari", 3_000)
                                    .in(Phase.SQL, "select b from orders", 2));
                }
            });
        }

        Diagnosis miss = shop.diagnosis();
        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TABLE LOCK: stock");
        assertThat(miss.causes()).extracting(Cause::kind).doesNotContain("PEER FAILS");
    }

    /**
     * The index of a table is missing. A read timeout ends some of the statements that search the table. Others end
     * earlier.
     */
    @Test
    void statementsOnATableThatAreAnsweredFromTimeToTimeAreSlow() {
        pool(4, 4);
        String search = "select a from stock where b=?";
        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                for (String statement : List.of(search, "select a from stock where b=? and c=?", search)) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            readTimeout("08000", "Socket error"),
                            call -> call.own(1).in(Phase.SQL, statement, 5_000));
                    shop.call(Shop.PLACE, 0, call -> call.own(1).in(Phase.SQL, search, 1_500));
                    shop.call(Shop.PLACE, 0, call -> call.in(Phase.SQL, "select b from orders", 2));
                }
            });
        }

        assertThat(first(shop.diagnosis()).kind()).as(shop.diagnosis().text()).isIn("SLOW STATEMENT", "SLOW DATABASE");
    }

    @Test
    void oneSlowStatementIsNoSignOfALockedTable() {
        Cause first = causeOfHanging("select a from stock", "select a from stock", "select a from stock");

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW STATEMENT: select a from stock");
    }

    @Test
    void oneOtherStatementThatHangsIsNoSignAgainstALockedTable() {
        Cause first = causeOfHanging(
                "select a from stock",
                "select b from stock",
                "select c from stock",
                "select d from stock",
                "select e from places");

        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo("TABLE LOCK: stock");
    }

    @Test
    void statementsThatOnlyChangeRowsMayWaitForARow() {
        Cause first = causeOfHanging("update stock set a=?", "update stock set a=?", "update stock set a=?");

        assertThat(first.kind()).isNotIn("TABLE LOCK", "PEER FAILS");
    }

    @Test
    void hangingStatementsOnSeveralTablesAreNoSignOfALockedTable() {
        Cause first = causeOfHanging("select a from stock", "select b from places", "select c from users");

        assertThat(first.kind()).isNotEqualTo("TABLE LOCK");
    }

    @Test
    void statementThatStillRunsIsNamed() {
        pool(4, 10);
        hangIn("select report", "select report", "select report", "select report");

        Diagnosis miss = during(call -> call.own(2).in(Phase.SQL, "select stock", 4));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: select report");
    }

    @Test
    void statementsThatStillRunAreNotTakenForAQuickOne() {
        hang(Phase.SQL, 4);

        Diagnosis miss = during(call -> call.own(2)
                .in(Phase.SQL, "select stock", 4)
                .in(Phase.REDIS, "GET user:*", 1)
                .own(200));

        assertThat(miss.causes()).as(miss.text()).extracting(Cause::name).doesNotContain("select stock");
    }

    private static Evidence evidence(List<EndedCall> bad, Map<CallLedger, SampledCall> samples, long answered) {
        return new Evidence(
                100_000_000L,
                10,
                0,
                bad,
                List.of(),
                List.of(),
                List.of(),
                samples,
                new TaskWatch(),
                new HeldRows(),
                LoggingMode.ASYNCHRONOUS,
                Map.of(),
                List.of(),
                new Baseline(),
                PauseTimes.NONE,
                List.of(),
                Map.of(),
                new Evidence.Counts(10, 0, 0, 0, bad.size()),
                Machine.UNKNOWN,
                new Answers(Map.of(), Map.of(Shop.PLACE, answered), Map.of(), Map.of(), new Silence()),
                List.of(),
                List.of(),
                List.of(),
                OpenFileUse.UNKNOWN,
                List.of());
    }

    /**
     * Simulates calls that hang in a client that is not measured. Returns the failure to which the diagnosis attributes
     * the waits.
     */
    private static Part hangingIn(Part wait, long answeredSeconds) {
        long now = TimeUnit.SECONDS.toNanos(60);
        List<EndedCall> bad = new ArrayList<>();
        Map<CallLedger, SampledCall> samples = new IdentityHashMap<>();
        for (int i = 0; i < 4; i++) {
            CallLedger ledger = new CallLedger(() -> 0);
            SampledCall looks = new SampledCall(Shop.PLACE);
            for (int look = 0; look < 5; look++) {
                looks.add(new Sample(look, Phase.OWN, wait, List.of(), null, null, null, false, null, -1, -1));
            }
            samples.put(ledger, looks);
            bad.add(new EndedCall(Shop.PLACE, ledger, now, TimeUnit.SECONDS.toNanos(5), null));
        }
        Evidence evidence = evidence(bad, samples, TimeUnit.SECONDS.toNanos(answeredSeconds));
        ExcessTime excess = new ExcessTime(evidence);
        TimesByCause byCause = new TimesByCause(0);
        byCause.addAll(excess.times);

        new SilentStores(evidence, excess, Map.of(), byCause).apply();

        return byCause.longestFirst().get(0);
    }

    @Test
    void storeOfAClientThatIsNotMeasuredIsGoneIfNoCallOfTheMethodEnds() {
        assertThat(hangingIn(new Part(Part.Kind.SQL, "called in Orders.find"), 50))
                .isEqualTo(new Part(Part.Kind.PEER_FAILS, "database called in Orders.find: does not answer"));
        assertThat(hangingIn(new Part(Part.Kind.SOCKET, "Orders.send"), 50))
                .isEqualTo(new Part(Part.Kind.PEER_FAILS, "peer of Orders.send: does not answer"));
    }

    @Test
    void storeOfAClientThatIsNotMeasuredAnswersIfCallsOfTheMethodEnd() {
        Part wait = new Part(Part.Kind.SQL, "called in Orders.find");

        assertThat(hangingIn(wait, 58)).isEqualTo(wait);
    }
}
