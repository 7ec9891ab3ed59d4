package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import org.junit.jupiter.api.Test;
import shop.Orders;
import tern.rpc.Phase;

class MethodMissesTest {

    private final Shop shop = new Shop();

    /** Simulates seconds with many quick orders and four reports. Some of the reports are late. */
    private void reports(int seconds, int late) {
        reports(seconds, 4, late);
    }

    private void reports(int seconds, int reports, int late) {
        for (int i = 0; i < seconds; i++) {
            shop.second(() -> {
                for (int call = 0; call < 200; call++) {
                    shop.call(Shop.PLACE, 0, USUAL);
                }
                for (int call = 0; call < reports; call++) {
                    double millis = call < late ? 130 : 40;
                    shop.call("ReportService.sales", 0, steps -> steps.in(Phase.SQL, "select sales", millis));
                }
            });
        }
    }

    @Test
    void rareMethodThatIsOftenLateMissesTheTarget() {
        reports(300, 0);

        reports(20, 1);

        assertThat(DiagnosisText.title(first(shop.diagnosis()))).isEqualTo("SLOW STATEMENT: select sales");
    }

    @Test
    void rareMethodThatIsUsuallyOftenLateMeetsTheTarget() {
        reports(90, 1);

        reports(20, 1);

        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void methodThatIsOftenLateFromTheStartMeetsTheTargetIfItIsRare() {
        for (int i = 0; i < 60; i++) {
            reports(1, 2);
            reports(1, 0);
        }

        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void fewLateCallsOfARareMethodAreNoMiss() {
        reports(90, 0);

        reports(2, 3);
        reports(10, 0);

        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void threadsAreSampledAsSoonAsARareMethodMayMissTheTarget() {
        reports(90, 0);
        assertThat(shop.diagnostician.pauseNanos()).isZero();

        reports(2, 2);

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
        assertThat(shop.diagnostician.pauseNanos()).isPositive();
    }

    @Test
    void missOfAMethodWithManyCallsIsSeenWithinTenSeconds() {
        reports(300, 8, 0);

        reports(10, 8, 2);

        assertThat(DiagnosisText.title(first(shop.diagnosis()))).isEqualTo("SLOW STATEMENT: select sales");
    }

    @Test
    void methodOfWhichAFewCallsFailMissesTheTarget() {
        reports(300, 8, 0);

        someReportsFail(20);

        assertThat(first(shop.diagnosis()).kind()).isEqualTo("FAILURE");
    }

    @Test
    void failuresOfARareMethodThatUsuallySucceedsAreSeenWithinEightSeconds() {
        reports(300, 3, 0);

        for (int i = 0; i < 8; i++) {
            shop.second(() -> {
                for (int call = 0; call < 200; call++) {
                    shop.call(Shop.PLACE, 0, USUAL);
                }
                for (int call = 0; call < 3; call++) {
                    shop.call("ReportService.sales", 0, call == 0 ? Orders.closed() : null, USUAL);
                }
            });
        }

        assertThat(first(shop.diagnosis()).kind()).isEqualTo("FAILURE");
    }

    @Test
    void missOfAMethodDoesNotMakeTheNextOneUsual() {
        reports(90, 8, 0);
        reports(6, 8, 8);
        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(Diagnosis.State.MISS);
        reports(45, 8, 0);
        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(Diagnosis.State.HEALTHY);

        someReportsFail(20);

        assertThat(first(shop.diagnosis()).kind()).isEqualTo("FAILURE");
    }

    @Test
    void methodThatIsOftenLateMissesTheTargetIfItFails() {
        reports(120, 8, 1);
        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isEqualTo(Diagnosis.State.HEALTHY);

        someReportsFail(20);

        assertThat(first(shop.diagnosis()).kind()).isEqualTo("FAILURE");
    }

    /** Simulates seconds in which one of ten reports fails. */
    private void someReportsFail(int seconds) {
        for (int i = 0; i < seconds; i++) {
            shop.second(() -> {
                for (int call = 0; call < 400; call++) {
                    shop.call(Shop.PLACE, 0, USUAL);
                }
                for (int call = 0; call < 10; call++) {
                    shop.call("ReportService.sales", 0, call == 0 ? Orders.closed() : null, USUAL);
                }
            });
        }
    }
}
