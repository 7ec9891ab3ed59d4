package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import shop.Packages;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.cause.Cause;

/** Tests calls that hang because the results that they wait for never come. */
class LostResultsTest {

    private static final Consumer<Shop.Steps> USUAL = call -> call.own(2).in(Phase.SQL, "select label", 3);
    private static final String OTHERS = "LabelService.print";

    private final Shop shop = new Shop().healthy(USUAL);
    private final CompletableFuture<String> never = new CompletableFuture<>();
    private final WaitingCalls calls = new WaitingCalls(shop);

    @Test
    void resultsThatNeverComeWhileOthersDoAreNamedAsLost() throws Exception {
        Cause first = calls.firstCause(() -> Packages.of(never), USUAL);
        never.complete("");
        calls.join();

        assertThat(DiagnosisText.title(first)).isEqualTo("WAITS FOR A RESULT: Packages.of");
        assertThat(first.change().text())
                .startsWith("find out why nothing completes this result")
                .contains("these results probably never come, so wait for them with a timeout: 4 calls have waited")
                .doesNotContain("more threads");
        assertThat(first.evidence()).anyMatch(line -> line.startsWith("never    4 calls have waited for up to"));
    }

    /** Starts asynchronous calls that hang, and serves other calls in the meantime. */
    private Cause hangingAsynchronously(String method) {
        List<CallLedger> hanging = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            CallLedger ledger = shop.new Steps(0).ledger;
            ledger.turnTo(Phase.UNATTRIBUTED);
            hanging.add(ledger);
        }
        long started = shop.now();
        for (int second = 0; second < 6; second++) {
            long ran = shop.now() - started;
            shop.running.clear();
            hanging.forEach(ledger -> shop.running.add(
                    new RunningCall(method, RunningCall.NO_THREAD, Phase.UNATTRIBUTED, ran, ran, ledger)));
            shop.second(100, USUAL);
        }
        return first(shop.diagnosis());
    }

    @Test
    void resultsOfAsynchronousMethodsThatNeverComeAreNamedAsLost() {
        assertThat(hangingAsynchronously(Shop.PLACE).change().text())
                .startsWith("find out why nothing completes the results of asynchronous methods")
                .contains("4 calls have waited for up to");
    }

    @Test
    void resultsAreNotLostIfAllCallsOfTheMethodWait() {
        for (int i = 0; i < 30; i++) {
            shop.second(() -> {
                shop.call(OTHERS, 0, USUAL);
                shop.call(Shop.PLACE, 0, USUAL);
            });
        }

        assertThat(hangingAsynchronously(OTHERS).change().text())
                .isEqualTo("find out what completes the results of asynchronous methods so late");
    }
}
