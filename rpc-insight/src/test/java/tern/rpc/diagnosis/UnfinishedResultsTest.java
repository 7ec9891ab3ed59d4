package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import shop.Invoicing;
import tern.rpc.CallLedger;
import tern.rpc.LaterResult;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.RunningCall;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.cause.Cause;

/** Tests calls of asynchronous methods whose results come late or never. */
class UnfinishedResultsTest {

    private static final String INVOICE = "InvoiceService.invoice";
    private static final Consumer<Shop.Steps> USUAL = call -> call.own(2);
    private static final RpcException DEADLINE =
            new RpcException(StatusCode.DEADLINE_EXCEEDED, "InvoiceService/invoice was still running after 3000 ms");

    private final Shop shop = new Shop().healthy(USUAL);
    private final List<LaterResult> results = new ArrayList<>();

    private Consumer<Shop.Steps> asynchronous(double millis, boolean isComplete) {
        return call -> {
            LaterResult result = new LaterResult(() -> Invoicing.class);
            call.ledger.continuesWith(result);
            call.own(1).ledger.turnTo(Phase.UNATTRIBUTED);
            shop.pass(millis);
            results.add(result);
            if (isComplete) {
                result.complete();
            }
        };
    }

    private void second(Runnable calls) {
        shop.second(() -> {
            for (int i = 0; i < 50; i++) {
                shop.call(Shop.PLACE, 0, USUAL);
            }
            calls.run();
        });
    }

    private Cause firstCause(Runnable calls) {
        for (int i = 0; i < 10; i++) {
            second(calls);
        }
        return first(shop.diagnosis());
    }

    private void endsAtDeadline() {
        endWithoutResult(DEADLINE);
    }

    private void endWithoutResult(RpcException failure) {
        for (int i = 0; i < 20; i++) {
            shop.call(INVOICE, 0, failure, asynchronous(3_000, false));
        }
    }

    private void succeeds() {
        shop.call(INVOICE, 0, asynchronous(10, true));
    }

    @Test
    void resultWithoutWhichCallsEndAtTheirDeadlineIsNeverCompleted() {
        Cause first = firstCause(() -> {
            endsAtDeadline();
            succeeds();
            succeeds();
            succeeds();
        });

        assertThat(DiagnosisText.title(first)).isEqualTo("RESULT NEVER COMPLETED: " + INVOICE);
        assertThat(first.change().text())
                .startsWith("complete the result of InvoiceService.invoice on all paths of Invoicing.invoice:10-17")
                .contains("it is never completed in some calls", "they ended after up to 3001 ms")
                .doesNotContain("another process");
        assertThat(first.evidence()).anyMatch(line -> line.startsWith("never    "));
    }

    @Test
    void resultThatNoCallGetsMayAlsoBeMissedByAnotherProcess() {
        Cause first = firstCause(this::endsAtDeadline);

        assertThat(DiagnosisText.title(first)).isEqualTo("RESULT NEVER COMPLETED: " + INVOICE);
        assertThat(first.change().text()).contains("it is never completed; if another process completes it");
    }

    @Test
    void resultOfACallWhoseCallerHasLeftIsNeverCompleted() {
        RpcException gone = new RpcException(StatusCode.CANCELLED, "InvoiceService/invoice: the caller is gone");

        Cause first = firstCause(() -> {
            endWithoutResult(gone);
            succeeds();
        });

        assertThat(DiagnosisText.title(first)).isEqualTo("RESULT NEVER COMPLETED: " + INVOICE);
    }

    @Test
    void resultThatArrivesAfterTheDeadlineIsLate() {
        Cause first = firstCause(() -> {
            results.forEach(LaterResult::complete);
            endsAtDeadline();
            succeeds();
        });

        assertThat(DiagnosisText.title(first)).isEqualTo("OTHER THREADS: asynchronous work");
        assertThat(first.change().text()).endsWith("so late");
    }

    @Test
    void resultsAreLateIfSomeOfThemArriveAsLate() {
        Cause first = firstCause(() -> {
            endsAtDeadline();
            shop.call(INVOICE, 0, asynchronous(2_000, true));
        });

        assertThat(DiagnosisText.title(first)).isEqualTo("OTHER THREADS: asynchronous work");
    }

    @Test
    void resultsThatMayStillArriveAfterTheDeadlineAreNotYetNeverCompleted() {
        for (int i = 0; i < 30; i++) {
            second(this::succeeds);
        }
        second(() -> {
            for (int i = 0; i < 3; i++) {
                endsAtDeadline();
            }
        });
        shop.second(100, USUAL);

        assertThat(shop.diagnosis().text()).doesNotContain("NEVER COMPLETED");
    }

    @Test
    void resultForWhichCallsHangIsNeverCompleted() {
        List<CallLedger> hanging = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            CallLedger ledger = shop.new Steps(0).ledger;
            ledger.continuesWith(new LaterResult(() -> Invoicing.class));
            ledger.turnTo(Phase.UNATTRIBUTED);
            hanging.add(ledger);
        }
        long started = shop.now();

        Cause first = firstCause(() -> {
            long ran = shop.now() - started;
            shop.running.clear();
            hanging.forEach(ledger -> shop.running.add(
                    new RunningCall(INVOICE, RunningCall.NO_THREAD, Phase.UNATTRIBUTED, ran, ran, ledger)));
            succeeds();
        });

        assertThat(DiagnosisText.title(first)).isEqualTo("RESULT NEVER COMPLETED: " + INVOICE);
        assertThat(first.change().text()).contains("4 of 4 late calls got no result: they have waited for up to");
    }
}
