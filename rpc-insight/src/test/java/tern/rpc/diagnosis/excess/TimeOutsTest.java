package tern.rpc.diagnosis.excess;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.io.InterruptedIOException;
import java.net.http.HttpTimeoutException;
import java.sql.SQLTimeoutException;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import shop.Tickets;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.failure.Exceptions;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.machine.Machine;

/** Tests timeouts that end calls within the latency target. */
class TimeOutsTest {

    private static final Consumer<Shop.Steps> USUAL =
            call -> call.own(2).in(Phase.SQL, "select stock", 30).in(Phase.HTTP, "GET stock:80", 40);

    private final Shop shop = new Shop().healthy(USUAL);

    private Diagnosis failing(Throwable failure, Consumer<Shop.Steps> calls) {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 20; call++) {
                    shop.call(Shop.PLACE, 0, failure, calls);
                    shop.call(Shop.PLACE, 0, USUAL);
                }
            });
        }
        return shop.diagnosis();
    }

    @Test
    void timeoutBelowTheUsualTimeIsTooShort() {
        HttpTimeoutException late = new HttpTimeoutException("request timed out");
        late.setStackTrace(new StackTraceElement[] {new StackTraceElement("shop.Orders", "find", "Orders.java", 41)});
        Diagnosis miss = failing(
                late, call -> call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.HTTP, "GET stock:80", 20));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TIMEOUT TOO SHORT: GET stock:80");
        assertThat(first(miss).change().text())
                .isEqualTo("set a longer timeout for GET stock:80, called in Orders.find:41: it ends after 20 ms and"
                        + " usually takes 40 ms");
        assertThat(miss.text()).contains("recorded calls failed because of its timeout");
    }

    @Test
    void timeoutOfAnOkHttpCallIsATimeout() {
        assertThat(Exceptions.isTimeOut(new InterruptedIOException("timeout"))).isTrue();
        assertThat(Exceptions.isTimeOut(new InterruptedIOException("executor rejected")))
                .isFalse();
    }

    @Test
    void timeoutOfAStatementIsNamedWithTheStatement() {
        Diagnosis miss =
                failing(new SQLTimeoutException("canceled"), call -> call.own(2).in(Phase.SQL, "select stock", 10));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("TIMEOUT TOO SHORT: select stock");
    }

    @Test
    void peerThatIsSlowerThanUsualIsTheCauseOfItsTimeouts() {
        Diagnosis miss = failing(
                new HttpTimeoutException("request timed out"),
                call -> call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.HTTP, "GET stock:80", 80));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW HTTP PEER: GET stock:80");
        assertThat(first(miss).change().text())
                .contains("a longer response timeout")
                .doesNotContain("shorter");
    }

    @Test
    void longerTimeoutIsNotRecommendedForAPeerThatUsuallyAnswersMuchSooner() {
        Diagnosis miss = failing(
                new HttpTimeoutException("request timed out"),
                call -> call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.HTTP, "GET stock:80", 5_000));

        assertThat(first(miss).change().text())
                .as(miss.text())
                .contains("use a fallback; a longer timeout would only let more calls wait");
    }

    @Test
    void deadlineOfTheCallerIsTooShort() {
        Diagnosis miss = failing(
                new RpcException(StatusCode.DEADLINE_EXCEEDED, "late"),
                call -> call.own(2).in(Phase.SQL, "select stock", 28));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("TIMEOUT TOO SHORT: deadline of the caller");
        assertThat(first(miss).change().text()).contains("calls end after 30 ms, and usually take 72 ms");
        assertThat(first(miss).change().where()).isEqualTo(Cause.Where.PEER);
    }

    /** Returns the failure that the server reports for a call that was still running at its deadline. */
    private static RpcException stillRunning(String method, long millis) {
        return RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                tern.rpc.transport.TimeOuts.stillRunning(method, millis),
                RpcException.Executed.MAYBE);
    }

    @Test
    void callerWhoseDeadlineIsTooShortIsNamedAlthoughTheCallMadeRemoteCalls() {
        Diagnosis miss = failing(stillRunning("OrderService/place", 30), call -> {
            call.caller = "10.0.0.7";
            call.own(2).in(Phase.RPC, "StockService.find at 10.0.0.9:20880", 1).in(Phase.SQL, "select stock", 27);
        });

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("TIMEOUT TOO SHORT: deadline of the caller 10.0.0.7");
        assertThat(first(miss).change().text())
                .startsWith("set a longer timeout for OrderService.place in the caller 10.0.0.7: calls end after 30"
                        + " ms, and"
                        + " usually take 72 ms");
        assertThat(first(miss).evidence())
                .anyMatch(line ->
                        line.matches("deadline the caller 10.0.0.7 gave up after 30 ms in \\d+ of \\d+ recorded .*"));
    }

    @Test
    void deadlineThatARemoteCallInheritsBelongsToTheCaller() {
        RpcException inherited = RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                "StockService/find: no answer from 10.0.0.9:20880 within 3 ms (the remaining time of"
                        + " OrderService/place,"
                        + " the served call)",
                RpcException.Executed.MAYBE);

        Diagnosis miss = failing(
                inherited,
                call -> call.own(2)
                        .in(Phase.SQL, "select stock", 25)
                        .in(Phase.RPC, "StockService.find at 10.0.0.9:20880", 3));

        assertThat(first(miss).name()).as(miss.text()).startsWith(FailurePart.DEADLINE);
    }

    @Test
    void methodThatIsSlowByDesignMayHaveACallerWithATooShortDeadline() {
        Shop slow = new Shop();
        for (int i = 0; i < 90; i++) {
            slow.second(() -> {
                for (int call = 0; call < 40; call++) {
                    slow.call(Shop.PLACE, 0, USUAL);
                }
                slow.call("ReportService.sales", 0, call -> call.own(180));
            });
        }

        for (int i = 0; i < 6; i++) {
            slow.second(() -> {
                for (int call = 0; call < 40; call++) {
                    slow.call(Shop.PLACE, 0, USUAL);
                }
                for (int call = 0; call < 4; call++) {
                    slow.call("ReportService.sales", 0, stillRunning("ReportService/sales", 150), steps -> {
                        steps.caller = "10.0.0.7";
                        steps.own(150);
                    });
                }
            });
        }

        assertThat(DiagnosisText.title(first(slow.diagnosis())))
                .as(slow.diagnosis().text())
                .isEqualTo("TIMEOUT TOO SHORT: deadline of the caller 10.0.0.7");
    }

    @Test
    void statementThatBecomesSlowerWithinTheDeadlineIsTheCause() {
        Shop quick = new Shop().healthy(call -> call.own(2).in(Phase.SQL, "select stock", 38));
        for (int i = 0; i < 6; i++) {
            quick.second(() -> {
                for (int call = 0; call < 40; call++) {
                    quick.call(
                            Shop.PLACE,
                            0,
                            stillRunning("OrderService/place", 50),
                            steps -> steps.own(2).in(Phase.SQL, "select stock", 48));
                }
            });
        }

        assertThat(DiagnosisText.title(first(quick.diagnosis())))
                .as(quick.diagnosis().text())
                .isEqualTo("SLOW STATEMENT: select stock");
    }

    @Test
    void timeoutOfARemoteCallIsNamedWithTheTimeOfItsAnswersAndWithItsProperty() {
        String operation = "StockService.reserve at 10.0.0.9:20880";
        Shop calling = new Shop().healthy(call -> call.own(2).in(Phase.RPC, operation, 40));
        RpcException late = RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                "StockService/reserve: no answer from 10.0.0.9:20880 within 20 ms (rpc.client.timeout)",
                RpcException.Executed.MAYBE);
        for (int i = 0; i < 6; i++) {
            calling.second(() -> {
                for (int call = 0; call < 40; call++) {
                    calling.call(Shop.PLACE, 0, late, steps -> steps.own(2).in(Phase.RPC, operation, 20));
                }
            });
        }

        Cause first = first(calling.diagnosis());
        assertThat(DiagnosisText.title(first)).isEqualTo("TIMEOUT TOO SHORT: " + operation);
        assertThat(first.change().text())
                .contains("it ends after 20 ms and usually takes 40 ms; the timeout is 20 ms (rpc.client.timeout)");
    }

    /** Returns the name of a call to the same method at one of three providers. */
    private static String panelAt(int call) {
        return "ReferenceService.wholePanel at 10.0.0." + call % 3 + ":20880";
    }

    @Test
    void timeoutAtSeveralProvidersIsOneCauseAlsoOnABusyMachine() {
        Shop calling = new Shop();
        for (int i = 0; i < 90; i++) {
            calling.second(() -> {
                for (int call = 0; call < 60; call++) {
                    String operation = panelAt(call);
                    calling.call(Shop.PLACE, 0, steps -> steps.own(2).in(Phase.RPC, operation, 45));
                }
            });
        }
        RpcException late = RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                "ReferenceService/wholePanel: no answer from 10.0.0.1:20880 within 35 ms"
                        + " (rpc.client.services.quick.timeout)",
                RpcException.Executed.MAYBE);
        calling.machine = new Machine(2, 0.1, 1.9, 0, 0, 0.2, null, 10e6, 10e6, List.of(), -1, null, List.of());
        for (int i = 0; i < 6; i++) {
            calling.second(() -> {
                for (int call = 0; call < 60; call++) {
                    String operation = panelAt(call);
                    calling.call(Shop.PLACE, 0, late, steps -> steps.own(2).in(Phase.RPC, operation, 35));
                }
            });
        }

        Diagnosis miss = calling.diagnosis();
        assertThat(miss.causes())
                .extracting(DiagnosisText::title)
                .containsExactly("TIMEOUT TOO SHORT: ReferenceService.wholePanel");
        assertThat(first(miss).change().text())
                .contains("it ends after 35 ms and usually takes 45 ms; the timeout is 35 ms"
                        + " (rpc.client.services.quick.timeout)");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "StockService/reserve at 10.0.0.9:20880: StockService/reserve: the deadline passed while the call waited"
                        + " for a worker; it was not run; the call had 4 ms (rpc.client.timeout)",
                "StockService/reserve at 10.0.0.9:20880: PriceService/of: no answer from 10.0.0.1:20880 within 3 ms (the"
                        + " remaining time of StockService/reserve, the served call); the call had 4 ms"
                        + " (rpc.client.timeout)",
                "StockService/reserve at 10.0.0.9:20880: still running after 4 ms (rpc.client.timeout)"
            })
    void deadlineFarBelowTheUsualTimeThatPassesAtTheProviderIsTooShort(String message) {
        String operation = "StockService.reserve at 10.0.0.9:20880";
        Shop calling = new Shop().healthy(call -> call.own(2).in(Phase.RPC, operation, 40));
        RpcException late = RpcException.refusal(StatusCode.DEADLINE_EXCEEDED, message, RpcException.Executed.MAYBE);
        for (int i = 0; i < 6; i++) {
            calling.second(() -> {
                for (int call = 0; call < 40; call++) {
                    calling.call(Shop.PLACE, 0, late, steps -> steps.own(2).in(Phase.RPC, operation, 4));
                }
            });
        }

        Cause first = first(calling.diagnosis());
        assertThat(DiagnosisText.title(first)).isEqualTo("TIMEOUT TOO SHORT: " + operation);
        assertThat(first.change().text()).contains("usually takes 40 ms; the timeout is 4 ms (rpc.client.timeout)");
    }

    @Test
    void shortDeadlineThatHasAlwaysCutOffTheLongerAnswersIsTooShort() {
        String operation = "StockService.reserve at 10.0.0.9:20880";
        Shop calling = new Shop();
        RpcException late = RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                "StockService/reserve: no answer from 10.0.0.9:20880 within 4 ms (@RpcReference of Orders.stock)",
                RpcException.Executed.MAYBE);
        for (int i = 0; i < 75; i++) {
            int late100 = i < 66 ? 1 : 40; // the number of calls that the deadline ends, of 100
            calling.second(() -> {
                for (int call = 0; call < 100; call++) {
                    boolean ends = call < late100;
                    double millis = ends ? 4.2 : 2.4 + call % 10 * 0.16;
                    calling.call(
                            Shop.PLACE,
                            0,
                            ends ? late : null,
                            steps -> steps.own(1).in(Phase.RPC, operation, millis));
                }
            });
        }

        Cause first = first(calling.diagnosis());
        assertThat(DiagnosisText.title(first)).isEqualTo("TIMEOUT TOO SHORT: " + operation);
        assertThat(first.change().text()).contains("4 ms (@RpcReference of Orders.stock)");
    }

    @Test
    void deadlineThatPassesBeforeTheRequestIsSentIsTooShort() {
        Shop calling = new Shop().healthy(call -> call.own(2).in(Phase.RPC, "StockService.reserve at s:1", 40));
        RpcException late = RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                "shop.StockService/reserve was not sent, because its deadline has passed: 1 ms (@RpcMethod of reserve)",
                RpcException.Executed.NO);
        for (int i = 0; i < 6; i++) {
            calling.second(() -> {
                for (int call = 0; call < 40; call++) {
                    calling.call(Shop.PLACE, 0, late, steps -> steps.own(3));
                }
            });
        }

        Cause first = first(calling.diagnosis());
        assertThat(DiagnosisText.title(first)).isEqualTo("TIMEOUT TOO SHORT: StockService.reserve");
        assertThat(first.change().text()).contains("1 ms (@RpcMethod of reserve)");
    }

    @Test
    void timeoutWithinTheProviderIsAFailureOfTheProvider() {
        String operation = "LabService.report at 10.0.0.9:20880";
        Shop calling = new Shop().healthy(call -> call.own(2).in(Phase.RPC, operation, 56));
        RpcException below = RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                "LabService/report at 10.0.0.9:20880: ReferenceService/wholePanel: no answer from 10.0.0.1:20880 within"
                        + " 35 ms (rpc.client.services.quick.timeout); the call had 3000 ms (rpc.client.timeout)",
                RpcException.Executed.YES);
        for (int i = 0; i < 6; i++) {
            calling.second(() -> {
                for (int call = 0; call < 60; call++) {
                    calling.call(Shop.PLACE, 0, below, steps -> steps.own(2).in(Phase.RPC, operation, 46));
                }
            });
        }

        assertThat(DiagnosisText.title(first(calling.diagnosis())))
                .isEqualTo("PEER FAILS: " + operation + ": DEADLINE_EXCEEDED");
        assertThat(first(calling.diagnosis()).change().text()).startsWith("read the diagnosis of " + operation);
    }

    @Test
    void timeoutOfARemoteCallThatHasNeverAnsweredIsNamedWithItsProperty() {
        RpcException late = RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                "StockService/reserve: no answer from 10.0.0.9:20880 within 20 ms (rpc.client.timeout)",
                RpcException.Executed.MAYBE);

        Diagnosis miss = failing(late, call -> call.own(2).in(Phase.RPC, "StockService.reserve at 10.0.0.9:20880", 20));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("TIMEOUT TOO SHORT: StockService.reserve at 10.0.0.9:20880");
        assertThat(first(miss).change().text()).startsWith("set a longer timeout than 20 ms (rpc.client.timeout) for");
    }

    @Test
    void providerThatAnswersNoMethodInTimeIsProbablyPausedAndNeedsNoLongerTimeout() {
        String stock = "StockService.level at 10.0.0.9:20880";
        String catalog = "CatalogService.article at 10.0.0.9:20880";
        Shop consumer =
                new Shop().healthy(call -> call.own(2).in(Phase.RPC, stock, 10).in(Phase.RPC, catalog, 14));
        RpcException late = RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                "StockService/level: no answer from 10.0.0.9:20880 within 3000 ms (rpc.client.timeout)",
                RpcException.Executed.MAYBE);
        for (int i = 0; i < 6; i++) {
            consumer.second(() -> {
                for (int number = 0; number < 20; number++) {
                    String method = number % 2 == 0 ? stock : catalog;
                    consumer.call(Shop.PLACE, 0, late, call -> call.own(2).in(Phase.RPC, method, 3_000));
                }
            });
        }

        Cause first = first(consumer.diagnosis());
        assertThat(DiagnosisText.title(first))
                .as(consumer.diagnosis().text())
                .isEqualTo("PEER FAILS: 10.0.0.9:20880: does not answer");
        assertThat(first.change().text())
                .startsWith("find out why 10.0.0.9:20880 answers no call: it is most likely stopped, paused")
                .contains("use a fallback and a shorter timeout", "a longer timeout would only let more calls wait")
                .doesNotContain("or a longer timeout");
    }

    @Test
    void callsWhoseCallersHaveLeftHaveNotFailed() {
        RpcException left = RpcException.refusal(
                StatusCode.CANCELLED, "OrderService/place: the caller is gone", RpcException.Executed.MAYBE);

        Diagnosis miss = failing(left, call -> call.own(2));

        assertThat(miss.state()).as(miss.text()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void lateCallWhoseCallerHasLeftIsLate() {
        RpcException left = RpcException.refusal(
                StatusCode.CANCELLED, "OrderService/place: the caller is gone", RpcException.Executed.MAYBE);

        Diagnosis miss = failing(left, call -> call.own(2).in(Phase.SQL, "select stock", 300));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: select stock");
    }

    @Test
    void statementThatExceedsTheDeadlineOfTheCallerIsTheCause() {
        Shop quick = new Shop().healthy(call -> call.own(2).in(Phase.SQL, "select stock", 3));
        for (int i = 0; i < 6; i++) {
            quick.second(() -> {
                for (int call = 0; call < 40; call++) {
                    quick.call(
                            Shop.PLACE,
                            0,
                            new RpcException(StatusCode.DEADLINE_EXCEEDED, "late"),
                            steps -> steps.own(2).in(Phase.SQL, "select stock", 80));
                }
            });
        }

        assertThat(DiagnosisText.title(first(quick.diagnosis()))).isEqualTo("SLOW STATEMENT: select stock");
    }

    @Test
    void codeThatGivesUpIsNamedWithItsPlace() {
        Diagnosis miss = failing(Tickets.gaveUp(), call -> call.own(40));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .startsWith("TIMEOUT TOO SHORT: TimeoutException in Tickets.gaveUp");
    }
}
