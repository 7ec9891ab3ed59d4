package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/**
 * Tests statements that hang because their database does not answer. The waits that these statements cause take more
 * time than the statements themselves.
 */
class HangingStatementsTest {

    private Shop shop = new Shop().healthy(USUAL);
    private final Holders holders = new Holders();
    private final Map<CallLedger, Long> hanging = new LinkedHashMap<>(); // the beginning of each hanging call

    private void pool() {
        shop.pools.add(PoolSource.of(
                () -> PoolSnapshot.builder("hikari", PoolKind.JDBC, 4)
                        .now(4, 0, 5)
                        .counts(0, 0)
                        .sums(Duration.ZERO, Duration.ZERO)
                        .settings(List.of())
                        .build(),
                holders));
    }

    /**
     * Starts statements that hang, one for each call.
     *
     * @param ends whether the calls end at their deadlines
     */
    private void start(boolean ends, String... statements) {
        for (String statement : statements) {
            Shop.Steps steps = shop.new Steps(0);
            CallLedger before = CallLedger.replace(steps.ledger);
            holders.taken(shop.now()).begins(statement);
            CallLedger.replace(before);
            if (ends) {
                steps.ledger.end();
            } else {
                steps.ledger.enter(Phase.SQL, statement);
                hanging.put(steps.ledger, shop.now());
            }
        }
    }

    private void hang(Phase phase, @Nullable String name, int calls) {
        for (int i = 0; i < calls; i++) {
            Shop.Steps steps = shop.new Steps(0);
            steps.ledger.enter(phase, name);
            hanging.put(steps.ledger, shop.now());
        }
    }

    /** Simulates five seconds. */
    private Diagnosis miss() {
        for (int i = 0; i < 5; i++) {
            shop.running.clear();
            hanging.forEach((ledger, started) -> shop.running.add(new RunningCall(
                    Shop.PLACE, RunningCall.NO_THREAD, ledger.phase(), started, shop.now() - started, ledger)));
            shop.second(50, call -> call.own(2));
        }
        return shop.diagnosis();
    }

    @Test
    void databaseThatIsGoneComesBeforeItsConsequences() {
        pool();
        start(false, "select stock", "select price", "select user");
        hang(Phase.RPC, "ReferenceService.find at 10.0.0.9:20880", 40);
        hang(Phase.JDBC_CONNECTION, null, 20);

        Diagnosis miss = miss();

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: database of hikari: does not answer");
    }

    @Test
    void connectionsOfEndedCallsWhoseStatementsHangAreNotLost() {
        pool();
        start(true, "select stock", "select price", "select user", "select stock");
        hang(Phase.JDBC_CONNECTION, null, 20);

        Diagnosis miss = miss();

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: database of hikari: does not answer");
    }

    @Test
    void connectionsOfEndedCallsWhoseStatementsMayWaitForALockAreNoSignOfADatabaseThatIsGone() {
        pool();
        start(true, "update stock set n=?", "update stock set n=?", "update price set n=?", "update price set n=?");
        hang(Phase.JDBC_CONNECTION, null, 20);

        Diagnosis miss = miss();

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).doesNotContain("does not answer");
    }

    private static final Consumer<Shop.Steps> STOCK = call -> call.own(2).in(Phase.SQL, "select a from stock", 3);
    private static final Consumer<Shop.Steps> PRICE = call -> call.own(2).in(Phase.SQL, "select b from price", 3);

    /**
     * Serves calls of two methods whose statements use one table each, and then starts statements that hang for so long
     * that all connections are in use and no statement is answered.
     *
     * @param ofStock how many of ten calls usually use the table stock
     */
    private Diagnosis hangsAtOnce(int ofStock, String... statements) {
        Shop other = new Shop();
        shop = other;
        for (int second = 0; second < 90; second++) {
            other.second(() -> {
                for (int i = 0; i < 100; i++) {
                    other.call(i % 10 < ofStock ? "Stock.read" : "Price.read", 0, i % 10 < ofStock ? STOCK : PRICE);
                }
            });
        }
        pool();
        start(false, statements);
        hang(Phase.JDBC_CONNECTION, null, 20);
        Diagnosis diagnosis = miss();
        for (int i = 0; i < 4; i++) {
            for (int look = 0; look < 10; look++) {
                other.diagnostician.look();
            }
            for (int call = 0; call < 20; call++) {
                other.call(
                        "Price.read",
                        0,
                        new SQLTransientConnectionException("hikari - Connection is not available, request timed out"),
                        steps -> steps.own(1).in(Phase.JDBC_CONNECTION, "hikari", 2_000));
            }
            diagnosis = miss();
        }
        return diagnosis;
    }

    private static final String[] ON_STOCK = {
        "select a from stock", "select b from stock where c=?", "select a from stock", "update stock set d=?"
    };

    @Test
    void tableStaysLockedWhileNoStatementOnAnotherTableHangs() {
        Diagnosis miss = hangsAtOnce(3, ON_STOCK);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TABLE LOCK: stock");
        assertThat(miss.text()).doesNotContain("does not answer");
        assertThat(first(miss).evidence()).anyMatch(line -> line.contains("no read of another table hangs"));
        assertThat(first(miss).symptoms()).anyMatch(line -> line.contains("connection of \"hikari\""));
    }

    @Test
    void tableStaysLockedIfWritesToOtherTablesHangToo() {
        Diagnosis miss = hangsAtOnce(
                3,
                "select a from stock",
                "select b from stock where c=?",
                "select a from stock",
                "select a from stock",
                "insert into orders (stock) values (?)");

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TABLE LOCK: stock");
    }

    @Test
    void databaseIsGoneIfReadsOfOtherTablesHang() {
        Diagnosis miss = hangsAtOnce(
                3,
                "select a from stock",
                "select b from price",
                "select b from stock where c=?",
                "select a from stock");

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: database of hikari: does not answer");
    }

    @Test
    void databaseIsGoneIfNearlyAllCallsUseTheTableOfTheHangingStatements() {
        Diagnosis miss = hangsAtOnce(9, ON_STOCK);

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: database of hikari: does not answer");
    }
}
