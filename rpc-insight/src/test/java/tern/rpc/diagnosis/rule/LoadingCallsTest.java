package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.Packages;
import shop.Rates;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.WaitingCalls;
import tern.rpc.diagnosis.cause.Cause;

/** Tests calls waiting for a result that another call completes. */
class LoadingCallsTest {

    private final Shop shop = new Shop().healthy(call -> call.own(2));
    private final CompletableFuture<String> answer = new CompletableFuture<>();
    private final CountDownLatch published = new CountDownLatch(1);
    private final Rates rates = new Rates();
    private final WaitingCalls calls = new WaitingCalls(shop);

    @AfterEach
    void endThreads() throws InterruptedException {
        answer.complete("");
        published.countDown();
        calls.join();
    }

    private Cause firstCause(List<Runnable> waits) throws Exception {
        return calls.firstCause(waits, call -> call.own(2));
    }

    @Test
    void waitForAResultIsTheWaitForThePeerOfTheCallThatLoadsIt() throws Exception {
        Cause first = firstCause(Collections.nCopies(6, () -> rates.of(answer)));

        assertThat(DiagnosisText.title(first))
                .as(shop.diagnosis().text())
                .isEqualTo("SLOW HTTP PEER: called in Rates.of");
        assertThat(first.symptoms())
                .anySatisfy(symptom -> assertThat(symptom).contains("calls wait for the result of another call, in"));
        assertThat(first.saves()).isEqualTo(1);
    }

    @Test
    void callsInOtherCodeDoNotCompleteTheResult() throws Exception {
        List<Runnable> waits = new ArrayList<>(Collections.nCopies(5, () -> Rates.await(published)));
        waits.add(() -> Packages.extra(answer));

        Cause first = firstCause(waits);

        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo("WAITS FOR A RESULT: Rates.await");
    }
}
