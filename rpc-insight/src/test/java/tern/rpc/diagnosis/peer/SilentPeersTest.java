package tern.rpc.diagnosis.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.RunningCall;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.failure.TimeLimit;

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

    /** Simulates calls whose deadlines pass while their threads wait for an answer. */
    private void reachesDeadline(int calls, double waitMillis) {
        Throwable deadline =
                new RpcException(StatusCode.DEADLINE_EXCEEDED, "RateService/daily was still running after 1500 ms");
        for (int number = 0; number < calls; number++) {
            shop.call(
                    "RateService.daily",
                    0,
                    deadline,
                    call -> call.own(waitMillis).interruptedIn(Phase.HTTP, RATES, 1_500 - waitMillis));
        }
    }

    @Test
    void peerOfCallsWhoseDeadlinesPassDuringTheExchangeDoesNotAnswer() {
        Diagnosis miss = during(() -> {
            reachesDeadline(3, 1);
            reachesDeadline(3, 400);
            reachesDeadline(3, 1_450);
        });

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: " + RATES + ": does not answer");
        assertThat(first(miss).evidence())
                .anyMatch(fact -> fact.matches(
                        "silent   \\d+ of these in recorded calls got no answer; the answer" + " usually takes 11 ms"))
                .noneMatch(fact -> fact.contains("ms each"));
    }

    @Test
    void peerThatAnswersSomeCallsBeforeTheirDeadlinesIsSlow() {
        Diagnosis miss = during(() -> {
            reachesDeadline(6, 1);
            for (int number = 0; number < 3; number++) {
                shop.call("RateService.daily", 0, call -> call.own(1).in(Phase.HTTP, RATES, 1_200));
            }
        });

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW HTTP PEER: " + RATES);
    }

    @Test
    void peerDoesNotAnswerIfEachExchangeEndsAtTheTimeLimitAndTheCallContinues() {
        shop.limits.add(new TimeLimit(Phase.HTTP, "spring.http.clients.read-timeout", Duration.ofMillis(800)));
        Diagnosis miss = during(() -> {
            for (int number = 0; number < 9; number++) {
                shop.call("RateService.daily", 0, call -> call.own(1).in(Phase.HTTP, RATES, 806));
            }
        });

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: " + RATES + ": does not answer");
    }

    @Test
    void peerWhoseAnswersTakeLessThanTheTimeLimitIsSlow() {
        shop.limits.add(new TimeLimit(Phase.HTTP, "spring.http.clients.read-timeout", Duration.ofMillis(5_000)));
        Diagnosis miss = during(() -> {
            for (int number = 0; number < 9; number++) {
                shop.call("RateService.daily", 0, call -> call.own(1).in(Phase.HTTP, RATES, 806));
            }
        });

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW HTTP PEER: " + RATES);
    }

    @Test
    void providerThatDoesNotAnswerBeforeTheDeadlineOfTheServedCallIsSilent() {
        String remote = "StockService.find at 10.0.0.9:20880";
        for (int i = 0; i < 90; i++) {
            shop.second(() -> {
                for (int number = 0; number < 30; number++) {
                    shop.call("OrderService.show", 0, call -> call.own(1).in(Phase.RPC, remote, 7));
                }
            });
        }
        Throwable deadline = RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                "StockService/find: no answer from 10.0.0.9:20880 within 1490 ms (the remaining time of"
                        + " OrderService/show, the served call)",
                RpcException.Executed.MAYBE);

        Diagnosis miss = during(() -> {
            for (int number = 0; number < 9; number++) {
                shop.call("OrderService.show", 0, deadline, call -> call.own(10).in(Phase.RPC, remote, 1_490));
            }
        });

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: " + remote + ": does not answer");
    }
}
