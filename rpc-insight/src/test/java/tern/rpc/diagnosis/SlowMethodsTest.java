package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.Packages;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.Diagnosis.State;

/** Tests methods that are slow by nature from the start of the application, such as reports and blocking long polls. */
class SlowMethodsTest {

    private static final String REPORT = "ReportService.month";

    private final Shop shop = new Shop();
    private final CompletableFuture<String> event = new CompletableFuture<>();
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void endThreads() throws InterruptedException {
        event.complete("");
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void assertNoMiss() {
        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isNotEqualTo(State.MISS);
    }

    private void secondWithReports(double quickMillis) {
        shop.second(() -> {
            for (int call = 0; call < 100; call++) {
                shop.call(Shop.PLACE, 0, steps -> steps.own(quickMillis));
            }
            for (int call = 0; call < 5; call++) {
                shop.call(REPORT, 0, steps -> steps.own(5).in(Phase.SQL, "select month", 645));
            }
        });
    }

    @Test
    void frequentReportsFromTheStartAreNoMiss() {
        for (int second = 0; second < 150; second++) {
            secondWithReports(2);
            assertNoMiss();
        }

        assertThat(shop.diagnosis().state()).isEqualTo(State.HEALTHY);
    }

    @Test
    void quickMethodsThatBecomeSlowAfterwardsAreAMiss() {
        for (int second = 0; second < 100; second++) {
            secondWithReports(2);
        }
        for (int second = 0; second < 6; second++) {
            secondWithReports(150);
        }

        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(State.MISS);
        assertThat(shop.diagnosis().text()).doesNotContain(REPORT);
    }

    /** Serves quick calls for a second, while three calls to another method have already run for the given time. */
    private void secondWithRunning(String method, Phase phase, List<CallLedger> ledgers, int ranSeconds) {
        long ran = TimeUnit.SECONDS.toNanos(ranSeconds);
        shop.running.clear();
        for (int call = 0; call < 3; call++) {
            CallLedger ledger = ledgers.get(call);
            shop.running.add(new RunningCall(method, ledger.thread().getId(), phase, ran, ran, ledger));
        }
        shop.diagnostician.look();
        shop.second(100, USUAL);
    }

    private List<CallLedger> ledgersInSql() {
        List<CallLedger> ledgers = new ArrayList<>();
        for (int call = 0; call < 3; call++) {
            CallLedger ledger = CallLedger.ofReceived(shop::now, shop.now(), 0);
            ledger.turnTo(Phase.SQL);
            ledgers.add(ledger);
        }
        return ledgers;
    }

    @Test
    void runningReportsOfAnUnknownDurationDoNotHang() {
        for (int round = 0; round < 10; round++) {
            List<CallLedger> ledgers = ledgersInSql();
            for (int second = 1; second <= 8; second++) {
                secondWithRunning(REPORT, Phase.SQL, ledgers, second);
                assertNoMiss();
            }
            for (int call = 0; call < 3; call++) {
                shop.call(REPORT, 0, steps -> steps.in(Phase.SQL, "select month", 8_000));
            }
        }
    }

    @Test
    void reportsThatRunForMoreThanAMinuteHang() {
        List<CallLedger> ledgers = ledgersInSql();
        for (int second = 1; second <= 64; second++) {
            secondWithRunning(REPORT, Phase.SQL, ledgers, second);
        }

        assertThat(shop.diagnosis().state()).isEqualTo(State.MISS);
    }

    @Test
    void callsOfAMethodThatMetTheTargetHangFromTheStart() {
        shop.call(REPORT, 0, steps -> steps.own(1));
        List<CallLedger> ledgers = ledgersInSql();
        for (int second = 1; second <= 12; second++) {
            secondWithRunning(REPORT, Phase.SQL, ledgers, second);
        }

        assertThat(shop.diagnosis().state()).isEqualTo(State.MISS);
    }

    @Test
    void pollsThatBlockTheirThreadsMayTakeMinutes() throws Exception {
        List<CallLedger> ledgers = new ArrayList<>();
        for (int call = 0; call < 3; call++) {
            CompletableFuture<CallLedger> ledger = new CompletableFuture<>();
            Thread thread = new Thread(() -> {
                ledger.complete(new CallLedger(shop::now));
                Packages.of(event);
            });
            threads.add(thread);
            thread.start();
            ledgers.add(ledger.get());
            while (thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
        for (int second = 1; second <= 120; second++) {
            secondWithRunning("web.GET /events", Phase.OWN, ledgers, second);
            assertNoMiss();
        }
    }

    @Test
    void newSlowMethodThatOccupiesAllWorkersIsTheCauseOfRefusedCalls() {
        shop.healthy(USUAL);
        for (int second = 0; second < 6; second++) {
            shop.refused.merge("no worker is free", 200L, Long::sum);
            shop.second(() -> {
                for (int call = 0; call < 50; call++) {
                    shop.call(Shop.PLACE, 0, call % 10 == 0 ? steps -> steps.own(150) : USUAL);
                    shop.call("EventService.await", 0, steps -> steps.in(Phase.SQL, "select event", 2_400));
                }
            });
        }

        assertThat(DiagnosisText.title(shop.diagnosis().causes().get(0)))
                .as(shop.diagnosis().text())
                .isEqualTo("SLOW STATEMENT: select event");
    }
}
