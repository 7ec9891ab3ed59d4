package tern.rpc.diagnosis.excess;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.PLACE;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.calls.MethodRate;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Machine;

/** Tests which operations the first cause lists as new. */
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

    /**
     * Returns whether the given rate within ten seconds is high for a method that is usually called 1.4 times per
     * second.
     */
    private static boolean isHigh(double perSecond) {
        MethodRate.Caller caller = new MethodRate.Caller("10.0.0.7", perSecond, 1.4);
        return new MethodRate(SCAN, perSecond, 1.4, 1_000_000_000L, caller, 0, null, 10, -1).isHigh();
    }

    @Test
    void chanceExplainsTwiceAsManyCallsToASeldomCalledMethod() {
        assertThat(isHigh(2.7)).isFalse();
        assertThat(isHigh(6)).isTrue();
    }

    @Test
    void chanceDoesNotExplainTwiceAsManyCallsToAFrequentlyCalledMethod() {
        MethodRate.Caller caller = new MethodRate.Caller("10.0.0.7", 27, 14);

        assertThat(new MethodRate(SCAN, 27, 14, 1_000_000_000L, caller, 0, null, 10, -1).isHigh())
                .isTrue();
    }

    @Test
    void aFewMegabytesPerSecondAreNoChangeOfTheAllocation() {
        assertThat(allocating(16e6).changed()).noneMatch(line -> line.contains("allocation"));
        assertThat(allocating(160e6).changed()).contains("changed  allocation: 160.0 MB/s, usually 0.7");
    }

    @Test
    void highUsualAllocationThatDoublesIsAChange() {
        assertThat(allocating(160e6, 40e6).changed()).contains("changed  allocation: 160.0 MB/s, usually 40.0");
        assertThat(allocating(70e6, 40e6).changed()).noneMatch(line -> line.startsWith("changed  allocation"));
    }

    private static Cause allocating(double bytes) {
        return allocating(bytes, 0.7e6);
    }

    private static Cause allocating(double bytes, double usually) {
        Shop shop = new Shop();
        shop.machine = new Machine(2, 0.5, 0, 0, 0, 0.2, null, usually, -1, List.of(), 0, null, List.of());
        shop.healthy(USUAL);
        shop.machine = new Machine(2, 0.5, 0, 0, 0, 0.2, null, bytes, -1, List.of(), 0, null, List.of());
        return first(shop.miss(call -> call.in(Phase.HTTP, NOTIFY, 300)));
    }
}
