package tern.rpc.diagnosis.excess;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.MethodRate;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Machine;

/** Tests methods that are called more often than usual. */
class MoreCallsTest {

    private static final String REPORT = "ReportService.sales";
    private static final Consumer<Shop.Steps> SHORT = call -> call.own(1).in(Phase.SQL, "select stock", 2);
    private static final Consumer<Shop.Steps> LONG =
            call -> call.own(2).in(Phase.SQL, "select sum from sales", 20).in(Phase.SQL, "select a from visits", 20);

    private final Shop shop = new Shop();

    /** Simulates a second with the given numbers of calls. */
    private void second(int orders, int reports, Consumer<Shop.Steps> order, Consumer<Shop.Steps> report) {
        shop.second(() -> {
            for (int i = 0; i < orders; i++) {
                shop.call(Shop.PLACE, 0, call -> {
                    call.caller = "10.0.0.3";
                    order.accept(call);
                });
            }
            for (int i = 0; i < reports; i++) {
                shop.call(REPORT, 0, call -> {
                    call.caller = "10.0.0.7";
                    report.accept(call);
                });
            }
        });
    }

    private void healthy() {
        for (int i = 0; i < 90; i++) {
            second(100, 10, SHORT, LONG);
        }
    }

    /** Returns the given steps, run against a database that is slower for all statements. */
    private static Consumer<Shop.Steps> slow(Consumer<Shop.Steps> usual) {
        return call -> {
            if (usual == SHORT) {
                call.own(1).in(Phase.SQL, "select stock", 130);
            } else {
                call.own(2).in(Phase.SQL, "select sum from sales", 150).in(Phase.SQL, "select a from visits", 150);
            }
        };
    }

    @Test
    void methodThatIsCalledSeveralTimesAsOftenIsNamedWithItsCaller() {
        healthy();

        for (int i = 0; i < 6; i++) {
            second(100, 60, slow(SHORT), slow(LONG));
        }

        Cause first = first(shop.diagnosis());
        assertThat(DiagnosisText.title(first))
                .as(shop.diagnosis().text())
                .isEqualTo("MORE CALLS: callers of " + REPORT);
        assertThat(first.change().text())
                .matches("the caller 10.0.0.7 sends [56] times the usual calls of " + REPORT + ":.*");
        assertThat(first.evidence())
                .anyMatch(line -> line.matches("method   " + REPORT + ": \\d+ calls/s, usually 10, since \\d+ s"));
        assertThat(first.symptoms()).anyMatch(line -> line.contains("calls wait for the database"));
    }

    @Test
    void oneCallerThatSendsMuchMoreThanTwiceTheCallsIsNamed() {
        healthy();

        for (int i = 0; i < 6; i++) {
            second(100, 34, slow(SHORT), slow(LONG));
        }

        // In some seconds of the observed period, the number of calls is normal.
        assertThat(first(shop.diagnosis()).change().text())
                .as(shop.diagnosis().text())
                .matches("the caller 10.0.0.7 sends (2\\.\\d|3) times the usual calls of " + REPORT + ":.*");
    }

    @Test
    void rateOfTheFirstHealthySecondsIsNotUsual() {
        for (int i = 0; i < 66; i++) {
            second(10, 2, SHORT, LONG);
        }
        for (int i = 0; i < 6; i++) {
            second(100, 60, slow(SHORT), slow(LONG));
        }

        assertThat(first(shop.diagnosis()).kind()).as(shop.diagnosis().text()).isNotEqualTo("MORE CALLS");
    }

    @Test
    void rateThatHasLastedForALongTimeIsUsual() {
        MethodRate rate = new MethodRate(REPORT, 60, 10, 700_000_000_000L, null, 0, null, 10, -1);

        assertThat(rate.isLasting()).isTrue();
        assertThat(new MethodRate(REPORT, 60, 10, 300_000_000_000L, null, 0, null, 10, -1).isLasting())
                .isFalse();
    }

    @Test
    void additionalCallsStayTheCauseForMinutes() {
        healthy();

        for (int i = 0; i < 80; i++) {
            second(100, 60, slow(SHORT), slow(LONG));
        }

        assertThat(first(shop.diagnosis()).kind()).as(shop.diagnosis().text()).isEqualTo("MORE CALLS");
    }

    @Test
    void slowDatabaseIsTheCauseIfNoMethodIsCalledMoreOften() {
        healthy();

        for (int i = 0; i < 6; i++) {
            second(100, 10, slow(SHORT), slow(LONG));
        }

        assertThat(first(shop.diagnosis()).kind()).isEqualTo("SLOW DATABASE");
    }

    @Test
    void additionalCallsOfAShortMethodDoNotExplainASlowDatabase() {
        for (int i = 0; i < 90; i++) {
            second(10, 30, SHORT, LONG);
        }

        for (int i = 0; i < 6; i++) {
            second(60, 30, slow(SHORT), slow(LONG));
        }

        assertThat(first(shop.diagnosis()).kind()).as(shop.diagnosis().text()).isEqualTo("SLOW DATABASE");
    }

    @Test
    void callersThatRepeatLateCallsAreNotTheCause() {
        healthy();

        for (int i = 0; i < 12; i++) {
            second(100, 10, slow(SHORT), slow(LONG));
        }
        for (int i = 0; i < 6; i++) {
            second(100, 80, slow(SHORT), slow(LONG));
        }

        assertThat(first(shop.diagnosis()).kind()).as(shop.diagnosis().text()).isEqualTo("SLOW DATABASE");
    }

    @Test
    void slowStatementOfAMethodThatIsCalledMoreOftenStaysTheCause() {
        healthy();

        for (int i = 0; i < 6; i++) {
            second(
                    100,
                    60,
                    SHORT,
                    call -> call.own(2)
                            .in(Phase.SQL, "select sum from sales", 400)
                            .in(Phase.SQL, "select a from visits", 20));
        }

        assertThat(DiagnosisText.title(first(shop.diagnosis())))
                .as(shop.diagnosis().text())
                .isEqualTo("SLOW STATEMENT: select sum from sales");
        assertThat(first(shop.diagnosis()).changed())
                .anyMatch(line ->
                        line.startsWith("changed  calls of " + REPORT) && line.endsWith("mostly from 10.0.0.7"));
    }

    @Test
    void processorsThatAdditionalCallsKeepBusyAreASymptom() {
        healthy();
        shop.machine = new Machine(2, 1.9, 0.1, 0, 0, 0.2, null, 10e6, 10e6, List.of(), -1, null, List.of());

        for (int i = 0; i < 6; i++) {
            second(100, 60, slow(SHORT), slow(LONG));
        }

        assertThat(first(shop.diagnosis()).kind()).as(shop.diagnosis().text()).isEqualTo("MORE CALLS");
    }

    @Test
    void methodThatIsUsuallyCalledInBurstsIsNoCause() {
        for (int i = 0; i < 120; i++) {
            second(100, i % 3 == 0 ? 30 : 0, SHORT, LONG);
        }

        for (int i = 0; i < 9; i++) {
            second(100, i % 3 == 0 ? 30 : 0, slow(SHORT), slow(LONG));
        }

        assertThat(first(shop.diagnosis()).kind()).as(shop.diagnosis().text()).isEqualTo("SLOW DATABASE");
    }

    /** Simulates seconds in which the given number of callers request reports, each at the same rate. */
    private void reportsFrom(int from, int callers, int seconds, int each, Consumer<Shop.Steps> report) {
        for (int i = 0; i < seconds; i++) {
            shop.second(() -> {
                for (int call = 0; call < callers * each; call++) {
                    String address = "10.0.1." + (from + call % callers);
                    shop.call(REPORT, 0, steps -> {
                        steps.caller = address;
                        report.accept(steps);
                    });
                }
            });
        }
    }

    private List<String> changed() {
        return shop.diagnosis().causes().stream()
                .flatMap(cause -> cause.changed().stream())
                .filter(line -> line.startsWith("changed  calls of " + REPORT))
                .toList();
    }

    @Test
    void noCallerIsNamedIfAllCallersSendMore() {
        reportsFrom(0, 9, 90, 2, LONG);

        reportsFrom(0, 9, 6, 9, slow(LONG));

        assertThat(changed()).isNotEmpty().noneMatch(line -> line.contains("mostly from"));
    }

    @Test
    void callerThatComesAfterManyOthersIsNamed() {
        for (int deployment = 0; deployment < 4; deployment++) {
            reportsFrom(deployment * 8, 8, 90, 2, LONG);
        }
        reportsFrom(99, 1, 90, 16, LONG);

        reportsFrom(99, 1, 6, 96, slow(LONG));

        assertThat(changed()).isNotEmpty().allMatch(line -> line.endsWith("mostly from 10.0.1.99"));
    }

    @Test
    void rateOfAMethodIsUnknownAfterASingleSecond() {
        Baseline usual = new Baseline();

        usual.learn("calls of " + REPORT, 2);

        assertThat(usual.figure("calls of " + REPORT)).isEqualTo(2);
        assertThat(usual.reliableFigure("calls of " + REPORT)).isNegative();
    }

    @Test
    void callsThatWereInTimeForHalfAMinuteAreNotTheReasonWhyTheyAreLateNow() {
        for (int i = 0; i < 90; i++) {
            second(10, 1, SHORT, LONG);
        }
        for (int i = 0; i < 35; i++) {
            second(100, 10, SHORT, LONG);
        }
        for (int i = 0; i < 8; i++) {
            second(100, 10, slow(SHORT), slow(LONG));
        }

        assertThat(shop.diagnosis().causes())
                .as(shop.diagnosis().text())
                .extracting(Cause::kind)
                .doesNotContain("MORE CALLS");
    }

    @Test
    void operationsThatEachCallRunsMoreOftenAreNotExplainedByMoreCalls() {
        Shop busy = new Shop();
        Consumer<Shop.Steps> quick = call -> call.own(1);
        for (int i = 0; i < 90; i++) {
            busy.second(() -> {
                for (int number = 0; number < 8; number++) {
                    busy.call("Fleet.capacity", 0, quick);
                    busy.call("Fleet.near", 0, call -> times(call, 4));
                }
            });
        }
        for (int i = 0; i < 6; i++) {
            busy.second(() -> {
                for (int number = 0; number < 900; number++) {
                    busy.call("Fleet.capacity", 0, quick);
                }
                for (int number = 0; number < 8; number++) {
                    busy.call("Fleet.near", 0, call -> times(call, 400));
                }
            });
        }

        assertThat(DiagnosisText.title(first(busy.diagnosis())))
                .as(busy.diagnosis().text())
                .isEqualTo("MANY COMMANDS: HMGET vehicle:*");
    }

    private static void times(Shop.Steps call, int commands) {
        for (int i = 0; i < commands; i++) {
            call.in(Phase.REDIS, "HMGET vehicle:*", 0.8);
        }
    }
}
