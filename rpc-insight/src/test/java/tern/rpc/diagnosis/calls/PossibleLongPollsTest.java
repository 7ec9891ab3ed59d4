package tern.rpc.diagnosis.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import shop.Packages;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.DelayedThreadsTest;
import tern.rpc.diagnosis.Diagnosis.State;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;

/** Tests calls waiting for an event before the diagnosis has learned how long such calls usually take. */
class PossibleLongPollsTest {

    private static final String POLL = "web.GET /events";

    private final Shop shop = new Shop();
    private final List<CallLedger> ledgers = new ArrayList<>();

    private void begin(int polls) {
        for (int i = 0; i < polls; i++) {
            CallLedger ledger = CallLedger.ofReceived(shop::now, shop.now(), 0);
            ledger.turnTo(Phase.UNATTRIBUTED);
            ledgers.add(ledger);
        }
    }

    /** Simulates one second in which all long polls are still running and 100 quick calls to another method end. */
    private void second(int polledSeconds) {
        long ran = TimeUnit.SECONDS.toNanos(polledSeconds);
        shop.running.clear();
        ledgers.forEach(ledger ->
                shop.running.add(new RunningCall(POLL, RunningCall.NO_THREAD, Phase.UNATTRIBUTED, ran, ran, ledger)));
        shop.second(100, USUAL);
    }

    /** Repeatedly serves three calls that take 20 seconds each. */
    private void poll(int times) {
        for (int i = 0; i < times; i++) {
            begin(3);
            for (int second = 1; second <= 20; second++) {
                second(second);
                assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isNotEqualTo(State.MISS);
            }
            ledgers.clear();
            for (int call = 0; call < 3; call++) {
                shop.call(POLL, 0, steps -> steps.in(Phase.UNATTRIBUTED, null, 20_000));
            }
        }
    }

    /** The processors are saturated, and some calls to another method are slow for a different reason. */
    @Test
    void longPollThatWaitsIsNoCauseWhileProcessorsAreFull() throws Exception {
        shop.machine = DelayedThreadsTest.full(0.4, 0.4);
        shop.healthy(USUAL);
        CompletableFuture<String> event = new CompletableFuture<>();
        Thread thread = new Thread(() -> Packages.of(event));
        thread.start();
        begin(1);
        ledgers.get(0).turnTo(Phase.OWN);
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        for (int second = 0; second < 6; second++) {
            for (int look = 0; look < 8; look++) {
                long ran = TimeUnit.SECONDS.toNanos(second + 2);
                shop.running.clear();
                ledgers.forEach(
                        ledger -> shop.running.add(new RunningCall(POLL, thread.getId(), Phase.OWN, ran, ran, ledger)));
                shop.diagnostician.look();
                shop.pass(100);
            }
            shop.second(() -> {
                for (int call = 0; call < 20; call++) {
                    shop.call(Shop.PLACE, 0, call < 6 ? steps -> steps.in(Phase.SQL, "select stock", 150) : USUAL);
                }
            });
        }
        event.complete("");
        thread.join();

        assertThat(DiagnosisText.title(Shop.first(shop.diagnosis())))
                .as(shop.diagnosis().text())
                .isEqualTo("SLOW STATEMENT: select stock");
    }

    /** The long polls wait without a thread, and some of them end while calls to another method are slow. */
    @Test
    void endedLongPollsWithoutAThreadAreNoCauseWhileProcessorsAreFull() {
        shop.machine = DelayedThreadsTest.full(0.4, 0.4);
        shop.healthy(USUAL);
        for (int second = 0; second < 6; second++) {
            shop.second(() -> {
                for (int call = 0; call < 20; call++) {
                    shop.call(Shop.PLACE, 0, call < 6 ? steps -> steps.in(Phase.SQL, "select stock", 150) : USUAL);
                }
                for (int poll = 0; poll < 3; poll++) {
                    shop.call(POLL, 0, steps -> steps.in(Phase.UNATTRIBUTED, null, 16_000));
                }
            });
        }

        assertThat(DiagnosisText.title(Shop.first(shop.diagnosis())))
                .as(shop.diagnosis().text())
                .isEqualTo("SLOW STATEMENT: select stock");
    }

    @Test
    void longPollsFromTheStartNeverSeemToHang() {
        poll(25);

        assertThat(shop.diagnosis().state()).isEqualTo(State.HEALTHY);
    }

    @Test
    void diagnosisSaysThatCallsLookLikeALongPoll() {
        begin(3);
        for (int second = 1; second <= 70; second++) {
            second(second);
        }

        assertThat(shop.diagnosis().state()).isEqualTo(State.HEALTHY);
        assertThat(shop.diagnosis().text())
                .contains("\n  ignored  running calls of web.GET /events: this looks like a long poll");
        ledgers.clear();
        second(71);
        assertThat(shop.diagnosis().text()).doesNotContain("long poll");
    }

    @Test
    void callsOfTwoMethodsLookLikeLongPolls() {
        begin(3);
        for (int second = 1; second <= 70; second++) {
            long ran = TimeUnit.SECONDS.toNanos(second);
            shop.running.clear();
            for (int i = 0; i < ledgers.size(); i++) {
                String method = i == 0 ? "web.GET /ticks" : POLL;
                shop.running.add(new RunningCall(method, 1, Phase.HTTP, ran, ran, ledgers.get(i)));
            }
            shop.second(100, USUAL);
        }

        assertThat(shop.diagnosis().text())
                .contains("\n  ignored  running calls of web.GET /events, web.GET /ticks: these look like long polls,"
                        + " because no call of them has met the target yet");
    }

    @ParameterizedTest
    @EnumSource(
            value = Phase.class,
            names = {"RPC", "HTTP"})
    void callsThatWaitForTheLongPollOfAPeerAreIgnored(Phase phase) {
        begin(3);
        for (int second = 1; second <= 90; second++) {
            long ran = TimeUnit.SECONDS.toNanos(second);
            shop.running.clear();
            ledgers.forEach(ledger -> shop.running.add(new RunningCall(POLL, 1, phase, ran, ran, ledger)));
            shop.second(100, USUAL);
        }

        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(State.HEALTHY);
        assertThat(shop.diagnosis().text()).contains("this looks like a long poll");
    }

    @Test
    void callsThatNeverEndHangAfterTheFirstMinutes() {
        begin(3);
        for (int second = 1; second <= 310; second++) {
            second(second);
            if (second < 290) {
                assertThat(shop.diagnosis().state()).as("second " + second).isNotEqualTo(State.MISS);
            }
        }

        assertThat(shop.diagnosis().state()).isEqualTo(State.MISS);
    }

    @Test
    void callsWithARunningOperationHangFromTheStart() {
        begin(3);
        ledgers.forEach(ledger -> ledger.begin(Phase.HTTP, () -> "GET stock:8080/levels"));
        for (int second = 1; second <= 12; second++) {
            second(second);
        }

        assertThat(shop.diagnosis().state()).isEqualTo(State.MISS);
    }

    @Test
    void callsToAMethodThatMetTheTargetHangFromTheStart() {
        shop.call(POLL, 0, steps -> steps.own(1));
        begin(3);
        for (int second = 1; second <= 12; second++) {
            second(second);
        }

        assertThat(shop.diagnosis().state()).isEqualTo(State.MISS);
    }

    @Test
    void callsThatHangForAFewSecondsAfterTheStartAreNotJudged() {
        begin(3);
        ledgers.forEach(ledger -> ledger.begin(Phase.REDIS, () -> "GET status:*"));
        for (int second = 1; second <= 6; second++) {
            second(second);
            assertThat(shop.diagnosis().state()).as("second " + second).isEqualTo(State.QUIET);
        }
        ledgers.clear();
        second(7);

        assertThat(shop.diagnosis().state()).isEqualTo(State.QUIET);
    }
}
