package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import shop.Orders;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolSource;

/** Tests causes that are found by inspecting the code that holds a pool's connections. */
class PoolHoldersTest {

    private final Shop shop = new Shop();

    @Test
    void connectionsOfCallsWhoseDeadlineHasPassedAreInUseWhileTheirThreadsWork() {
        Holders holders = new Holders();
        holders.size(4);
        shop.healthy(USUAL);
        for (int i = 0; i < 4; i++) {
            Shop.Steps call = shop.new Steps(0);
            CallLedger before = CallLedger.replace(call.ledger);
            Orders.export(holders, shop.now());
            CallLedger.replace(before);
            call.ledger.end();
            shop.running.add(new RunningCall(Shop.PLACE, i, Phase.OWN, 1, 1, call.ledger));
        }
        shop.pools.add(PoolSource.of(() -> PoolCausesTest.druid(4, 4, 90, 50), holders));

        Diagnosis miss = shop.miss(
                call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600).in(Phase.SQL, "update stock", 300));

        assertThat(miss.causes()).extracting(Cause::kind).doesNotContain("NOT GIVEN BACK");
        assertThat(first(miss).name()).as(miss.text()).isEqualTo("update stock");
    }

    @Test
    void leakedConnectionsAreNamedBeforeTheSizeOfThePool() {
        Holders holders = new Holders();
        holders.size(4);
        PoolSource pool = PoolSource.of(() -> PoolCausesTest.druid(4, 4, 90, 50), holders);
        shop.healthy(USUAL);
        List<CallLedger> ended = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Shop.Steps call = shop.new Steps(0);
            CallLedger before = CallLedger.replace(call.ledger);
            Orders.export(holders, shop.now());
            CallLedger.replace(before);
            ended.add(call.ledger);
        }
        ended.forEach(CallLedger::end);
        shop.pools.add(pool);

        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600));

        Cause cause = first(miss);
        assertThat(cause.kind()).isEqualTo("NOT GIVEN BACK");
        assertThat(cause.change().where()).isEqualTo(Cause.Where.CODE);
        assertThat(cause.change().property()).isNull();
        assertThat(cause.change().text()).contains("Orders.export");
    }

    @Test
    void callsThatHoldAConnectionAndWaitForASecondOneAreNamed() {
        Holders holders = new Holders();
        holders.size(4);
        shop.healthy(USUAL);
        for (int i = 0; i < 4; i++) {
            Shop.Steps call = shop.new Steps(0);
            CallLedger before = CallLedger.replace(call.ledger);
            Orders.export(holders, shop.now());
            CallLedger.replace(before);
            shop.running.add(new RunningCall(
                    Shop.PLACE, Thread.currentThread().getId(), Phase.JDBC_CONNECTION, 1, 1, call.ledger));
        }
        shop.pass(1);
        shop.diagnostician.look();
        shop.running.clear();
        shop.pools.add(PoolSource.of(() -> PoolCausesTest.druid(4, 4, 90, 50), holders));

        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600));

        Cause cause = first(miss);
        assertThat(cause.kind()).as(miss.text()).isEqualTo("NESTED CONNECTIONS");
        assertThat(cause.change().text()).contains("Orders.export").contains("REQUIRES_NEW");
    }

    /** Adds a pool of four connections that calls hold, and inspects its holders several times. */
    private void hold(Consumer<Holders.Holder> eachHolder, Consumer<CallLedger> eachCall) {
        Holders holders = new Holders();
        holders.size(4);
        for (int i = 0; i < 4; i++) {
            Shop.Steps call = shop.new Steps(0);
            CallLedger before = CallLedger.replace(call.ledger);
            Orders.export(holders, shop.now());
            CallLedger.replace(before);
            eachCall.accept(call.ledger);
        }
        holders.all().forEach(eachHolder);
        shop.pools.add(PoolSource.of(() -> PoolCausesTest.druid(4, 4, 90, 50), holders));
        for (int i = 0; i < 8; i++) {
            shop.diagnostician.look();
        }
    }

    @Test
    void ledgersOfHoldersShowThatTheyWaitForASecondConnection() {
        shop.healthy(USUAL);
        hold(holder -> {}, ledger -> ledger.turnTo(Phase.JDBC_CONNECTION, "druid"));

        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("NESTED CONNECTIONS: druid");
        assertThat(first(miss).evidence()).anyMatch(fact -> fact.contains("100 % of the connections in use are held"));
    }

    @Test
    void threadThatWaitsForASecondConnectionAfterTheDeadlineOfItsCallHoldsTheFirstOne() {
        shop.healthy(USUAL);
        hold(holder -> {}, ledger -> {
            ledger.turnTo(Phase.JDBC_CONNECTION, "druid");
            ledger.end();
            shop.running.add(
                    new RunningCall(Shop.PLACE, Thread.currentThread().getId(), Phase.JDBC_CONNECTION, 1, 1, ledger));
        });

        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("NESTED CONNECTIONS: druid");
    }

    @Test
    void waitForAConnectionOfAnotherPoolIsNoNestedConnection() {
        shop.healthy(USUAL);
        hold(holder -> {}, ledger -> ledger.turnTo(Phase.JDBC_CONNECTION, "orders"));

        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600));

        assertThat(miss.causes()).extracting(Cause::kind).doesNotContain("NESTED CONNECTIONS");
    }

    @Test
    void threadsThatServeNoCallAreNamedAlthoughTheyHaveJustReturnedTheConnections() {
        shop.healthy(USUAL);
        Holders holders = new Holders();
        holders.size(4);
        for (int i = 0; i < 4; i++) {
            Orders.export(holders, shop.now());
        }
        shop.pools.add(PoolSource.of(() -> PoolCausesTest.druid(4, 4, 90, 50), holders));
        for (int i = 0; i < 8; i++) {
            shop.diagnostician.look();
        }
        holders.all().forEach(holders::returned);

        Diagnosis miss = shop.miss(
                call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600).in(Phase.SQL, "update stock", 30));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("HELD BY OTHERS: druid");
        assertThat(first(miss).change().text())
                .contains("thread " + Thread.currentThread().getName());
    }

    @Test
    void workOfCallsThatHoldNoConnectionDoesNotFillThePool() {
        shop.healthy(USUAL);
        hold(holder -> holder.begins("update stock"), ledger -> {});

        Diagnosis miss = shop.miss(call -> call.own(2)
                .in(Phase.JDBC_CONNECTION, "druid", 400)
                .in(Phase.SQL, "update stock", 150)
                .in(Phase.HTTP, "GET bank:80", 200));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: update stock");
    }

    /** The calls that wait for the connections run other operations than the calls that hold them. */
    @Test
    void slowStatementOfOtherCallsThatHoldTheConnectionsFillsThePool() {
        shop.healthy(call -> call.own(2).in(Phase.SQL, "update stock", 1));
        hold(holder -> holder.begins("update stock"), ledger -> {});
        int[] number = {0};

        Diagnosis miss = shop.miss(call -> {
            if (number[0]++ % 10 == 0) {
                call.own(2).in(Phase.SQL, "update stock", 1500);
            } else {
                call.own(2).in(Phase.JDBC_CONNECTION, "druid", 1000).in(Phase.HTTP, "GET bank:80", 20);
            }
        });

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).endsWith(": update stock");
        assertThat(first(miss).symptoms()).anyMatch(symptom -> symptom.contains("druid"));
    }

    @Test
    void newStatementThatHoldersRunFillsThePoolBeforeACallWithItHasEnded() {
        shop.healthy(USUAL);
        hold(holder -> holder.begins("select report"), ledger -> {});

        Diagnosis miss = shop.miss(
                call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 400).in(Phase.SQL, "select stock", 6));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: select report");
    }

    @Test
    void poolThatTurnsTooSmallGetsNoTimeOfWorkThatHoldersDoNotDo() {
        shop.healthy(USUAL);
        hold(holder -> holder.begins("select stock"), ledger -> {});

        Diagnosis miss = shop.miss(call -> call.own(2)
                .in(Phase.JDBC_CONNECTION, "druid", 400)
                .in(Phase.SQL, "select stock", 3)
                .in(Phase.HTTP, "GET bank:80", 150));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("POOL TOO SMALL: druid");
    }
}
