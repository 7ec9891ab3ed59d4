package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.machine.HeapGrowth;
import tern.rpc.diagnosis.machine.Machine;

/** Tests the text about a heap that fills up while calls still meet the latency target. */
class FillingHeapTest {

    private static final HeapGrowth QUICK = new HeapGrowth(0.3, 0.72, 14, 30e6, 9);

    private final Shop shop = new Shop().healthy(Shop.USUAL);

    private static Machine machine(@Nullable HeapGrowth growth, Machine.Burner... burners) {
        return new Machine(
                        2, 1, 0, 0, 0.02, 0.7, "G1 Evacuation Pause", 45e6, 40e6, List.of(burners), 0, null, List.of())
                .growing(growth);
    }

    private String after(int seconds) {
        for (int i = 0; i < seconds; i++) {
            shop.second(100, Shop.USUAL);
        }
        return shop.diagnosis().text();
    }

    @Test
    void heapThatFillsIsReportedBeforeCallsAreLate() {
        shop.machine = machine(QUICK, new Machine.Burner("price-loader", 1, 0.6, 40e6, "Quotes.load"));

        String text = after(2);

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
        assertThat(text)
                .startsWith("HEALTHY: calls are within the target of 100 ms\n")
                .contains("  fills    from 30 % to 72 % of the heap in 14 s: 30 MB/s of 45 MB/s allocated are kept\n")
                .contains("  full     at this rate, the heap is full in about 9 s\n")
                .contains("  CHANGE   limit the size of caches, queues and sessions in memory")
                .contains("; price-loader* allocate in Quotes.load, 40 MB/s\n");
    }

    @Test
    void threadsOfCallsAreSampledWhileTheHeapFills() {
        assertThat(shop.diagnostician.pauseNanos()).isZero();
        shop.machine = machine(QUICK);

        after(1);

        assertThat(shop.diagnostician.pauseNanos()).isPositive();
    }

    @Test
    void growthThatOnlyOneSecondShowsIsNotReported() {
        shop.machine = machine(QUICK);
        assertThat(after(1)).isEqualTo("HEALTHY: calls are within the target of 100 ms\n");
    }

    @Test
    void growthThatACollectionEndsIsNoLongerReported() {
        shop.machine = machine(QUICK);
        assertThat(after(3)).contains("full in about");

        shop.machine = machine(null);

        assertThat(after(1)).isEqualTo("HEALTHY: calls are within the target of 100 ms\n");
        assertThat(shop.diagnostician.pauseNanos()).isZero();
    }

    @Test
    void heapThatFillsSlowlyOrIsMostlyFreeIsNotReported() {
        shop.machine = machine(new HeapGrowth(0.3, 0.72, 600, 1e6, 400));
        assertThat(after(3)).isEqualTo("HEALTHY: calls are within the target of 100 ms\n");

        shop.machine = machine(new HeapGrowth(0.1, 0.45, 10, 35e6, 15));
        assertThat(after(3)).isEqualTo("HEALTHY: calls are within the target of 100 ms\n");
    }

    @Test
    void heapThatFillsWhileCallsAreLateForAnotherReasonIsReported() {
        shop.machine = machine(QUICK);

        shop.miss(call -> call.own(2).in(Phase.HTTP, "GET bank:80", 400));

        assertThat(Shop.first(shop.diagnosis()).kind()).isEqualTo("SLOW HTTP PEER");
        assertThat(shop.diagnosis().text())
                .contains(
                        "  fills    from 30 % to 72 % of the heap in 14 s: 30 MB/s of 45 MB/s allocated are kept; at this"
                                + " rate, the heap is full in about 9 s\n");
    }

    @Test
    void heapThatGrowsInTheFirstMinuteWithCallsIsNotReported() {
        Shop started = new Shop();
        started.machine = machine(QUICK);
        for (int i = 0; i < 5; i++) {
            started.second(100, Shop.USUAL);
        }

        assertThat(started.diagnosis().text()).startsWith("QUIET").doesNotContain("heap");
    }

    @Test
    void threadsThatAllocateHalfOfASlowGrowthAreNamed() {
        HeapGrowth slow = new HeapGrowth(0.31, 0.82, 17, 8e6, 6);
        shop.machine = machine(slow, new Machine.Burner("http-nio-8101-exec", 5, 0.1, 7e6, "Labels.label:18"));

        assertThat(after(2)).contains("; http-nio-8101-exec* allocate in Labels.label:18, 7 MB/s\n");
    }

    @Test
    void methodWhoseCallsAllocateEnoughIsNamedInsteadOfALineOfItsThreads() {
        HeapGrowth slow = new HeapGrowth(0.31, 0.82, 17, 8e6, 6);
        shop.machine = machine(slow, new Machine.Burner("http-nio-8101-exec", 5, 0.1, 7e6, "Vouchers.issue:29"));
        shop.allocated = 1;
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 4; call++) {
                    shop.call("web.GET /labels/{id}", 0, steps -> steps.own(2));
                    shop.allocated += 3_000_000;
                    shop.call("web.GET /labels/{id}", 0, steps -> steps.own(2));
                    shop.allocated += 1_000;
                    shop.call("web.GET /search", 0, steps -> steps.own(2));
                }
            });
        }

        assertThat(shop.diagnosis().text())
                .contains("; check first what web.GET /labels/{id} keeps: its calls allocate 12 MB/s")
                .doesNotContain("Vouchers");
    }

    @Test
    void allocationThatSeemsSmallerThanTheGrowthIsOmitted() {
        shop.machine = machine(new HeapGrowth(0.31, 0.82, 17, 60e6, 6));

        assertThat(after(2)).contains("  fills    from 31 % to 82 % of the heap in 17 s: 60 MB/s are kept\n");
    }
}
