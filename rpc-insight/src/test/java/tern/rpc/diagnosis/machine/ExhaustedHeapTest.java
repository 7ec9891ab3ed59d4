package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import shop.Stock;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.Shop;

/** Tests the diagnosis of a process whose heap is full. The usual diagnosis would take too long. */
class ExhaustedHeapTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final Shop shop = new Shop();

    private RunningCall running(String method, long threadId, double seconds) {
        return new RunningCall(
                method,
                threadId,
                Phase.OWN,
                0,
                (long) (seconds * SECOND),
                CallLedger.ofReceived(shop::now, shop.now(), 0));
    }

    @Test
    void firstSecondWithHangingCallsNamesTheHeap() {
        shop.healthy(call -> call.own(2));
        shop.exhausted = 0.9;
        shop.running.add(running(Shop.PLACE, Thread.currentThread().getId(), 2));

        shop.second(0, call -> {});

        Diagnosis miss = shop.diagnosis();
        assertThat(miss.state()).isEqualTo(Diagnosis.State.MISS);
        assertThat(miss.causes()).hasSize(1);
        assertThat(miss.causes().get(0).kind()).isEqualTo("COLLECTOR: heap nearly full");
        assertThat(miss.text()).contains("paused   90 % of the time").contains("1 hang now");
        assertThat(shop.diagnostician.pauseNanos()).as("stacks are not sampled").isZero();
    }

    @Test
    void manyConcurrentCallsAreToBeLimited() {
        List<RunningCall> calls = Collections.nCopies(
                900,
                new RunningCall(
                        "Stock.find",
                        RunningCall.NO_THREAD,
                        Phase.JDBC_CONNECTION,
                        SECOND,
                        SECOND,
                        CallLedger.ofReceived(shop::now, shop.now(), 0)));

        assertThat(new ExhaustedHeap(thread -> -1).cause(calls, 0.8).change().text())
                .startsWith("limit the number of concurrent calls")
                .contains("900 run at the same time, most of them in jdbc-connection");
    }

    @Test
    void exhaustedHeapWithoutLateCallsIsNoMiss() {
        shop.healthy(call -> call.own(2));
        shop.exhausted = 0.6;

        shop.second(100, call -> call.own(20));

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void callWhoseThreadAllocatesMostIsNamed() {
        AtomicLong large = new AtomicLong(1_000);
        ExhaustedHeap heap = new ExhaustedHeap(thread -> thread == 1 ? large.get() : 5_000_000);
        List<RunningCall> calls = List.of(running("Stock.find", 2, 1), running("Stock.export", 1, 3));

        assertThat(heap.cause(calls, 0.8).change().text()).doesNotContain("Stock.");
        large.addAndGet(1_000_000);

        assertThat(heap.cause(calls, 0.8).change().text()).contains("check Stock.export first");
    }

    @Test
    void lineOfMostRunningCallsIsNamedIfNoThreadAllocatesMost() throws InterruptedException {
        ExhaustedHeap heap = new ExhaustedHeap(thread -> 1);
        CompletableFuture<String> end = new CompletableFuture<>();
        Thread thread = new Thread(() -> Stock.count(new Semaphore(1), end));
        thread.start();
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        List<RunningCall> calls =
                List.of(running("Stock.find", thread.getId(), 2), running("Stock.find", thread.getId(), 1));

        String change = heap.cause(calls, 0.8).change().text();
        end.complete("");
        thread.join();

        assertThat(change).contains("check Stock.Count.all:").contains("where most running calls were found");
    }

    @Test
    void collectorMustTakeMostOfTheTimeForTwoSecondsWhileTheHeapIsFull() {
        AtomicLong millis = new AtomicLong();
        AtomicBoolean full = new AtomicBoolean(true);
        CollectorShare share = new CollectorShare(millis::get, full::get);

        assertThat(share.read(0)).isZero();
        millis.addAndGet(900);
        assertThat(share.read(SECOND)).as("one second").isZero();
        millis.addAndGet(800);
        assertThat(share.read(2 * SECOND)).as("two seconds").isEqualTo(0.8);
        full.set(false);
        millis.addAndGet(900);
        assertThat(share.read(3 * SECOND)).as("not full").isZero();
        full.set(true);
        millis.addAndGet(400);
        assertThat(share.read(4 * SECOND)).as("less than half of the time").isZero();
        millis.addAndGet(2_500);
        assertThat(share.read(7 * SECOND)).as("one long interval").isEqualTo(2_500 / 3_000.0);
    }
}
