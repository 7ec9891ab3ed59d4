package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import shop.Packages;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;

/**
 * Tests calls that wait for a task that polls, for example on a virtual thread whose stack cannot be read. Only the
 * ledgers of the calls show the attempts.
 */
class PollingTasksTest {

    private static final Consumer<Shop.Steps> USUAL =
            call -> call.own(2).in(Phase.REDIS, "INCR number:*", 1).in(Phase.SQL, "select label", 1);

    private final Shop shop = new Shop().healthy(USUAL);

    private Cause first(Phase phase, String operation, int attempts, double millis) throws Exception {
        CompletableFuture<String> never = new CompletableFuture<>();
        WaitingCalls calls = new WaitingCalls(shop).after(ledger -> run(ledger, phase, operation, attempts, millis));
        Cause first = calls.firstCause(() -> Packages.of(never), USUAL);
        never.complete("");
        calls.join();
        return first;
    }

    private void run(CallLedger ledger, Phase phase, String operation, int times, double millis) {
        for (int i = 0; i < times; i++) {
            Phase outer = ledger.enter(phase);
            shop.pass(millis);
            ledger.leave(outer, operation);
        }
    }

    @Test
    void lockInRedisThatATaskPollsIsNamedWithItsKeyAndTheWaitForTheTask() throws Exception {
        Cause first = first(Phase.REDIS, "SET lock:yearbook", 98, 0.4);

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE POLLS: Packages.of for SET lock:yearbook");
        assertThat(first.change().text())
                .contains("another client holds this lock in Redis")
                .contains("delete its key if its holder no longer runs")
                .contains("98 times SET lock:yearbook per call, in the task for which calls wait in Packages.of:");
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, update job_lock set owner = ? where name = ? and owner is null, holds this lock in the database",
        "HTTP, GET localhost:9923/jobs/*/status, find out what the code waits for"
    })
    void rowOfALockTableAndStatusOfAPeerArePolledInTasksToo(Phase phase, String operation, String advice)
            throws Exception {
        Cause first = first(phase, operation, 40, 2);

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE POLLS: Packages.of for " + operation);
        assertThat(first.change().text()).contains(advice);
    }

    @Test
    void fewCommandsBeforeAWaitAreNoPolling() throws Exception {
        assertThat(DiagnosisText.title(first(Phase.REDIS, "SET lock:yearbook", 2, 0.4)))
                .isEqualTo("WAITS FOR A RESULT: Packages.of");
    }
}
