package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;

class MethodsSlowByNatureTest {

    private final Shop shop = new Shop();

    /** Simulates a second that contains 100 calls and one report that always takes 650 ms. */
    private void secondWithReport(Consumer<Shop.Steps> calls) {
        shop.second(() -> {
            for (int i = 0; i < 100; i++) {
                shop.call(Shop.PLACE, 0, calls);
            }
            shop.call("ReportService.month", 0, call -> call.own(5).in(Phase.SQL, "select month", 645));
        });
    }

    @Test
    void rareMethodThatIsSlowByNatureIsNoCauseOfAnotherMiss() {
        for (int i = 0; i < 90; i++) {
            secondWithReport(USUAL);
        }
        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);

        for (int i = 0; i < 6; i++) {
            secondWithReport(call -> call.own(2).in(Phase.HTTP, "GET carrier:80", 110));
        }

        assertThat(shop.diagnosis().causes())
                .extracting(Cause::kind)
                .contains("SLOW HTTP PEER")
                .doesNotContain("SLOW STATEMENT");
        assertThat(shop.diagnosis().text()).doesNotContain("ReportService.month");
    }

    /** Simulates a second with orders and with a long poll that ends after the given time. */
    private void secondWithPoll(double pollMillis, Consumer<Shop.Steps> order) {
        shop.second(() -> {
            for (int call = 0; call < 150; call++) {
                shop.call(Shop.PLACE, 0, order);
            }
            shop.call("EventService.await", 0, call -> call.in(Phase.UNATTRIBUTED, null, pollMillis));
        });
    }

    @Test
    void longPollWhoseTimesVaryIsNotTheCauseOfAnotherMiss() {
        for (int i = 0; i < 200; i++) {
            secondWithPoll(1_000 + 1_000 * (i * 7 % 15), USUAL);
        }

        for (int i = 0; i < 6; i++) {
            secondWithPoll(15_000, call -> call.own(2).in(Phase.SQL, "select stock", 150));
        }

        Diagnosis miss = shop.diagnosis();
        assertThat(miss.causes()).extracting(DiagnosisText::title).containsExactly("SLOW STATEMENT: select stock");
        assertThat(miss.miss().methods()).containsExactly(Shop.PLACE);
    }

    @Test
    void longPollWithoutUsualTimesDoesNotHideTheCause() {
        for (int i = 0; i < 90; i++) {
            shop.second(150, USUAL);
        }

        for (int i = 0; i < 6; i++) {
            secondWithPoll(15_000, call -> call.own(2).in(Phase.SQL, "select stock", 150));
        }

        assertThat(shop.diagnosis().causes())
                .extracting(DiagnosisText::title)
                .containsExactly("SLOW STATEMENT: select stock");
    }

    /** Simulates a second with some late orders and with the first calls to a new method. */
    private void secondWithNew(double newMillis) {
        shop.second(() -> {
            for (int call = 0; call < 20; call++) {
                shop.call(Shop.PLACE, 0, order -> order.own(2).in(Phase.SQL, "select stock", 150));
            }
            shop.call("EventService.await", 0, call -> call.in(Phase.UNATTRIBUTED, null, newMillis));
        });
    }

    private String textAfterNew(double newMillis) {
        for (int i = 0; i < 90; i++) {
            shop.second(20, USUAL);
        }
        for (int i = 0; i < 4; i++) {
            secondWithNew(newMillis);
        }
        return shop.diagnosis().text();
    }

    @Test
    void newMethodIsReportedAsAChange() {
        assertThat(textAfterNew(20)).contains("new      EventService.await, first called");
    }

    @Test
    void newLongPollIsNotReportedAsAChange() {
        assertThat(textAfterNew(5_000)).startsWith("MISS").doesNotContain("EventService.await");
    }
}
