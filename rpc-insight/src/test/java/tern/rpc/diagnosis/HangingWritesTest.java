package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/**
 * Tests writing statements that hang while the database answers reading statements, for example because a backup lets
 * no session write. The hanging statements occupy the pool, so other calls wait only for a connection.
 */
class HangingWritesTest {

    private static final List<String> WRITES = List.of(
            "insert into reservation (vehicle) values (?)",
            "update reservation set state = ? where id = ?",
            "insert into damage (text) values (?)");
    private static final String READ = "select id from vehicle where branch = ?";

    private static final Throwable TIMEOUT =
            new SQLException("Socket error", "08000", new SocketTimeoutException("Read timed out"));
    private static final Throwable NO_CONNECTION =
            new SQLTransientConnectionException("hikari - Connection is not available, request timed out after 2500ms");

    private final Shop shop = new Shop();
    private final Holders holders = new Holders();

    private static Consumer<Shop.Steps> runs(String statement, double millis) {
        return call -> call.in(Phase.JDBC_CONNECTION, "hikari", 0.1).in(Phase.SQL, statement, millis);
    }

    /** Serves calls of which half only read. */
    private void usual() {
        for (int i = 0; i < 90; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    boolean reads = call % 2 == 0;
                    shop.call(
                            reads ? "Fleet.find" : "Fleet.book" + call % 3,
                            0,
                            runs(reads ? READ : WRITES.get(call % 3), 2));
                }
            });
        }
    }

    private void fullPool() {
        shop.pools.add(PoolSource.of(
                () -> PoolSnapshot.builder("hikari", PoolKind.JDBC, 12)
                        .now(12, 0, 70)
                        .counts(0, 0)
                        .sums(Duration.ZERO, Duration.ZERO)
                        .settings(List.of())
                        .build(),
                holders));
    }

    /** Serves calls whose writes hang for three seconds, and calls that wait for the pool for as long. */
    private Diagnosis miss(int reads) {
        fullPool();
        for (int second = 0; second < 8; second++) {
            shop.second(() -> {
                for (int i = 0; i < 6; i++) {
                    String statement = WRITES.get(i % 3);
                    shop.call(
                            "Fleet.book" + i % 3,
                            0,
                            TIMEOUT,
                            call -> call.in(Phase.JDBC_CONNECTION, "hikari", 20).in(Phase.SQL, statement, 3_000));
                }
                for (int i = 0; i < 20; i++) {
                    shop.call(
                            i % 2 == 0 ? "Fleet.find" : "Fleet.book" + i % 3,
                            0,
                            NO_CONNECTION,
                            call -> call.in(Phase.JDBC_CONNECTION, "hikari", 2_500));
                }
                for (int i = 0; i < reads; i++) {
                    shop.call(
                            "Fleet.find",
                            0,
                            call -> call.in(Phase.JDBC_CONNECTION, "hikari", 2_500)
                                    .in(Phase.SQL, READ, 2));
                }
            });
        }
        return shop.diagnosis();
    }

    private static void isLockOfAllTables(Diagnosis miss) {
        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TABLE LOCK: all tables");
        assertThat(first(miss).change().text()).as(miss.text()).contains("FLUSH TABLES WITH READ LOCK");
        assertThat(miss.text()).doesNotContain("SLOW DATABASE");
    }

    /** Reads get no connection, few connections, or many. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 12})
    void writesThatHangUntilATimeoutWaitForALockOfAllTablesHoweverFewReadsGetAConnection(int reads) {
        usual();

        isLockOfAllTables(miss(reads));
    }

    @Test
    void writesThatHangWithoutAnEndWaitForALockOfAllTables() {
        usual();

        isLockOfAllTables(hang(""));
    }

    /** If the database answered nothing, half of the hanging statements would read. */
    private Diagnosis hang(String read) {
        fullPool();
        long started = shop.now();
        CallLedger[] hanging = new CallLedger[12];
        for (int i = 0; i < hanging.length; i++) {
            Shop.Steps steps = shop.new Steps(0);
            String statement = i % 2 == 0 && !read.isEmpty() ? read : WRITES.get(i % 3);
            CallLedger before = CallLedger.replace(steps.ledger);
            holders.taken(shop.now()).begins(statement);
            CallLedger.replace(before);
            steps.in(Phase.JDBC_CONNECTION, "hikari", 1).ledger.enter(Phase.SQL, statement);
            hanging[i] = steps.ledger;
        }
        for (int second = 0; second < 6; second++) {
            shop.running.clear();
            for (int i = 0; i < hanging.length; i++) {
                shop.running.add(new RunningCall(
                        "Fleet.book" + i % 3,
                        RunningCall.NO_THREAD,
                        hanging[i].phase(),
                        started,
                        shop.now() - started,
                        hanging[i]));
            }
            shop.second(() -> {
                for (int i = 0; i < 20; i++) {
                    shop.call(
                            i % 2 == 0 ? "Fleet.find" : "Fleet.book" + i % 3,
                            0,
                            NO_CONNECTION,
                            call -> call.in(Phase.JDBC_CONNECTION, "hikari", 2_500));
                }
            });
        }
        return shop.diagnosis();
    }

    @Test
    void databaseThatAnswersNeitherReadsNorWritesHasNoLockOfAllTables() {
        usual();

        Diagnosis miss = hang(READ);

        assertThat(miss.text()).doesNotContain("TABLE LOCK");
    }

    /** No usual call only reads, so the statements that hang show nothing about reading statements. */
    @Test
    void writesOfCallsThatAllWriteFirstShowNoLockOfAllTables() {
        for (int i = 0; i < 90; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    String write = WRITES.get(call % 3);
                    shop.call("Fleet.book" + call % 3, 0, runs(write, 2).andThen(runs(READ, 2)));
                }
            });
        }

        Diagnosis miss = miss(0);

        assertThat(miss.text()).doesNotContain("all tables");
    }
}
