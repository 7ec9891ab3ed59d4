package tern.rpc.diagnosis.excess;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.PLACE;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.cause.Cause;

/** Tests which operations are reported as new by the first cause. */
class ChangesTest {

    private static final String SCAN = "ScanService.scan";
    private static final String NOTIFY = "POST notify:80";

    private final Shop shop = new Shop();

    /** Serves calls to a method that runs an exchange, and calls to a method whose usual times are known. */
    private Cause miss(String scan) {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    shop.call(scan, 0, steps -> steps.own(2).in(Phase.HTTP, NOTIFY, 300));
                    double stock = call % 20 == 0 ? 120 : 3;
                    shop.call(PLACE, 0, steps -> steps.own(2).in(Phase.SQL, "select stock", stock));
                }
            });
        }
        return first(shop.diagnosis());
    }

    @Test
    void operationOfAMethodWithoutUsualTimesIsNotCalledNew() {
        shop.second(() -> shop.call(SCAN, 0, steps -> steps.own(2)));
        shop.healthy(USUAL);

        Cause first = miss(SCAN);

        assertThat(first.name()).as(shop.diagnosis().text()).isEqualTo(NOTIFY);
        assertThat(first.changed()).noneMatch(line -> line.contains("was not seen"));
    }

    @Test
    void operationThatAMethodWithUsualTimesHasNotRunIsNew() {
        shop.healthy(USUAL);

        Cause first = miss(PLACE);

        assertThat(first.changed()).contains("new      " + NOTIFY + " was not seen in calls before");
    }
}
