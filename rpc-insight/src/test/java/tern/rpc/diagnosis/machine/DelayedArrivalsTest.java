package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.machine.HiccupMeter.Stop;

class DelayedArrivalsTest {

    private static final Consumer<Shop.Steps> USUAL = call -> call.own(2).in(Phase.SQL, "select stock", 3);

    private final Shop shop = new Shop();

    /** Simulates a pause of the collector, followed by 100 calls. */
    private void secondAfterPause(long pauseMillis) {
        long end = shop.now() + TimeUnit.MILLISECONDS.toNanos(pauseMillis);
        shop.stops.add(new Stop(shop.now(), end, 0));
        shop.pass((double) pauseMillis);
        shop.second(100, USUAL);
    }

    /** Returns the simulated pauses, each of the given kind. */
    private PauseTimes pauses(Part.Kind kind) {
        return (from, to) -> {
            Times paused = new Times();
            for (Stop stop : shop.stops) {
                long overlap = Math.min(to, stop.toNanos()) - Math.max(from, stop.fromNanos());
                paused.add(Part.of(kind), (double) Math.max(0, overlap));
            }
            return paused;
        };
    }

    @Test
    void recordedCallsThatBeganLongAfterAPauseStandForCallsThatWaited() {
        shop.healthy(USUAL);
        shop.pauses = pauses(Part.Kind.OUTSIDE);

        for (int i = 0; i < 6; i++) {
            long end = shop.now() + TimeUnit.MILLISECONDS.toNanos(400);
            shop.stops.add(new Stop(shop.now(), end, 0));
            shop.pass(400);
            shop.evenSecond(100, () -> USUAL);
        }

        Diagnosis miss = shop.diagnosis();
        assertThat(DiagnosisText.title(first(miss))).isEqualTo("PROCESS STOOD STILL: pauses from outside");
        assertThat(miss.causes()).as(miss.text()).hasSize(1);
        assertThat(first(miss).evidence()).anyMatch(line -> line.matches("stopped  for [23]\\d % of the last .*"));
    }

    @Test
    void callsThatWaitedInTheSocketDuringPausesAreLate() {
        shop.healthy(USUAL);
        shop.pauses = pauses(Part.Kind.COLLECTOR);

        for (int i = 0; i < 6; i++) {
            secondAfterPause(250);
        }

        Diagnosis miss = shop.diagnosis();
        assertThat(first(miss).kind()).startsWith("COLLECTOR");
        assertThat(miss.miss().late()).isPositive();
    }

    @Test
    void pausesWithinTheTargetAreNoMiss() {
        shop.healthy(USUAL);

        for (int i = 0; i < 20; i++) {
            secondAfterPause(90);
        }

        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);
    }
}
