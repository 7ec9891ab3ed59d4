package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import shop.Orders;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.RunningCall;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Tests causes that are found by inspecting the code that holds a pool's connections. */
class PoolHoldersTest {

    private final Shop shop = new Shop();

    /** Returns four connections, each held by a different call. */
    private Holders heldByCalls(Consumer<CallLedger> eachCall) {
        Holders holders = new Holders();
        holders.size(4);
        hold(holders, eachCall);
        return holders;
    }

    private void hold(Holders holders, Consumer<CallLedger> eachCall) {
        for (int i = 0; i < 4; i++) {
            Shop.Steps call = shop.new Steps(0);
            CallLedger before = CallLedger.replace(call.ledger);
            Orders.export(holders, shop.now());
            CallLedger.replace(before);
            eachCall.accept(call.ledger);
        }
    }

    /** Adds a pool whose connections are all in use. */
    private void fullPool(Holders holders) {
        shop.pools.add(PoolSource.of(() -> PoolCausesTest.druid(4, 4, 90, 50), holders));
    }

    private static void assertFirst(Diagnosis miss, String title) {
        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo(title);
    }

    private void runs(CallLedger call, long thread, Phase phase) {
        shop.running.add(new RunningCall(Shop.PLACE, thread, phase, 1, 1, call));
    }

    @Test
    void connectionsOfCallsWhoseDeadlineHasPassedAreInUseWhileTheirThreadsWork() {
        shop.healthy(USUAL);
        fullPool(heldByCalls(call -> {
            call.end();
            runs(call, Thread.currentThread().getId(), Phase.OWN);
        }));

        Diagnosis miss = shop.miss(
                call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600).in(Phase.SQL, "update stock", 300));

        assertThat(miss.causes()).extracting(Cause::kind).doesNotContain("NOT GIVEN BACK");
        assertThat(first(miss).name()).as(miss.text()).isEqualTo("update stock");
    }

    @Test
    void leakedConnectionsAreNamedBeforeTheSizeOfThePool() {
        shop.healthy(USUAL);
        fullPool(heldByCalls(CallLedger::end));

        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600));

        Cause cause = first(miss);
        assertThat(cause.kind()).isEqualTo("NOT GIVEN BACK");
        assertThat(cause.change().where()).isEqualTo(Cause.Where.CODE);
        assertThat(cause.change().property()).isNull();
        assertThat(cause.change().text()).contains("Orders.export");
    }

    @Test
    void callsThatHoldAConnectionAndWaitForASecondOneAreNamed() {
        shop.healthy(USUAL);
        Holders holders = heldByCalls(call -> runs(call, Thread.currentThread().getId(), Phase.JDBC_CONNECTION));
        shop.pass(1);
        shop.diagnostician.look();
        shop.running.clear();
        fullPool(holders);

        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600));

        Cause cause = first(miss);
        assertThat(cause.kind()).as(miss.text()).isEqualTo("NESTED CONNECTIONS");
        assertThat(cause.change().text()).contains("Orders.export").contains("REQUIRES_NEW");
    }

    /** Adds a pool of four connections that calls hold, and inspects its holders several times. */
    private void hold(Consumer<Holders.Holder> eachHolder, Consumer<CallLedger> eachCall) {
        Holders holders = heldByCalls(eachCall);
        holders.all().forEach(eachHolder);
        fullPool(holders);
        inspectHolders();
    }

    private void inspectHolders() {
        for (int i = 0; i < 8; i++) {
            shop.diagnostician.look();
        }
    }

    @Test
    void ledgersOfHoldersShowThatTheyWaitForASecondConnection() {
        shop.healthy(USUAL);
        hold(holder -> {}, ledger -> ledger.turnTo(Phase.JDBC_CONNECTION, "druid"));

        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600));

        assertFirst(miss, "NESTED CONNECTIONS: druid");
        assertThat(first(miss).evidence()).anyMatch(fact -> fact.contains("100 % of the connections in use are held"));
    }

    @Test
    void threadThatWaitsForASecondConnectionAfterTheDeadlineOfItsCallHoldsTheFirstOne() {
        shop.healthy(USUAL);
        hold(holder -> {}, ledger -> {
            ledger.turnTo(Phase.JDBC_CONNECTION, "druid");
            ledger.end();
            runs(ledger, Thread.currentThread().getId(), Phase.JDBC_CONNECTION);
        });

        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600));

        assertFirst(miss, "NESTED CONNECTIONS: druid");
    }

    @Test
    void waitForAConnectionOfAnotherPoolIsNotANestedConnection() {
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
        fullPool(holders);
        inspectHolders();
        holders.all().forEach(holders::returned);

        Diagnosis miss = shop.miss(
                call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 600).in(Phase.SQL, "update stock", 30));

        assertFirst(miss, "HELD BY OTHERS: druid");
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

        assertFirst(miss, "SLOW STATEMENT: update stock");
    }

    /** The calls waiting for connections run different operations from the calls that hold them. */
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

        assertFirst(miss, "SLOW STATEMENT: select report");
    }

    private void hangsIn(String statement, CallLedger call) {
        long ran = 20_000_000_000L;
        call.enter(Phase.SQL, statement);
        shop.running.add(new RunningCall(Shop.PLACE, Thread.currentThread().getId(), Phase.SQL, ran, ran, call));
    }

    @Test
    void writesThatHoldTheConnectionsFillThePoolAlthoughTheUsesThatEndAreShort() {
        String update = "update stock set left=? where id=?";
        Holders holders = new Holders();
        holders.size(4);
        long[] taken = {0};
        int[] active = {0};
        shop.pools.add(PoolSource.of(
                () -> PoolSnapshot.builder("hikari", PoolKind.JDBC, 4)
                        .now(active[0], 4 - active[0], 40 * active[0])
                        .counts(taken[0] += active[0] == 0 ? 100 : 5, 0)
                        .sums(Duration.ZERO, Duration.ofMillis(2 * taken[0]))
                        .settings(List.of())
                        .build(),
                holders));
        shop.healthy(call -> call.own(2).in(Phase.SQL, update, 2).in(Phase.HTTP, "GET bank:80", 3));
        hold(holders, ledger -> hangsIn(update, ledger));
        holders.all().forEach(holder -> holder.begins(update));
        active[0] = 4;
        inspectHolders();

        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.JDBC_CONNECTION, "hikari", 3_000));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).endsWith(": " + update);
        assertThat(first(miss).symptoms()).anyMatch(symptom -> symptom.contains("hikari"));
    }

    /** The calls waiting for the row have not ended. Calls that change other rows end in their usual time. */
    @Test
    void writesThatDoNotEndWhileOthersTakeTheirUsualTimeWaitForALockedRow() {
        String update = "update stock set left=? where id=?";
        shop.healthy(call -> call.own(2).in(Phase.SQL, update, 2).in(Phase.HTTP, "GET bank:80", 3));
        hold(holder -> holder.begins(update), ledger -> hangsIn(update, ledger));

        Diagnosis miss = shop.miss(
                call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 3_000).in(Phase.SQL, update, 2));

        assertFirst(miss, "ROW LOCK: " + update);
        assertThat(first(miss).change().text()).contains("no connection of these pools holds the lock");
        assertThat(first(miss).evidence())
                .anyMatch(fact -> fact.startsWith("running  calls have been executing it for"));
    }

    /** The deadlines of the calls pass while their statements wait for a row. Their threads return much later. */
    @Test
    void rowsAreLockedIfTheDeadlinesOfCallsPassWhileTheirStatementsWait() {
        String update = "update stock set left=? where id=?";
        shop.healthy(call -> call.own(2).in(Phase.SQL, update, 2).in(Phase.SQL, "select lot", 1));

        Diagnosis miss = missing(
                call -> call.own(2).interruptedIn(Phase.SQL, update, 3_000),
                call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 1_500).in(Phase.SQL, "select lot", 1));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("ROW LOCK: " + update);
        assertThat(miss.causes()).extracting(Cause::name).doesNotContain("statements", "select lot");
    }

    /** Serves calls, half of which reach their deadline of three seconds. */
    private Diagnosis missing(Consumer<Shop.Steps> late, Consumer<Shop.Steps> waiting) {
        fullPool(new Holders());
        Throwable deadline =
                new RpcException(StatusCode.DEADLINE_EXCEEDED, "OrderService/place was still running after 3000 ms");
        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                for (int i = 0; i < 20; i++) {
                    shop.call(Shop.PLACE, 0, i % 2 == 0 ? deadline : null, i % 2 == 0 ? late : waiting);
                }
            });
        }
        return shop.diagnosis();
    }

    @Test
    void poolThatTurnsTooSmallGetsNoTimeOfWorkThatHoldersDoNotDo() {
        shop.healthy(USUAL);
        hold(holder -> holder.begins("select stock"), ledger -> {});

        Diagnosis miss = shop.miss(call -> call.own(2)
                .in(Phase.JDBC_CONNECTION, "druid", 400)
                .in(Phase.SQL, "select stock", 3)
                .in(Phase.HTTP, "GET bank:80", 150));

        assertFirst(miss, "POOL TOO SMALL: druid");
    }
}
