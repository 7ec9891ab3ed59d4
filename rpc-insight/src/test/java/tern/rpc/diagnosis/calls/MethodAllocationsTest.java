package tern.rpc.diagnosis.calls;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import tern.rpc.CallLedger;

class MethodAllocationsTest {

    private static final String LABELS = "web.GET /labels/{id}";
    private static final String SEARCH = "web.GET /search";

    private final AtomicLong allocated = new AtomicLong(1_000_000);
    private final MethodAllocations allocations = new MethodAllocations(allocated::get);
    private long now = 1_000_000_000L;

    private void call(String method, long bytes) {
        CallLedger ledger = new CallLedger(() -> 0);
        allocated.addAndGet(bytes);
        allocations.ended(method, ledger);
    }

    private void second(boolean isNeeded) {
        now += 1_000_000_000L;
        allocations.second(isNeeded, now);
    }

    @Test
    void memoryBetweenTheEndsOfTwoCallsBelongsToTheSecondCall() {
        second(true);
        call(SEARCH, 5);
        for (int i = 0; i < 4; i++) {
            call(LABELS, 3_000_000);
            call(SEARCH, 20_000);
        }
        second(true);

        assertThat(allocations.current(method -> -1))
                .containsExactlyInAnyOrder(
                        new MethodAllocation(LABELS, 12_000_000, 3_000_000, -1),
                        new MethodAllocation(SEARCH, 80_000, 20_000, -1));
    }

    @Test
    void nothingIsMeasuredMostOfTheTime() {
        for (int i = 0; i < 10; i++) {
            second(false);
        }
        call(LABELS, 3_000_000);
        call(LABELS, 3_000_000);
        second(false);

        assertThat(allocations.current(method -> -1)).isEmpty();
        assertThat(allocations.usual()).isEmpty();
    }

    @Test
    void memoryThatWasAllocatedBetweenTwoMeasurementsBelongsToNoCall() {
        second(true);
        call(LABELS, 10);
        for (int i = 0; i < 10; i++) {
            second(false);
        }
        call(LABELS, 900_000_000);
        second(true);
        for (int i = 0; i < 5; i++) {
            call(LABELS, 1_000);
        }
        second(true);

        assertThat(allocations.current(method -> -1))
                .extracting(MethodAllocation::bytesPerCall)
                .containsExactly(1_000.0);
    }

    @Test
    void usualMemoryIsLearnedInAFewSecondsOfEachHalfMinute() {
        int learned = 0;
        for (int i = 0; i < 60; i++) {
            for (int call = 0; call < 5; call++) {
                call(LABELS, 2_000);
            }
            second(false);
            Map<String, Double> perCall = allocations.usual();
            learned += perCall.isEmpty() ? 0 : 1;
            assertThat(perCall.values()).allMatch(bytes -> bytes == 2_000);
        }

        assertThat(learned).isBetween(6, 10);
    }

    @Test
    void usualMemoryIsNotLearnedWhileCallsAreLate() {
        for (int i = 0; i < 5; i++) {
            call(LABELS, 2_000);
            call(LABELS, 2_000);
            second(true);
        }

        assertThat(allocations.usual()).isEmpty();
        assertThat(allocations.current(method -> -1)).isNotEmpty();
    }

    @Test
    void callsOnThreadsWhoseMemoryIsUnknownAreNotMeasured() {
        MethodAllocations unknown = new MethodAllocations(() -> -1);
        unknown.second(true, 1);
        for (int i = 0; i < 5; i++) {
            unknown.ended(LABELS, new CallLedger(() -> 0));
        }
        unknown.second(true, 1_000_000_000L);

        assertThat(unknown.current(method -> -1)).isEmpty();
    }

    private static MethodAllocation of(String method, double perSecond, double perCall, double usually) {
        return new MethodAllocation(method, perSecond, perCall, usually);
    }

    @Test
    void onlyMethodThatAllocatesEnoughMayFillTheHeap() {
        MethodAllocation labels = of(LABELS, 8e6, 3e6, -1);
        MethodAllocation search = of(SEARCH, 1e6, 2e4, -1);

        assertThat(MethodAllocation.keeping(List.of(labels, search), 7e6)).isEqualTo(labels);
        assertThat(MethodAllocation.keeping(List.of(labels, search), 30e6)).isNull();
    }

    @Test
    void methodWhoseObjectsAreShortLivedIsNotNamedBesideTheOneThatAllocatesMoreThanUsual() {
        MethodAllocation labels = of(LABELS, 8e6, 3e6, 2e4);
        MethodAllocation report = of("web.GET /report", 90e6, 40e6, 39e6);

        assertThat(MethodAllocation.keeping(List.of(report, labels), 7e6)).isEqualTo(labels);
    }

    @Test
    void noMethodIsNamedIfSeveralMayFillTheHeap() {
        MethodAllocation labels = of(LABELS, 8e6, 3e6, 3e6);
        MethodAllocation report = of("web.GET /report", 90e6, 40e6, 39e6);

        assertThat(MethodAllocation.keeping(List.of(report, labels), 7e6)).isNull();
        assertThat(MethodAllocation.grown(List.of(report, labels), 7e6)).isNull();
    }

    @Test
    void textNamesTheMemoryOfACall() {
        assertThat(of(LABELS, 8e6, 3e6, 2e4).text()).isEqualTo("its calls allocate 8 MB/s, 3 MB each, usually 20 KB");
    }
}
