package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import shop.Partner;
import shop.Tickets;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;

/** Tests calls whose code sleeps before it retries a failed operation. */
class RetriedOperationsTest {

    private final Shop shop = new Shop().healthy(USUAL);

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SQL | update stock (failed 40001) | ROW LOCK: update stock" + " | lock rows in the same order",
                "REDIS | SET stock:* (failed OOM) | PEER FAILS: Redis: answers OOM | raise maxmemory",
                "SQL | select stock (failed 57P01) | PEER FAILS: database: starting or shutting down (57P01)"
                        + " | find out who stops or restarts database",
                "HTTP | GET stock:80 (503) | PEER FAILS: GET stock:80 (503) | find out why GET stock:80 (503) fails",
                "RPC | StockService.find at stock-1:20880 (failed RESOURCE_EXHAUSTED)"
                        + " | PEER FAILS: StockService.find at stock-1:20880: RESOURCE_EXHAUSTED"
                        + " | read the log and the diagnosis of StockService.find at stock-1:20880"
            })
    void failedOperationIsTheCauseOfThePauseBeforeItsRepetition(Phase phase, String name, String title, String change)
            throws Exception {
        WaitingCalls calls = new WaitingCalls(shop).after(ledger -> ledger.add(phase, 2_000_000, name));
        try {
            Cause cause = calls.firstCause(Tickets::pause, USUAL);

            assertThat(DiagnosisText.title(cause)).isEqualTo(title);
            assertThat(cause.change().text())
                    .contains(change)
                    .contains("the code sleeps before it tries again, in Tickets.pause");
        } finally {
            calls.interrupt();
            calls.join();
        }
    }

    @Test
    void fewEndedStatementsAreEnoughBecauseTheirNamesAreOftenMissing() throws Exception {
        AtomicInteger ended = new AtomicInteger();
        WaitingCalls calls = new WaitingCalls(shop).after(ledger -> {
            if (ended.getAndIncrement() % 3 == 0) {
                ledger.add(Phase.SQL, 300_000, "update stock (failed 40001)");
            }
        });
        try {
            assertThat(DiagnosisText.title(calls.firstCause(Collections.nCopies(10, Tickets::pause), USUAL)))
                    .isEqualTo("ROW LOCK: update stock");
        } finally {
            calls.interrupt();
            calls.join();
        }
    }

    @Test
    void attemptsAndThePausesBetweenThemAreOneCause() throws Exception {
        WaitingCalls calls = new WaitingCalls(shop).after(ledger -> {
            ledger.add(Phase.HTTP, 150_000_000, "GET stock:80 (503)");
            ledger.add(Phase.HTTP, 150_000_000, "GET stock:80");
        });
        try {
            calls.firstCause(Tickets::pause, USUAL);

            assertThat(shop.diagnosis().causes())
                    .extracting(DiagnosisText::title)
                    .contains("PEER FAILS: GET stock:80 (503)")
                    .doesNotContain("SLOW HTTP PEER: GET stock:80");
        } finally {
            calls.interrupt();
            calls.join();
        }
    }

    @Test
    void peerThatFailsComesBeforeThePermitsThatAreHeldDuringTheRetries() throws Exception {
        AtomicInteger started = new AtomicInteger();
        WaitingCalls calls = new WaitingCalls(shop).after(ledger -> {
            if (started.getAndIncrement() < 2) {
                ledger.add(Phase.HTTP, 2_000_000, "GET partner:80/promotions (503)");
            }
        });
        Semaphore permits = new Semaphore(2);
        try {
            Cause cause = calls.firstCause(Collections.nCopies(12, () -> Partner.pass(permits)), USUAL);

            assertThat(DiagnosisText.title(cause)).isEqualTo("PEER FAILS: GET partner:80/promotions (503)");
            assertThat(cause.change().text())
                    .startsWith("find out why GET partner:80/promotions (503) fails; do not sleep within a call")
                    .endsWith("; release the permit before each new attempt, because other calls wait for the Semaphore"
                            + " wanted in Partner.pass")
                    .doesNotContain("more permits");
        } finally {
            calls.interrupt();
            calls.join();
        }
    }

    @Test
    void numberOfOperationsIsNotTheSameIfFewCallsRepeatAFailingOneAndTheOthersRunNone() {
        Shop calling = new Shop().healthy(call -> call.own(2).in(Phase.HTTP, "GET partner:80", 10));
        AtomicInteger number = new AtomicInteger();
        Diagnosis miss = calling.miss(call -> {
            boolean hasPermit = number.getAndIncrement() % 4 == 0;
            call.own(hasPermit ? 2 : 400);
            for (int attempt = 0; hasPermit && attempt < 4; attempt++) {
                call.in(Phase.HTTP, "GET partner:80 (503)", 100);
            }
        });

        assertThat(miss.text())
                .contains("changed  http operations: 4.0 of 4.0 fail, per call that runs any")
                .doesNotContainPattern("same .*http operations");
    }

    @Test
    void methodsOfOneProviderThatFailWithTheSameStatusAreOneCause() {
        Throwable refused = tern.rpc.RpcException.refusal(
                tern.rpc.StatusCode.RESOURCE_EXHAUSTED, "no worker was free", tern.rpc.RpcException.Executed.NO);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (String method : new String[] {"find", "reserve", "list"}) {
                    for (int call = 0; call < 20; call++) {
                        shop.call(
                                Shop.PLACE,
                                0,
                                refused,
                                steps -> steps.in(
                                        Phase.RPC,
                                        "StockService." + method + " at stock-1:20880 (failed RESOURCE_EXHAUSTED)",
                                        1));
                    }
                }
            });
        }

        Diagnosis miss = shop.diagnosis();
        assertThat(miss.causes())
                .extracting(DiagnosisText::title)
                .containsExactly("PEER FAILS: StockService at stock-1:20880: RESOURCE_EXHAUSTED");
        assertThat(miss.causes().get(0).evidence()).anyMatch(line -> line.matches("failed   (\\d+) of \\1 recorded.*"));
    }

    @Test
    void pauseInsideAClientBelongsToTheFailedExchangeThatTheClientRepeats() {
        Diagnosis miss = shop.miss(call -> {
            USUAL.accept(call);
            call.in(Phase.HTTP, "GET stock:80 (503)", 5).in(Phase.HTTP, null, 900);
        });

        assertThat(miss.causes()).extracting(DiagnosisText::title).containsExactly("PEER FAILS: GET stock:80 (503)");
    }

    /** An exception with the same simple name as the one that Spring's HTTP clients throw. */
    private static final class RestClientException extends RuntimeException {
        private static final long serialVersionUID = 1;

        RestClientException(String message) {
            super(message);
        }
    }

    private static void sleeps(SampledCall samples) {
        Part sleep = new Part(Part.Kind.SLEEP, "Patience.pause");
        List<StackTraceElement> path = List.of(new StackTraceElement("shop.Patience", "pause", null, 22));
        samples.add(new Sample(0, Phase.OWN, sleep, path, "Thread.sleep", null, null, false, null, -1, -1));
    }

    @Test
    void callsThatFailAfterTheirLastAttemptBelongToTheSameCause() {
        List<Cause> causes = new SampledCalls()
                .repeatingExchange(Shop.PLACE, "POST stock:80 (503)", 2, 5, 200, RetriedOperationsTest::sleeps)
                .failing(new RestClientException("503 Service Unavailable"))
                .repeatingExchange(Shop.PLACE, "POST stock:80 (503)", 4, 5, 390, RetriedOperationsTest::sleeps)
                .causes();

        assertThat(causes).extracting(DiagnosisText::title).containsExactly("PEER FAILS: POST stock:80 (503)");
        assertThat(causes.get(0).symptoms())
                .anyMatch(line -> line.startsWith("calls fail in the end: POST stock:80: HTTP status 503"));
    }
}
