package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class CallLedgerTest {

    private final AtomicLong time = new AtomicLong(-7_000); // The clock starts below zero, as System.nanoTime() can.
    private final NanoClock clock = time::get;
    private final CallLedger ledger = new CallLedger(clock);

    private void pass(long nanos) {
        time.addAndGet(nanos);
    }

    private long nanos(Phase phase) {
        return ledger.nanos(phase, time.get());
    }

    @Test
    void timeOutsideOperationsIsTheCallsOwn() {
        pass(5);
        Phase outer = ledger.enter(Phase.SQL);
        pass(30);
        ledger.leave(outer);
        pass(7);

        assertThat(nanos(Phase.OWN)).isEqualTo(12);
        assertThat(nanos(Phase.SQL)).isEqualTo(30);
        assertThat(ledger.count(Phase.SQL)).isOne();
        assertThat(ledger.count(Phase.OWN)).isZero();
    }

    @Test
    void runningOperationIsKnownByTheNameThatItBeganWith() {
        Phase outer = ledger.enter(Phase.REDIS, "GET user:*");
        Phase command = ledger.enter(Phase.REDIS_CONNECTION);

        assertThat(ledger.running(Phase.REDIS)).isNull();

        ledger.leave(command, "jedis");

        assertThat(ledger.running(Phase.REDIS)).isEqualTo("GET user:*");

        ledger.leave(outer, "GET user:*");
        ledger.enter(Phase.REDIS);

        assertThat(ledger.running(Phase.REDIS)).isNull();
    }

    @Test
    void operationThatRanAtTheEndOfTheCallIsKnownAfterItHasEnded() {
        Phase outer = ledger.enter(Phase.HTTP, "GET stock:80");
        CompletableFuture.runAsync(ledger::end).join();
        ledger.leave(outer, "GET stock:80");

        assertThat(ledger.runningAtEnd(Phase.HTTP)).isEqualTo("GET stock:80");
        assertThat(ledger.runningAtEnd(Phase.SQL)).isNull();
    }

    @Test
    void operationThatEndedBeforeTheCallDidNotRunAtItsEnd() {
        Phase outer = ledger.enter(Phase.HTTP, "GET stock:80");
        ledger.leave(outer, "GET stock:80");
        CompletableFuture.runAsync(ledger::end).join();

        assertThat(ledger.runningAtEnd(Phase.HTTP)).isNull();
    }

    @Test
    void renamedOperationRunsUnderItsNewNameWithoutLosingTime() {
        Phase outer = ledger.enter(Phase.HTTP, "GET stock:80");
        pass(2_000_000);
        ledger.rename(Phase.SQL, "select 1");
        ledger.rename(Phase.HTTP, "GET stock:80 (redirect to stock-2:80)");

        String running = ledger.running(Phase.HTTP);
        ledger.leave(outer, running);

        assertThat(running).isEqualTo("GET stock:80 (redirect to stock-2:80)");
        assertThat(ledger.named())
                .containsExactly(
                        new NamedTimes.Entry(Phase.HTTP, "GET stock:80 (redirect to stock-2:80)", 1, 2_000_000));
    }

    @Test
    void operationOutsideOfCallsIsNotRenamed() {
        CallLedger.none().rename(Phase.OWN, "select 1");

        assertThat(CallLedger.none().running(Phase.OWN)).isNull();
    }

    @Test
    void readingAResultIsTimeOfItsOperationAndNoFurtherOne() {
        Phase outer = ledger.enter(Phase.SQL);
        pass(2_000_000);
        ledger.leave(outer, "select 1");
        for (int i = 0; i < 90; i++) {
            Phase reader = ledger.turnTo(Phase.SQL);
            pass(200_000);
            ledger.returnTo(reader, "select 1");
        }

        assertThat(ledger.count(Phase.SQL)).isOne();
        assertThat(ledger.named()).containsExactly(new NamedTimes.Entry(Phase.SQL, "select 1", 1, 20_000_000));
    }

    @Test
    void operationInsideAnotherInterruptsIt() {
        Phase outermost = ledger.enter(Phase.REDIS);
        pass(10);
        Phase redis = ledger.enter(Phase.REDIS_CONNECTION);
        pass(100);
        ledger.leave(redis);
        pass(20);
        ledger.leave(outermost);

        assertThat(redis).isEqualTo(Phase.REDIS);
        assertThat(nanos(Phase.REDIS)).isEqualTo(30);
        assertThat(nanos(Phase.REDIS_CONNECTION)).isEqualTo(100);
        assertThat(nanos(Phase.OWN)).isZero();
    }

    @Test
    void phasesOfOneThreadAddUpToTheWholeTime() {
        for (Phase phase : Phase.values()) {
            pass(3);
            Phase outer = ledger.enter(phase);
            pass(2);
            ledger.leave(outer);
        }

        long sum = 0;
        for (Phase phase : Phase.values()) {
            sum += nanos(phase);
        }

        assertThat(sum).isEqualTo(5L * Phase.values().length);
    }

    @Test
    void presentStretchCountsWhileItLasts() {
        ledger.enter(Phase.HTTP);
        pass(40);

        assertThat(nanos(Phase.HTTP)).isEqualTo(40);
        assertThat(ledger.look("OrderService.place", 55, time.get()))
                .isEqualTo(new RunningCall(
                        "OrderService.place", Thread.currentThread().getId(), Phase.HTTP, 40, 55, ledger));
    }

    @Test
    void longOperationIsKnownByItsName() {
        Phase outer = ledger.enter(Phase.SQL);
        pass(2_000_000);
        ledger.leave(outer, "select 1");

        assertThat(ledger.named()).containsExactly(new NamedTimes.Entry(Phase.SQL, "select 1", 1, 2_000_000));
    }

    @Test
    void shortOperationIsNamedOnlyInACallWithManyOperations() {
        for (int i = 0; i < 10; i++) {
            Phase outer = ledger.enter(Phase.REDIS);
            pass(1_000);
            ledger.leave(outer, "GET user:*");
        }

        assertThat(ledger.named()).containsExactly(new NamedTimes.Entry(Phase.REDIS, "GET user:*", 3, 3_000));
        assertThat(nanos(Phase.REDIS)).isEqualTo(10_000);
    }

    @Test
    void timeOfANameExcludesTheOperationsInside() {
        Phase outermost = ledger.enter(Phase.REDIS);
        pass(1_000_000);
        Phase redis = ledger.enter(Phase.REDIS_CONNECTION);
        pass(5_000_000);
        ledger.leave(redis, "jedis");
        pass(2_000_000);
        ledger.leave(outermost, "GET user:*");

        assertThat(ledger.named())
                .containsExactly(
                        new NamedTimes.Entry(Phase.REDIS_CONNECTION, "jedis", 1, 5_000_000),
                        new NamedTimes.Entry(Phase.REDIS, "GET user:*", 1, 2_000_000));
    }

    @Test
    void longestNamesStayWhenThereAreMany() {
        for (int i = 1; i <= 20; i++) {
            Phase outer = ledger.enter(Phase.SQL);
            pass(i * 1_000_000L);
            ledger.leave(outer, "statement " + i);
        }

        assertThat(ledger.named()).hasSize(8).anySatisfy(entry -> {
            assertThat(entry.name()).isEqualTo("statement 20");
            assertThat(entry.nanos()).isEqualTo(20_000_000);
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "update stock (failed 40001)",
                "GET stock:80 (failed)",
                "GET stock:80 (503)",
                "GET stock:80 (429)"
            })
    void nameOfAFailedOperationStaysWhenItIsShort(String failed) {
        Phase first = ledger.enter(Phase.SQL);
        pass(1_000);
        ledger.leave(first, failed);
        for (int i = 1; i <= 20; i++) {
            Phase outer = ledger.enter(Phase.SQL);
            pass(i * 1_000_000L);
            ledger.leave(outer, "insert into stock (id) values (" + i + ")");
        }

        assertThat(ledger.named()).contains(new NamedTimes.Entry(Phase.SQL, failed, 1, 1_000));
    }

    @Test
    void failedOperationReplacesALongerOneThatSucceeded() {
        for (int i = 1; i <= 8; i++) {
            Phase outer = ledger.enter(Phase.SQL);
            pass(i * 1_000_000L);
            ledger.leave(outer, "statement " + i);
        }

        Phase outer = ledger.enter(Phase.SQL);
        pass(200_000);
        ledger.leave(outer, "update stock (failed 40001)");

        assertThat(ledger.named())
                .contains(new NamedTimes.Entry(Phase.SQL, "update stock (failed 40001)", 1, 200_000))
                .noneMatch(entry -> entry.name().equals("statement 1"));
    }

    @Test
    void partsOfACallEndWithIt() {
        CallLedger part = ledger.child();
        assertThat(part.isEnded()).isFalse();

        pass(7);
        ledger.end();
        long end = time.get();
        pass(7);

        assertThat(part.isEnded()).isTrue();
        assertThat(part.endedNanos()).isEqualTo(end);
    }

    @Test
    void timeInTheQueueIsKnownFromTheBeginning() {
        CallLedger received = CallLedger.ofReceived(clock, time.get(), 90);
        pass(10);
        received.turnTo(Phase.OWN);
        pass(5);

        assertThat(received.nanos(Phase.QUEUE, time.get())).isEqualTo(90);
        assertThat(received.nanos(Phase.DECODE, time.get())).isEqualTo(10);
        assertThat(received.nanos(Phase.OWN, time.get())).isEqualTo(5);
    }

    @Test
    void externallyMeasuredTimeIsAdded() {
        ledger.add(Phase.LOGGING, 8);
        ledger.add(Phase.LOGGING, 9);

        assertThat(nanos(Phase.LOGGING)).isEqualTo(17);
        assertThat(ledger.count(Phase.LOGGING)).isEqualTo(2);
    }

    @Test
    void partsOfOtherThreadsAddUpWhenTheyEnd() {
        ledger.turnTo(Phase.UNATTRIBUTED);
        CompletableFuture.runAsync(() -> {
                    CallLedger part = ledger.child();
                    Phase outer = part.enter(Phase.SQL);
                    pass(30);
                    part.leave(outer);
                    pass(4);
                    part.join();
                })
                .join();
        pass(6);

        assertThat(nanos(Phase.SQL)).isEqualTo(30);
        assertThat(ledger.count(Phase.SQL)).isOne();
        assertThat(nanos(Phase.OWN)).isEqualTo(4);
        assertThat(nanos(Phase.UNATTRIBUTED))
                .as("what the other thread did not explain")
                .isEqualTo(6);
    }

    @Test
    void partsOfPartsAddUpInTheWhole() {
        CallLedger part = ledger.child();
        CallLedger partOfPart = part.child();
        Phase outer = partOfPart.enter(Phase.REDIS);
        pass(9);
        partOfPart.leave(outer);
        partOfPart.join();

        assertThat(nanos(Phase.REDIS)).isEqualTo(9);
        assertThat(part.count(Phase.REDIS)).isZero();
    }

    @Test
    void asynchronousOperationsExplainTheWait() {
        ledger.turnTo(Phase.UNATTRIBUTED);
        pass(10);
        AsyncOperation operation = ledger.child().begin(Phase.RPC, () -> "rates");
        pass(40);
        operation.end();

        assertThat(ledger.count(Phase.RPC)).isOne();
        assertThat(nanos(Phase.RPC)).isEqualTo(40);
        assertThat(nanos(Phase.UNATTRIBUTED)).isEqualTo(10);
    }

    /** Ends the call as a timer does at the deadline, while the call's thread continues to work. */
    private void endOnAnotherThread() {
        CompletableFuture.runAsync(ledger::end).join();
    }

    @ParameterizedTest
    @EnumSource(names = {"SQL", "REDIS", "HTTP", "RPC", "JDBC_CONNECTION", "HTTP_CONNECTION"})
    void operationThatTheEndOfTheCallInterruptsKeepsItsNameAndItsTimeUntilThen(Phase kind) {
        Phase outer = ledger.enter(kind, "the operation");
        pass(3_000_000);
        endOnAnotherThread();
        pass(50_000_000);
        ledger.leave(outer, "the operation");

        assertThat(ledger.named()).containsExactly(new NamedTimes.Entry(kind, "the operation", 1, 3_000_000));
        assertThat(nanos(kind)).isEqualTo(3_000_000);
        assertThat(ledger.count(kind)).isOne();
    }

    @Test
    void workOfTheThreadAfterTheEndOfTheCallIsNotTimeOfTheCall() {
        pass(7);
        Phase outer = ledger.enter(Phase.JDBC_CONNECTION, "orders");
        pass(2_000_000);
        endOnAnotherThread();
        ledger.leave(outer, "orders");
        Phase statement = ledger.enter(Phase.SQL, "select 1");
        pass(900_000_000);
        ledger.leave(statement, "select 1");
        pass(5);

        assertThat(nanos(Phase.OWN)).isEqualTo(7);
        assertThat(nanos(Phase.SQL)).isZero();
        assertThat(ledger.count(Phase.SQL)).isZero();
        assertThat(ledger.named()).containsExactly(new NamedTimes.Entry(Phase.JDBC_CONNECTION, "orders", 1, 2_000_000));
        assertThat(ledger.phase()).isEqualTo(Phase.OWN);
    }

    @Test
    void finishedOperationsKeepTheirTimesIfAnotherThreadEndsTheCall() {
        Phase outer = ledger.enter(Phase.SQL, "select 1");
        pass(2_000_000);
        ledger.leave(outer, "select 1");
        Phase again = ledger.enter(Phase.SQL, "select 1");
        pass(1_000_000);
        endOnAnotherThread();
        ledger.leave(again, "select 1");

        assertThat(ledger.named()).containsExactly(new NamedTimes.Entry(Phase.SQL, "select 1", 2, 3_000_000));
    }

    @Test
    void operationsThatRunAtTheEndOfTheCallStayUnfinished() {
        AsyncOperation answered = ledger.begin(Phase.HTTP, () -> "GET rates:80");
        AsyncOperation silent = ledger.begin(Phase.HTTP, () -> "GET stock:80");
        ledger.begin(Phase.RPC, () -> null);
        pass(5_000_000);
        answered.end("GET rates:80 (503)");
        pass(2_000_000);
        ledger.end();
        pass(1_000_000);
        silent.end();

        assertThat(ledger.named())
                .containsExactly(new NamedTimes.Entry(Phase.HTTP, "GET rates:80 (503)", 1, 5_000_000));
        assertThat(ledger.unfinished()).containsExactly(new NamedTimes.Entry(Phase.HTTP, "GET stock:80", 1, 7_000_000));
        assertThat(ledger.count(Phase.HTTP)).isEqualTo(2);
        assertThat(nanos(Phase.HTTP)).as("the call may not have waited").isEqualTo(5_000_000);
    }

    @Test
    void emptyLedgerRecordsNothing() {
        CallLedger none = CallLedger.none();

        none.leave(none.enter(Phase.SQL));
        none.add(Phase.SQL, 5);
        none.begin(Phase.SQL, () -> "statement").end();
        none.child().join();

        assertThat(none.child()).isSameAs(none);
        for (Phase phase : Phase.values()) {
            assertThat(none.nanos(phase, 1_000)).isZero();
            assertThat(none.count(phase)).isZero();
        }
    }

    @Test
    void threadThatServesNoCallHasNoLedger() {
        assertThat(CallLedger.current()).isSameAs(CallLedger.none());
    }

    @Test
    void columnWhoseNameBeginsWithFailedDoesNotCountAsFailure() {
        assertThat(NamedTimes.isFailed("insert into mail (failed_at)")).isFalse();
        assertThat(NamedTimes.isFailed("GET stock:80 (failed)")).isTrue();
        assertThat(NamedTimes.isFailed("update stock (failed 40001)")).isTrue();
    }
}
