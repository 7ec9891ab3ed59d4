package tern.rpc.diagnosis.excess;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.net.http.HttpTimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;

/** Tests HTTP peers that answer nothing, and peers that answer some exchanges. */
class SilentPeersTest {

    private static final String RATES = "GET rates:8080/daily";
    private static final String QUOTES = "POST rates:8080/quotes";
    private static final Throwable LATE = new HttpTimeoutException("request timed out");
    private static final Consumer<Shop.Steps> WITHOUT_PEER = call -> call.own(2);

    private final Shop shop = new Shop();

    SilentPeersTest() {
        for (int i = 0; i < 90; i++) {
            shop.second(() -> {
                for (int number = 0; number < 30; number++) {
                    shop.call("RateService.daily", 0, call -> call.own(1).in(Phase.HTTP, RATES, 11));
                    shop.call("RateService.quote", 0, call -> call.own(1).in(Phase.HTTP, QUOTES, 20));
                    shop.call(Shop.PLACE, 0, WITHOUT_PEER);
                }
            });
        }
    }

    /** Simulates seconds in which exchanges time out, and others are answered. */
    private Diagnosis during(Runnable calls) {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                calls.run();
                for (int number = 0; number < 60; number++) {
                    shop.call(Shop.PLACE, 0, WITHOUT_PEER);
                }
            });
        }
        return shop.diagnosis();
    }

    private void timesOut(String method, String exchange, int calls) {
        for (int number = 0; number < calls; number++) {
            shop.call(method, 0, LATE, call -> call.own(1).in(Phase.HTTP, exchange, 4_000));
        }
    }

    @Test
    void peerThatAnswersNoneOfItsExchangesIsOneCauseWithoutAdviceForALongerTimeout() {
        Diagnosis miss = during(() -> {
            timesOut("RateService.daily", RATES, 9);
            timesOut("RateService.quote", QUOTES, 1);
        });

        assertThat(miss.causes())
                .as(miss.text())
                .extracting(DiagnosisText::title)
                .containsExactly("PEER FAILS: rates:8080: does not answer");
        assertThat(first(miss).change().text())
                .startsWith("find out why rates:8080 answers no call")
                .contains("meanwhile use a fallback and a shorter timeout: a longer timeout would only let more calls"
                        + " wait");
    }

    @Test
    void onlyTheExchangesThatGetNoAnswerAreNamed() {
        Diagnosis miss = during(() -> {
            timesOut("RateService.daily", RATES, 10);
            for (int number = 0; number < 20; number++) {
                shop.call("RateService.quote", 0, call -> call.own(1).in(Phase.HTTP, QUOTES, 20));
            }
        });

        assertThat(miss.causes())
                .as(miss.text())
                .extracting(DiagnosisText::title)
                .containsExactly("PEER FAILS: " + RATES + ": does not answer");
        assertThat(first(miss).change().text())
                .startsWith("read the diagnosis and the log of " + RATES)
                .contains("answers other requests, so it runs");
    }

    @Test
    void peerThatAnswersSomeExchangesIsSlow() {
        Diagnosis miss = during(() -> {
            timesOut("RateService.daily", RATES, 10);
            for (int number = 0; number < 5; number++) {
                shop.call("RateService.daily", 0, call -> call.own(1).in(Phase.HTTP, RATES, 2_500));
            }
        });

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW HTTP PEER: " + RATES);
    }

    @Test
    void peerThatAnswersEachExchangeEquallyLateIsSlow() {
        Diagnosis miss = during(() -> {
            shop.running.clear();
            for (int number = 0; number < 5; number++) {
                shop.pass(-3_000);
                Shop.Steps running = shop.new Steps(0);
                running.ledger.enter(Phase.HTTP, RATES);
                shop.running.add(new RunningCall(
                        "RateService.daily",
                        RunningCall.NO_THREAD,
                        Phase.HTTP,
                        3_000_000_000L,
                        3_000_000_000L,
                        running.ledger));
                shop.pass(-1_000);
                shop.call("RateService.daily", 0, call -> call.own(1).in(Phase.HTTP, RATES, 3_999));
                shop.pass(4_000);
            }
        });

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW HTTP PEER: " + RATES);
    }

    @Test
    void exchangesWithoutATimeoutHangUntilThePeerAnswers() {
        Shop.Steps[] hanging = new Shop.Steps[4];
        for (int number = 0; number < hanging.length; number++) {
            hanging[number] = shop.new Steps(0);
            hanging[number].ledger.enter(Phase.HTTP, number % 2 == 0 ? RATES : QUOTES);
        }
        long started = shop.now();

        Diagnosis miss = during(() -> {
            shop.running.clear();
            for (Shop.Steps call : hanging) {
                shop.running.add(new RunningCall(
                        "RateService.daily",
                        RunningCall.NO_THREAD,
                        Phase.HTTP,
                        started,
                        shop.now() - started,
                        call.ledger));
            }
        });

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: rates:8080: does not answer");
    }
}
