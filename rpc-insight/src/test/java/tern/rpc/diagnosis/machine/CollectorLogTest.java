package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;

class CollectorLogTest {

    private static final long MILLI = 1_000_000;
    private static final String STALL = "Allocation Stall";

    private final CollectorLog log = new CollectorLog();

    private void add(String collector, long fromMillis, long toMillis, String cause) {
        log.add(collector, fromMillis * MILLI, toMillis * MILLI, cause);
    }

    private static Cause firstOfStalls(double millis, String cause) {
        AtomicLong now = new AtomicLong();
        return new SampledCalls()
                .stalledMillis(millis, cause)
                .calls("OrderService.place", Phase.OWN, 300, samples -> samples.add(atALine(now)))
                .causes()
                .get(0);
    }

    /** Returns a sample of a thread that is runnable but uses no processor time. */
    private static Sample atALine(AtomicLong now) {
        StackTraceElement line = new StackTraceElement("shop.Codec", "encode", null, 41);
        Part part = new Part(Part.Kind.COMPUTING, "Codec.encode");
        return new Sample(
                now.addAndGet(50 * MILLI), Phase.OWN, part, List.of(line), null, null, null, false, null, 0, 0);
    }

    @Test
    void callsThatStandAtALineWhileThreadsWaitForMemoryAreStalled() {
        assertThat(firstOfStalls(250, STALL).kind()).isEqualTo("COLLECTOR: allocation stalls");
    }

    @Test
    void stalledCallsAreNotInNativeCodeAlthoughCollectionsHaveAnotherMainCause() {
        assertThat(firstOfStalls(250, "Allocation Rate").kind()).startsWith("COLLECTOR");
    }

    @Test
    void shortStallDoesNotExplainALongTimeInNativeCode() {
        assertThat(firstOfStalls(5, STALL).kind()).isEqualTo("NATIVE CODE");
    }

    private double pausedMillis(long fromMillis, long toMillis) {
        return log.between(fromMillis * MILLI, toMillis * MILLI).sum() / MILLI;
    }

    @ParameterizedTest
    @ValueSource(strings = {"ZGC Cycles", "ZGC Minor Cycles", "ZGC Major Cycles"})
    void longCyclesBecauseOfStallsAreTheMainCause(String collector) {
        add(collector, 0, 300, "Allocation Rate");
        add(collector, 300, 800, STALL);

        assertThat(log.mainCause(0)).isEqualTo(STALL);
        assertThat(log.stalledNanos(700 * MILLI, 900 * MILLI)).isEqualTo(100 * MILLI);
        assertThat(pausedMillis(0, 900)).isZero();
    }

    @Test
    void stallsAreTheMainCauseAlthoughCyclesDuringWhichThreadsRunTakeLonger() {
        add("ZGC Cycles", 0, 300, "Allocation Rate");
        add("ZGC Pauses", 0, 1, "Allocation Rate");
        add("ZGC Cycles", 300, 500, STALL);

        assertThat(log.mainCause(0)).isEqualTo(STALL);
    }

    @Test
    void oneShortStallIsNotTheMainCause() {
        add("ZGC Cycles", 0, 5, STALL);
        add("ZGC Pauses", 0, 2, STALL);
        add("ZGC Cycles", 10, 400, "System.gc()");
        add("ZGC Pauses", 10, 11, "System.gc()");

        assertThat(log.mainCause(0)).isEqualTo("System.gc()");
    }

    @Test
    void stallBeforeThePeriodDoesNotCount() {
        add("ZGC Cycles", 0, 500, STALL);

        assertThat(log.mainCause(600 * MILLI)).isNull();
        assertThat(log.stalledNanos(600 * MILLI, 900 * MILLI)).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"G1 Young Generation", "ZGC Pauses", "ZGC Minor Pauses", "Shenandoah Pauses", "PS Scavenge"})
    void pausesOfEachCollectorCount(String collector) {
        add(collector, 100, 150, "Allocation Failure");

        assertThat(pausedMillis(120, 900)).isEqualTo(30);
        assertThat(log.mainCause(0)).isEqualTo("Allocation Failure");
    }
}
