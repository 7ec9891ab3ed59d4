package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.sample.Statements;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Tests statements and commands that become slow together. */
class DatabaseCausesTest {

    private static final String READ = "select * from orders where id=?";
    private static final String LIST = "select id from shop.orders where state=?";
    private static final String WRITE = "update orders set state=?";
    private static final String OTHER = "select * from customer where id=?";

    private final Shop shop = new Shop();

    /** Returns the steps of a call that runs the given statements. */
    private static Consumer<Shop.Steps> statements(Object... namesAndMillis) {
        return operations(Phase.SQL, namesAndMillis);
    }

    private static Consumer<Shop.Steps> operations(Phase phase, Object... namesAndMillis) {
        return call -> {
            for (int i = 0; i < namesAndMillis.length; i += 2) {
                call.in(phase, (String) namesAndMillis[i], ((Number) namesAndMillis[i + 1]).doubleValue());
            }
        };
    }

    @Test
    void slowStatementThatReplacesAnotherOneIsComparedWithIt() {
        Diagnosis miss = new Shop()
                .healthy(call -> call.own(2).in(Phase.SQL, "select stock where id=?", 3))
                .miss(call -> call.own(2).in(Phase.SQL, "select stock where lower(id)=?", 160));

        assertThat(first(miss).title()).as(miss.text()).startsWith("SLOW STATEMENT: select stock where lower(id)=?");
        assertThat(first(miss).change().text()).contains("calls usually run another statement instead");
    }

    @Test
    void statementsOfDifferentUsualTimesThatTakeTheSameTimeLongerHaveASlowNetwork() {
        Diagnosis miss = shop.healthy(statements(READ, 1, OTHER, 2, "select report", 25))
                .miss(statements(READ, 31, OTHER, 32, "select report", 55));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW DATABASE: every statement");
        assertThat(first(miss).change().text()).startsWith("check the network to the database, or");
    }

    /** All statements of the late calls use the locked table, so all of them are slower. */
    @Test
    void lockedTableIsNoSlowDatabaseIfOtherCallsAreAnsweredMeanwhile() {
        List<String> locked = List.of(READ, LIST, "insert into orders (id) values (?)");
        shop.healthy(call -> {
            statements(READ, 3, LIST, 3).accept(call);
            statements(locked.get(2), 3, OTHER, 3).accept(call);
        });
        Throwable timeout = new SQLException("Socket error", "08000", new SocketTimeoutException("Read timed out"));
        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                locked.forEach(statement -> shop.call(Shop.PLACE, 0, timeout, statements(statement, 5_000)));
                for (int i = 0; i < 20; i++) {
                    shop.call(Shop.PLACE, 0, statements(OTHER, 3));
                }
            });
        }

        Diagnosis miss = shop.diagnosis();
        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TABLE LOCK: orders");
    }

    @Test
    void statementOfTheStartThatManyCallsRunAtTheSameTimeMayLoadACache() {
        for (int i = 0; i < 20; i++) {
            shop.second(100, statements(READ, 3, "select report", 40));
        }
        Diagnosis miss = shop.healthy(statements(READ, 3)).miss(statements(READ, 3, "select report", 400));

        assertThat(first(miss).change().text())
                .contains("calls do not usually run it")
                .contains("calls run it at the same time: if a cache holds its result, let one call load");
    }

    @Test
    void statementOfEveryCallLoadsNoCacheAlthoughManyCallsRunItAtTheSameTime() {
        Diagnosis miss = shop.healthy(statements(READ, 3)).miss(statements(READ, 400));

        assertThat(first(miss).change().text()).doesNotContain("cache");
    }

    /**
     * A rare statement runs twice, and takes either much longer than usual or its usual time. These two executions show
     * nothing about the other statements, which have all become slower.
     */
    @ParameterizedTest
    @ValueSource(doubles = {3, 400})
    void slowNetworkDelaysEveryStatementAndTheCommitWhateverARareStatementTakes(double rareMillis) {
        AtomicInteger number = new AtomicInteger();
        String insert = "insert into reservation (product) values (?)";
        shop.healthy(statements(WRITE, 3, insert, 3, "commit", 3, LIST, 3));

        Diagnosis miss = shop.miss(call -> statements(WRITE, 32, WRITE, 32, insert, 31, insert, 32, "commit", 31)
                .andThen(rare -> {
                    if (number.getAndIncrement() % 100 == 50) {
                        rare.in(Phase.SQL, LIST, rareMillis);
                    }
                })
                .accept(call));

        assertThat(miss.causes())
                .as(miss.text())
                .extracting(DiagnosisText::title)
                .containsExactly("SLOW DATABASE: every statement");
    }

    /** A backup holds a lock on all tables. A quick statement was executed before the backup began. */
    @Test
    void writesOfSeveralTablesThatHangWhileReadsAreQuickWaitForALockOfAllTables() {
        String pay = "update account set cents = ? where id = ?";
        String claim = "select items from adjuster where name = ? for update";
        String note = "insert into note (text) values (?)";
        String event = "insert into event (text) values (?)";
        String read = "select name from customer where id = ?";
        shop.healthy(statements(pay, 1, claim, 1, note, 1, event, 1, read, 2));

        Diagnosis miss = shop.miss(statements(pay, 2190, claim, 2500, note, 2400, event, 1, read, 2));

        assertThat(miss.causes())
                .as(miss.text())
                .extracting(DiagnosisText::title)
                .containsExactly("TABLE LOCK: all tables");
        assertThat(first(miss).change().text()).contains("FLUSH TABLES WITH READ LOCK");
    }

    @Test
    void statementsThatBecomeSlowerByTheSameFactorHaveASlowDatabaseAndNoSlowNetwork() {
        Diagnosis miss = shop.healthy(statements(READ, 2, OTHER, 4, "select report", 20))
                .miss(statements(READ, 12, OTHER, 24, "select report", 120));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW DATABASE: every statement");
        assertThat(first(miss).change().text()).startsWith("check the database: its load");
    }

    @Test
    void twoSlowStatementsAreNoSlowDatabaseIfTheQuickestOneIsAsUsual() {
        Diagnosis miss = shop.healthy(statements(READ, 1, OTHER, 2, "select report", 25))
                .miss(statements(READ, 1, OTHER, 80, "select report", 70));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: " + OTHER);
    }

    @Test
    void valuesMatterIfOnlySomeExecutionsOfAStatementAreSlow() {
        AtomicInteger number = new AtomicInteger();
        Diagnosis miss = shop.healthy(statements(READ, 2)).miss(call -> {
            boolean isSlow = number.getAndIncrement() % 10 == 9;
            call.in(Phase.SQL, READ, isSlow ? 250 : 2);
        });

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("SLOW STATEMENT: " + READ);
        assertThat(first(miss).change().text())
                .contains("; compare its values, because other executions take 2.0 ms")
                .endsWith("; a different pool size does not help");
    }

    @Test
    void slowExecutionsOfAStatementThatLocksRowsProbablyWaitForRows() {
        String locking = "select n from stock where id=? for update";
        AtomicInteger number = new AtomicInteger();
        Diagnosis miss = shop.healthy(statements(locking, 6)).miss(call -> {
            boolean isSlow = number.getAndIncrement() % 10 == 9;
            call.own(isSlow ? 30 : 2).in(Phase.SQL, locking, isSlow ? 105 : 6);
        });

        assertThat(first(miss).change().text())
                .contains("; other executions take 6.0 ms, so the slow ones probably wait for rows")
                .doesNotContain("compare its values");
    }

    @Test
    void valuesDoNotMatterIfAllExecutionsOfAStatementAreSlow() {
        Diagnosis miss = shop.healthy(statements(READ, 2)).miss(statements(READ, 250));

        assertThat(first(miss).change().text()).doesNotContain("values");
    }

    @Test
    void allStatementsOfOneTableThatWaitHaveALockOfTheTable() {
        Diagnosis miss =
                shop.healthy(statements(READ, 1, LIST, 2, OTHER, 2)).miss(statements(READ, 90, LIST, 80, OTHER, 2));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TABLE LOCK: orders");
        assertThat(first(miss).change().text()).contains("such as a migration or a batch");
        assertThat(first(miss).ms()).isGreaterThan(150);
    }

    @Test
    void readThatWaitsForAStatementOfThisProcessNamesIt() {
        Holders holders = new Holders();
        holders.size(10);
        shop.pools.add(PoolSource.of(
                () -> PoolSnapshot.builder("hikari", PoolKind.JDBC, 10)
                        .now(1, 9, 0)
                        .counts(0, 0)
                        .sums(Duration.ZERO, Duration.ZERO)
                        .settings(List.of())
                        .build(),
                holders));
        shop.healthy(statements(READ, 1, OTHER, 2));
        holders.taken(shop.now()).begins("alter table orders add column note varchar(?)");

        Diagnosis miss = shop.miss(statements(READ, 190, OTHER, 2));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TABLE LOCK: orders");
        assertThat(first(miss).change().text()).contains("alter table orders add column");
    }

    @Test
    void readThatAloneBecameSlowMayHaveABadPlan() {
        Diagnosis miss = shop.healthy(statements(READ, 1, OTHER, 2)).miss(statements(READ, 190, OTHER, 2));

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("SLOW STATEMENT: " + READ);
    }

    @Test
    void writesOfOneTableWaitForRowsIfReadsOfTheTableAreAsUsual() {
        Diagnosis miss = shop.healthy(statements(READ, 1, WRITE, 1, "delete from orders where id=?", 1, OTHER, 2))
                .miss(statements(READ, 1, WRITE, 90, "delete from orders where id=?", 90, OTHER, 2));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("ROW LOCK: orders");
    }

    @Test
    void writeWaitsForARowAlthoughABusyMachineSlowsDownOtherStatementsALittle() {
        Diagnosis miss =
                shop.healthy(statements(READ, 1, WRITE, 1, OTHER, 2)).miss(statements(READ, 9, WRITE, 430, OTHER, 12));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).startsWith("ROW LOCK: ");
    }

    /** Returns the first cause of a slow statement. Its usual time is unknown, because calls were late all the time. */
    private static Cause withoutUsualTimes(String statement, double beforeMillis, double otherMillis) {
        return new SampledCalls()
                .running("Accounts.settle", statement, beforeMillis, 120, samples -> {})
                .endedEarlier()
                .running("Accounts.settle", statement, 3_000, 1, samples -> {})
                .running("Accounts.find", OTHER, otherMillis, 110, samples -> {})
                .causes()
                .get(0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "update account set cents=cents-? where code=?",
                "delete from account where code=?",
                "select cents from account where code=? for update"
            })
    void writeWaitsForARowIfItWasQuickAMinuteAgoAlthoughNoUsualTimesAreKnown(String statement) {
        assertThat(withoutUsualTimes(statement, 15, 10).title()).isEqualTo("ROW LOCK: " + statement);
        assertThat(withoutUsualTimes(statement, 15, 10).change().text()).contains("information_schema.innodb_trx");
    }

    @Test
    void slowStatementWithoutUsualTimesDoesNotAlwaysWaitForARow() {
        assertThat(withoutUsualTimes(WRITE, 1_500, 10).kind()).isEqualTo("SLOW STATEMENT");
        assertThat(withoutUsualTimes(WRITE, 15, 2_000).kind()).isEqualTo("SLOW STATEMENT");
        assertThat(withoutUsualTimes(READ, 15, 10).kind()).isEqualTo("SLOW STATEMENT");
    }

    @Test
    void insertThatAloneBecameSlowWithoutSignsOfALockMayHaveATrigger() {
        String insert = "insert into order_log(order_id, what) values(?, ...)";
        Diagnosis miss = shop.healthy(statements(READ, 1, insert, 1)).miss(statements(READ, 1, insert, 181));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: " + insert);
        assertThat(first(miss).change().text())
                .contains("its plan", "its indexes", "a trigger of its table", "the lock that it waits for");
    }

    @Test
    void insertThatAloneTakesHundredsOfTimesItsUsualTimeWaitsForALock() {
        String insert = "insert into order_log(order_id, what) values(?, ...)";
        Diagnosis miss = shop.healthy(statements(READ, 1, insert, 1)).miss(statements(READ, 1, insert, 900));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("ROW LOCK: " + insert);
        assertThat(first(miss).change().text()).contains("the row that a foreign key of the inserted row refers to");
    }

    @Test
    void insertThatMayChangeARowWaitsForALockIfItAloneBecameSlow() {
        String merge = "insert into stock values(?, ...) on conflict (id) do update set n=?";
        Diagnosis miss = shop.healthy(statements(READ, 1, merge, 1)).miss(statements(READ, 1, merge, 181));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("ROW LOCK: " + merge);
    }

    @Test
    void writesOfAllTablesThatAreSlowWaitForTheLogOfTheDatabase() {
        Diagnosis miss = shop.healthy(statements(READ, 1, WRITE, 2, "insert into audit values (?)", 2))
                .miss(statements(READ, 1, WRITE, 60, "insert into audit values (?)", 62));

        assertThat(first(miss).kind()).as(miss.text()).isEqualTo("SLOW COMMIT");
        assertThat(first(miss).change().text()).contains("log disk or replication");
        assertThat(first(miss).ms()).isGreaterThan(110);
    }

    @ParameterizedTest
    @ValueSource(ints = {125, 135})
    void statementThatCommitsByItselfWaitsForTheLogAsTheCommitOfATransactionDoes(int insertMillis) {
        String insert = "insert into audit values (?)";
        Diagnosis miss = shop.healthy(statements(READ, 1, WRITE, 1, "commit", 1, insert, 1))
                .miss(statements(READ, 1, WRITE, 1, "commit", 130, insert, insertMillis));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW COMMIT: commit");
        assertThat(miss.causes()).hasSize(1);
        assertThat(first(miss).evidence()).anyMatch(line -> line.contains(insert + " takes the same additional time"));
    }

    @Test
    void readsThatBecameALittleSlowerDoNotHideTheSlowCommit() {
        String update = "update station set n = ? where id = ?";
        Diagnosis miss = shop.healthy(statements(READ, 1, WRITE, 1, "commit", 2, update, 2))
                .miss(statements(READ, 9, WRITE, 1, "commit", 120, update, 270));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW COMMIT: commit");
        assertThat(first(miss).change().text()).contains("backups that block commits");
        assertThat(miss.causes()).noneMatch(cause -> cause.kind().equals("SLOW STATEMENT"));
    }

    @Test
    void statementThatIsSlowForAnotherReasonThanTheCommitIsACauseOfItsOwn() {
        String insert = "insert into audit values (?)";
        Diagnosis miss = shop.healthy(statements(READ, 1, WRITE, 1, "commit", 1, insert, 1))
                .miss(statements(READ, 1, WRITE, 1, "commit", 400, insert, 100));

        assertThat(miss.causes())
                .as(miss.text())
                .extracting(Cause::kind)
                .containsExactly("SLOW COMMIT", "SLOW STATEMENT");
    }

    @Test
    void statementThatIsSlowWhileOthersEndInDeadlocksWaitsForRows() {
        Diagnosis miss = shop.healthy(statements(READ, 1, OTHER, 2))
                .miss(statements(WRITE, 80, WRITE + " (failed 40001)", 1, WRITE, 80, OTHER, 2));

        assertThat(first(miss).kind()).as(miss.text()).isEqualTo("ROW LOCK");
        assertThat(first(miss).change().text())
                .startsWith("lock rows in the same order in all transactions")
                .contains("because of deadlocks");
        assertThat(miss.text()).contains("the database ended");
    }

    @Test
    void slowStatementDoesNotWaitForRowsBecauseAnotherDatabaseReportsDeadlocks() {
        Diagnosis miss = shop.healthy(statements(READ, 1, OTHER, 2))
                .miss(statements(
                        WRITE + " (data source first)",
                        180,
                        "update stock (data source second) (failed 40001)",
                        1,
                        OTHER,
                        2));

        assertThat(miss.text()).doesNotContain("because of deadlocks");
    }

    @Test
    void lockThatTheApplicationTakesInTheDatabaseIsALock() {
        Diagnosis miss = shop.healthy(statements("select pg_advisory_xact_lock(?)", 1, OTHER, 2))
                .miss(statements("select pg_advisory_xact_lock(?)", 190, OTHER, 2));

        assertThat(first(miss).kind()).isEqualTo("LOCK");
        assertThat(first(miss).change().text()).startsWith("hold this lock of the database for less time");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "select a from shop.orders o join x  | orders",
                "UPDATE \"orders\" SET a=?            | orders",
                "insert into `orders` values (?)     | orders",
                "truncate table orders               | orders",
                "lock tables orders write            | orders",
                "create index i on public.orders (a) | orders",
                "select 1 where x=?                  | ",
            })
    void tableOfAStatementIsItsFirstOne(String statement, String table) {
        assertThat(Statements.table(statement)).isEqualTo(table);
    }

    @Test
    void longCommandThatDelaysAllOthersIsTheCause() {
        Diagnosis miss = shop.healthy(operations(Phase.REDIS, "GET user:*", 1, "GET cart:*", 1))
                .miss(operations(Phase.REDIS, "GET user:*", 25, "GET cart:*", 22, "SMEMBERS tags:*", 80));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW REDIS COMMAND: SMEMBERS tags:*");
        assertThat(first(miss).change().text()).contains("SSCAN");
        assertThat(first(miss).symptoms()).anyMatch(symptom -> symptom.contains("GET user:*"));
    }

    @Test
    void commandsThatAreAllSlowerByTheSameTimeHaveASlowRedis() {
        Diagnosis miss = shop.healthy(operations(Phase.REDIS, "GET user:*", 1, "HGETALL cart:*", 4))
                .miss(operations(Phase.REDIS, "GET user:*", 61, "HGETALL cart:*", 64));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW REDIS: every command");
    }

    @Test
    void statementOfAScheduledJobIsNamedIfAllStatementsAreSlower() throws InterruptedException {
        Holders holders = new Holders();
        Thread job = new Thread(
                () -> {
                    Holders.Holder holder = holders.taken(System.nanoTime() - 5_000_000_000L);
                    holder.begins("select * from history");
                    java.util.concurrent.locks.LockSupport.park();
                },
                "scheduling-1");
        job.setDaemon(true);
        job.start();
        while (holders.all().stream().noneMatch(Holders.Holder::isExecuting)) {
            Thread.onSpinWait();
        }
        Shop jobs = new Shop();
        jobs.pools.add(PoolSource.of(
                () -> PoolSnapshot.builder("hikari", PoolKind.JDBC, 10)
                        .now(1, 9, 0)
                        .settings(List.of())
                        .build(),
                holders));
        jobs.healthy(call -> call.own(1).in(Phase.SQL, "select stock", 3).in(Phase.SQL, "select price", 3));

        Cause first = first(
                jobs.miss(call -> call.own(1).in(Phase.SQL, "select stock", 90).in(Phase.SQL, "select price", 95)));

        assertThat(first.kind()).isEqualTo("SLOW DATABASE");
        assertThat(first.change().text()).contains("check its statement first: select * from history");
        java.util.concurrent.locks.LockSupport.unpark(job);
        job.join();
    }

    @Test
    void largeValueThatDelaysTheOtherCommandsOfItsConnectionIsTheCause() {
        Shop redis = new Shop()
                .healthy(call -> call.own(1).in(Phase.REDIS, "GET status:*", 1).in(Phase.REDIS, "SET status:*", 1));

        Cause first = first(redis.miss(call -> call.own(1)
                .in(Phase.REDIS, "GET plan:today [over 4 MB]", 60)
                .in(Phase.REDIS, "GET status:*", 70)
                .in(Phase.REDIS, "SET status:*", 65)));

        assertThat(DiagnosisText.title(first))
                .as(redis.diagnosis().text())
                .isEqualTo("SLOW REDIS COMMAND: GET plan:today [over 4 MB]");
        assertThat(first.change().text()).startsWith("store a smaller value").contains("the value has over 4 MB");
    }

    @Test
    void valueThatBecameLargeBeforeCallsMissedTheTargetDelaysTheOtherCommands() {
        Shop redis =
                new Shop().healthy(operations(Phase.REDIS, "GET plan:today", 3, "GET status:*", 3, "SET status:*", 3));
        for (int i = 0; i < 3; i++) {
            redis.second(
                    100,
                    operations(Phase.REDIS, "GET plan:today [over 4 MB]", 40, "GET status:*", 20, "SET status:*", 20));
        }
        Cause first = first(redis.miss(
                operations(Phase.REDIS, "GET plan:today [over 4 MB]", 90, "GET status:*", 30, "SET status:*", 25)));

        assertThat(DiagnosisText.title(first))
                .as(redis.diagnosis().text())
                .isEqualTo("SLOW REDIS COMMAND: GET plan:today [over 4 MB]");
    }

    @Test
    void valueThatIsUsuallyLargeIsNotTheCauseOfASlowRedis() {
        Diagnosis miss = new Shop()
                .healthy(
                        operations(Phase.REDIS, "GET plan:today [over 4 MB]", 40, "GET status:*", 3, "SET status:*", 3))
                .miss(operations(
                        Phase.REDIS, "GET plan:today [over 4 MB]", 90, "GET status:*", 55, "SET status:*", 50));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW REDIS: every command");
    }

    @Test
    void transactionsThatTheDatabaseEndsBecauseOfConflictsAreNoRowLock() {
        Diagnosis miss = shop.healthy(statements(READ, 1, WRITE, 2, OTHER, 2)).miss(call -> {
            for (int i = 0; i < 4; i++) {
                call.in(Phase.SQL, READ, 15).in(Phase.SQL, WRITE + " (failed CONFLICT)", 12);
            }
            call.in(Phase.SQL, READ, 15).in(Phase.SQL, WRITE, 12).in(Phase.SQL, OTHER, 2);
        });

        assertThat(first(miss).kind()).as(miss.text()).isEqualTo("TRANSACTION CONFLICTS");
        assertThat(first(miss).change().text()).contains("READ COMMITTED").contains("select ... for update");
        assertThat(miss.text()).contains("conflict the database ended");
    }

    @Test
    void valueThatHasJustBecomeLargeIsNotANewCommand() {
        Consumer<Shop.Steps> usual = operations(Phase.REDIS, "GET plan:*", 14, "GET status:*", 1, "SET status:*", 1);
        Diagnosis miss = new Shop()
                .healthy(usual)
                .miss(operations(Phase.REDIS, "GET plan:* [over 1 MB]", 16, "GET status:*", 70, "SET status:*", 65));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).doesNotContain("plan");
    }

    @Test
    void pausesOfTheCollectorBelongToACommandWithAReplyOfManyElements() {
        String large = "HGETALL fleet [over 10000 elements]";
        Shop redis = new Shop();
        redis.machine = new Machine(2, 0.3, 0.1, 0, 0, 0.2, null, 10e6, -1, List.of(), 0, null, List.of());
        redis.healthy(operations(Phase.REDIS, "HGETALL pos:*", 1, "GET status:*", 1));
        redis.machine =
                new Machine(2, 0.6, 0.1, 0, 0.4, 0.3, "G1 Evacuation Pause", 130e6, -1, List.of(), 0, null, List.of());
        redis.pauses = (from, to) -> {
            Times stood = new Times();
            stood.add(Part.of(Part.Kind.COLLECTOR), (to - from) * 0.5);
            return stood;
        };

        Cause first = first(redis.miss(operations(Phase.REDIS, large, 200, "HGETALL pos:*", 150, "GET status:*", 140)));

        assertThat(DiagnosisText.title(first)).as(redis.diagnosis().text()).isEqualTo("SLOW REDIS COMMAND: " + large);
        assertThat(first.change().text()).contains("HSCAN").contains("its answer has over 10000 elements");
        assertThat(first.symptoms()).anyMatch(symptom -> symptom.startsWith("the garbage collector stops calls"));
    }
}
