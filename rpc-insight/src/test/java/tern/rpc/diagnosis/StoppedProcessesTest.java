package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.net.SocketException;
import java.net.http.HttpTimeoutException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.HiccupMeter;
import tern.rpc.diagnosis.machine.Machine;

/** Tests calls whose operations time out, or whose connections are closed, while the whole process is stopped. */
class StoppedProcessesTest {

    private static final String STOCK = "GET stock:80";

    private final Shop shop = new Shop();

    /**
     * Simulates calls that fail while the process is stopped for the given share of their time. Returns the diagnosis.
     */
    private Diagnosis failing(double stood, Throwable failure) {
        shop.healthy(call -> call.own(2).in(Phase.HTTP, STOCK, 20));
        shop.pauses = (from, to) -> {
            Times times = new Times();
            times.add(Part.of(Part.Kind.OUTSIDE), (to - from) * stood);
            return times;
        };
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(Shop.PLACE, 0, failure, steps -> steps.own(2).in(Phase.HTTP, STOCK, 900));
                }
            });
        }
        return shop.diagnosis();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void peerIsNotBlamedForFailuresDuringAPauseOfTheProcess(boolean isTimeOut) {
        Diagnosis miss = failing(
                0.9,
                isTimeOut ? new HttpTimeoutException("request timed out") : new SocketException("Connection reset"));

        assertThat(first(miss).kind()).as(miss.text()).isEqualTo("PROCESS STOOD STILL");
        assertThat(miss.causes()).noneMatch(cause -> cause.name().contains(STOCK));
    }

    @Test
    void peerStaysTheCauseOfFailuresThatAPauseDoesNotExplain() {
        Diagnosis miss = failing(0.1, new HttpTimeoutException("request timed out"));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: " + STOCK + ": does not answer");
    }

    private static Machine withOthers(double busy) {
        return new Machine(2, 0.3, busy, 0, 0, 0.2, null, 10e6, 10e6, List.of(), 0, null, List.of());
    }

    /**
     * Simulates other processes that have become busy. Each call takes {@code additional} ms longer than usual, and
     * this process pauses for {@code millis} ms of this time. Returns the diagnosis.
     */
    private Diagnosis pausedOnABusyMachine(double millis, double additional) {
        shop.machine = withOthers(0.1);
        shop.healthy(call -> call.own(2).in(Phase.HTTP, STOCK, 20));
        shop.machine = withOthers(1.7);
        shop.pauses = (from, to) -> {
            Times times = new Times();
            times.add(Part.of(Part.Kind.OUTSIDE), Math.min((double) (to - from), millis * 1e6));
            return times;
        };
        return shop.miss(call -> call.own(2).in(Phase.HTTP, STOCK, 20 + additional));
    }

    @Test
    void busyProcessorsDoNotExplainALongPauseOfTheProcess() {
        Diagnosis miss = pausedOnABusyMachine(2_000, 2_000);

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("PROCESS STOOD STILL: pauses from outside");
    }

    @Test
    void busyProcessorsExplainShortPausesOfTheProcess() {
        Diagnosis miss = pausedOnABusyMachine(150, 150);

        assertThat(DiagnosisText.title(first(miss))).startsWith("PROCESSORS: other processes");
    }

    @Test
    void busyProcessorsExplainManyShortPausesInALongCall() {
        Diagnosis miss = pausedOnABusyMachine(600, 2_000);

        assertThat(miss.causes()).extracting(Cause::kind).doesNotContain("PROCESS STOOD STILL");
    }

    @Test
    void pauseIsKnownBeforeTheThreadThatMeasuresPausesRunsAgain() {
        HiccupMeter meter = new HiccupMeter();
        long now = System.nanoTime();
        meter.sleepsUntil(now - TimeUnit.SECONDS.toNanos(3));

        Times stood = meter.between(now - TimeUnit.SECONDS.toNanos(2), now, PauseTimes.NONE);

        assertThat(stood.of(Part.of(Part.Kind.OUTSIDE))).isEqualTo(2e9);
    }

    @Test
    void pauseCountsOnceBeforeTheThreadThatHasRecordedItSleepsAgain() {
        HiccupMeter meter = new HiccupMeter();
        long now = System.nanoTime();
        long due = now - TimeUnit.SECONDS.toNanos(3);
        meter.sleepsUntil(due);
        meter.add(new HiccupMeter.Stop(due, now, 0));

        Times stood = meter.between(now - TimeUnit.SECONDS.toNanos(2), now, PauseTimes.NONE);

        assertThat(stood.of(Part.of(Part.Kind.OUTSIDE))).isEqualTo(2e9);
    }

    @Test
    void meterThatDoesNotMeasureReportsNoPause() {
        HiccupMeter meter = new HiccupMeter();

        assertThat(meter.between(0, System.nanoTime(), PauseTimes.NONE).isEmpty())
                .isTrue();
    }
}
