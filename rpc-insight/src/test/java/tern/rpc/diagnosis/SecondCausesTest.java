package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import shop.Orders;
import tern.rpc.Phase;

/** Tests which operations of late calls the diagnosis reports as causes in addition to the first cause. */
class SecondCausesTest {

    private static final String SITES = "GET sites:80/free";

    private final Shop shop = new Shop();

    private static Consumer<Shop.Steps> asking(double millis) {
        return call -> call.own(2).in(Phase.HTTP, SITES, millis);
    }

    /** Simulates calls. Every third call makes an exchange. Some calls also run a slow statement. */
    private List<String> causesIfSomeExchangesTake(double millis) {
        for (int i = 0; i < 96; i++) {
            boolean isSlow = i >= 90;
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    if (isSlow && call % 6 == 0) {
                        shop.call(
                                Shop.PLACE, 0, steps -> asking(millis).accept(steps.in(Phase.SQL, "select free", 200)));
                    } else {
                        shop.call(Shop.PLACE, 0, call % 3 == 0 ? asking(30) : steps -> steps.own(2));
                    }
                }
            });
        }
        return shop.diagnosis().causes().stream().map(DiagnosisText::title).toList();
    }

    @Test
    void operationThatTakesItsUsualTimeIsNoFurtherCause() {
        assertThat(causesIfSomeExchangesTake(30)).containsExactly("SLOW STATEMENT: select free");
    }

    @Test
    void operationThatTakesLongerIsAFurtherCause() {
        assertThat(causesIfSomeExchangesTake(120))
                .containsExactly("SLOW STATEMENT: select free", "SLOW HTTP PEER: " + SITES);
    }

    @Test
    void statementThatCallsDoNotUsuallyRunIsReportedAsNew() {
        for (int i = 0; i < 96; i++) {
            boolean isNew = i >= 90;
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    boolean fails = isNew && call % 5 == 0;
                    shop.call(Shop.PLACE, 0, fails ? Orders.closed() : null, fails ? steps -> steps.own(1) : USUAL);
                    boolean loads = isNew && call % 4 == 0;
                    shop.call("ScoreService.score", 0, steps -> {
                        steps.own(2);
                        if (loads) {
                            steps.in(Phase.SQL, "select drug, avg(dose) from prescriptions group by drug", 180);
                        }
                    });
                }
            });
        }

        assertThat(shop.diagnosis().causes())
                .as(shop.diagnosis().text())
                .filteredOn(cause -> cause.kind().equals("SLOW STATEMENT"))
                .singleElement()
                .satisfies(cause -> assertThat(cause.change().text()).contains("calls do not usually run it"));
    }
}
