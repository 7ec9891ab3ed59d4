package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import shop.Orders;
import shop.Tickets;
import tern.rpc.CallLedger;
import tern.rpc.NanoClock;
import tern.rpc.Phase;
import tern.rpc.diagnosis.failure.ErrorStatus;
import tern.rpc.diagnosis.failure.WebRefusals;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests which causes the diagnosis names for failed calls. */
class FailedCallsTest {

    private final Shop shop = new Shop().healthy(USUAL);

    private Diagnosis failing(@Nullable Throwable failure, Consumer<Shop.Steps> calls) {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(Shop.PLACE, 0, failure, calls);
                }
            });
        }
        return shop.diagnosis();
    }

    @Test
    void exceptionOfAServiceAfterASuccessfulRemoteCallIsTheServicesOwn() {
        Diagnosis miss =
                failing(Tickets.soldOut(), call -> call.own(1).in(Phase.RPC, "StockService.find at stock-1:20880", 2));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .startsWith("FAILURE: RpcException UNAVAILABLE in Tickets.soldOut");
    }

    @Test
    void errorStatusWithoutAnExceptionIsNamedWithItsRoute() {
        Diagnosis miss = failing(new ErrorStatus(500), USUAL);

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("FAILURE: status 500 of OrderService.place");
        assertThat(first(miss).change().text()).contains("no exception reached Spring");
        assertThat(miss.text()).containsPattern("1 FAILURE: status 500 .* 100 % of the failed and refused calls");
    }

    @Test
    void errorStatusAfterALongStatementIsTheStatements() {
        Diagnosis miss = failing(new ErrorStatus(500), call -> call.own(1).in(Phase.SQL, "select stock", 300));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: select stock");
        assertThat(miss.causes()).hasSize(1);
    }

    @Test
    void errorStatusAfterAFailedExchangeIsThePeers() {
        Diagnosis miss = failing(new ErrorStatus(500), call -> call.own(1).in(Phase.HTTP, "GET stock:80 (503)", 3));

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("PEER FAILS: GET stock:80 (503)");
    }

    @Test
    void exceptionAfterAFailedStatementIsTheStatements() {
        Diagnosis miss = failing(Orders.closed(), call -> call.own(1).in(Phase.SQL, "update stock (failed 40001)", 3));

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("FAILURE: SQLException 40001 of update stock");
        assertThat(first(miss).change().text()).contains("lock rows in the same order");
    }

    @Test
    void slowFailuresOfAStatementAreFailuresNotASlowStatement() {
        Diagnosis miss = shop.miss(call -> call.own(1).in(Phase.SQL, "update stock (failed 40P01)", 300));

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("FAILURE: SQLException 40P01 of update stock");
    }

    @Test
    void programmingErrorAfterALongStatementIsTheCodes() {
        Diagnosis miss = failing(new NullPointerException(), call -> call.own(1).in(Phase.SQL, "select stock", 300));

        assertThat(miss.causes()).anyMatch(cause -> cause.kind().equals("FAILURE"));
    }

    private static PoolSnapshot executor(String name, int active, long taken, long refused, double holdMillis) {
        return PoolSnapshot.builder(name, PoolKind.EXECUTOR, 4)
                .now(active, 4 - active, 0)
                .queueCapacity(10)
                .counts(taken, refused)
                .sums(Duration.ZERO, Duration.ofNanos((long) (taken * holdMillis * 1e6)))
                .build();
    }

    @Test
    void executorThatRejectsTasksIsNamedAlsoIfItsQueueHasDrained() {
        long[] tasks = {0};
        shop.pools.add(() -> executor("mail", 1, tasks[0], 0, 50));
        shop.pools.add(() -> executor("prices", 2, tasks[0], tasks[0] += 40, 50));
        Throwable failure = Tickets.rejected("Task rejected from java.util.concurrent.ThreadPoolExecutor@5e9[Running,"
                + " pool size = 4, active threads = 4, queued tasks = 10, completed tasks = 12]");

        Diagnosis miss = failing(failure, call -> call.own(2));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .startsWith("EXECUTOR FULL: prices in Tickets.rejected");
        assertThat(first(miss).change().text())
                .contains("11 threads for the executor")
                .contains("rejects tasks in Tickets.rejected");
        assertThat(miss.text()).contains("rejected ").contains("in a queue for 10");
    }

    @Test
    void executorOfTheProjectIsNamedByItsException() {
        shop.pools.add(() -> executor("mail", 4, 0, 0, 0));
        Diagnosis miss = failing(
                Tickets.rejected("the pool \"mail\" is full: 4 of 4 threads busy, 10 of 10 tasks waiting (set by x)"),
                call -> call.own(2));

        assertThat(DiagnosisText.title(first(miss))).startsWith("EXECUTOR FULL: mail in Tickets.rejected");
    }

    @Test
    void executorThatIsNoPoolIsNamedByThePlaceThatUsesIt() {
        Diagnosis miss = failing(Tickets.rejected("Task rejected from Executor[Running]"), call -> call.own(2));

        assertThat(DiagnosisText.title(first(miss))).startsWith("EXECUTOR FULL: executor used in Tickets.rejected");
        assertThat(first(miss).change().text()).contains("an executor rejects tasks in Tickets.rejected");
    }

    @Test
    void fullSchedulerOfReactorIsNamedWithItsProperty() {
        shop.pools.add(() -> executor("mail", 4, 0, 9, 0));
        Diagnosis miss = failing(
                Tickets.rejected("Task capacity of bounded elastic scheduler reached while scheduling 1 tasks"
                        + " (100001/100000)"),
                call -> call.own(2));

        assertThat(DiagnosisText.title(first(miss))).startsWith("EXECUTOR FULL: boundedElastic in Tickets.rejected");
        assertThat(first(miss).change().text()).contains("-Dreactor.schedulers.defaultBoundedElasticSize");
    }

    @Test
    void deepRecursionOfALibraryIsNamedByTheLibrary() {
        StackOverflowError overflow = new StackOverflowError();
        overflow.setStackTrace(new StackTraceElement[] {
            new StackTraceElement("java.util.regex.Pattern$Loop", "match", "Pattern.java", 4_900)
        });

        Diagnosis miss = failing(overflow, USUAL);

        assertThat(DiagnosisText.title(first(miss)))
                .isEqualTo("FAILURE: StackOverflowError in Pattern.Loop.match:4900");
    }

    @Test
    void executorThatWasShutDownIsNotFull() {
        Diagnosis miss = failing(Tickets.rejected("Task rejected from Executor[Terminated, pool size = 0]"), USUAL);

        assertThat(DiagnosisText.title(first(miss)))
                .startsWith("FAILURE: RejectedExecutionException (executor shut down) in Tickets.rejected");
        assertThat(first(miss).change().text()).contains("do not shut down an executor");
    }

    @Test
    void answerWithStatus503IsAFailureIfAnOperationFailed() {
        CallLedger failed = new CallLedger(NanoClock.SYSTEM);
        failed.add(Phase.HTTP, 1_000_000, "GET stock:80 (503)");
        CallLedger fine = new CallLedger(NanoClock.SYSTEM);
        fine.add(Phase.HTTP, 1_000_000, "GET stock:80");

        assertThat(WebRefusals.isFailure(failed, null)).isTrue();
        assertThat(WebRefusals.isFailure(fine, null)).isFalse();
        assertThat(WebRefusals.isFailure(fine, Orders.closed()))
                .as("the application refuses")
                .isFalse();
        assertThat(WebRefusals.isFailure(fine, new SQLException("deadlock", "40001")))
                .isTrue();
    }

    @Test
    void failureIsNamedAfterTheStatementThatTheDatabaseEnded() {
        SQLException ended = new SQLTransactionRollbackException("Deadlock found", "40001");
        Diagnosis named = failing(
                ended,
                call -> call.own(1)
                        .in(Phase.SQL, "update stock (failed 40001)", 3)
                        .in(Phase.SQL, "rollback", 9));
        assertThat(DiagnosisText.title(first(named)))
                .isEqualTo("FAILURE: SQLTransactionRollbackException 40001 of update stock");
        assertThat(named.causes()).hasSize(1);
    }

    @Test
    void failureIsNotNamedAfterTheRollbackThatFollowsIt() {
        Diagnosis miss = failing(
                new SQLTransactionRollbackException("Deadlock found", "40001"),
                call -> call.own(1).in(Phase.SQL, "update stock", 3).in(Phase.SQL, "rollback", 9));

        assertThat(DiagnosisText.title(first(miss)))
                .isEqualTo("FAILURE: SQLTransactionRollbackException 40001 of update stock");
    }
}
