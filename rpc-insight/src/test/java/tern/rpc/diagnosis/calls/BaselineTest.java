package tern.rpc.diagnosis.calls;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.CallRecords.Sums;

class BaselineTest {

    private static final String METHOD = "Desk.of";

    private final AtomicLong now = new AtomicLong(1);
    private final Baseline usual = new Baseline();

    private void second(int calls, double millis) {
        List<EndedCall> good = Stream.generate(() -> call(millis)).limit(calls).toList();
        usual.learn(counted(calls, 0), good, List.of());
        usual.learn("each", millis);
    }

    private EndedCall call(double millis) {
        CallLedger ledger = CallLedger.ofReceived(now::get, now.get(), 0);
        ledger.turnTo(Phase.OWN);
        now.addAndGet((long) (millis * 1e6));
        ledger.end();
        return new EndedCall(METHOD, ledger, now.get(), (long) (millis * 1e6), null);
    }

    private static Map<String, Sums> counted(long calls, long late) {
        return Map.of(METHOD, new Sums(calls, calls - late, late, 0, 0, 0, new long[Phase.values().length], Map.of()));
    }

    private void seconds(int seconds, int calls, double millis) {
        for (int i = 0; i < seconds; i++) {
            second(calls, millis);
        }
    }

    private double usualMillis() {
        Times times = usual.of(METHOD);
        return times == null ? -1 : times.sum() / 1e6;
    }

    private double usualMillisOfSlowCalls() {
        Times times = usual.ofSlowCalls(METHOD);
        return times == null ? -1 : times.sum() / 1e6;
    }

    @Test
    void slowFirstCallsAreSoonForgotten() {
        seconds(5, 100, 80);
        seconds(50, 100, 5);

        assertThat(usualMillis()).isCloseTo(5, Offset.offset(1.0));
        assertThat(usual.figure("each")).isCloseTo(5, Offset.offset(1.5));
    }

    @Test
    void timesThatRiseWithinAMinuteAreNotUsual() {
        seconds(600, 100, 5);
        for (int i = 1; i <= 60; i++) {
            second(100, 5 + i);
        }

        assertThat(usualMillis()).isLessThan(15);
        assertThat(usualMillisOfSlowCalls()).isLessThan(45);
        assertThat(usual.figure("each")).isLessThan(15);
    }

    /** Only one of sixteen calls that meet the target is recorded, but every late call is recorded. */
    @Test
    void methodThatMetTheTargetMostlyIsNotALateMethodBecauseFewOfItsCallsAreSampled() {
        for (int i = 0; i < 64; i++) {
            usual.learn(counted(2, 0), i % 8 == 0 ? List.of(call(5)) : List.of(), List.of());
        }
        EndedCall late = call(150);
        for (int i = 0; i < 20; i++) {
            usual.learn(counted(2, 2), List.of(), List.of(call(150), call(150)));
        }

        assertThat(usual.isOfLateMethod(late)).isFalse();
        assertThat(usual.isUsual(late)).isFalse();
    }

    @Test
    void timesThatLastForManyMinutesAreUsual() {
        seconds(600, 10, 5);
        seconds(1_800, 10, 50);

        assertThat(usualMillis()).isGreaterThan(45);
    }

    @Test
    void operationsOutsideOfCallsWithManyNamesDoNotKeepOtherFiguresFromBeingLearned() {
        for (int i = 0; i < 6_000; i++) {
            usual.learn(Baseline.OUTSIDE + "HTTP GET host" + i + ":80", 5);
            usual.learn(Baseline.OUTSIDE + "SQL select stock", 7);
        }
        usual.learn("hold orders", 9);

        assertThat(usual.figure("hold orders")).isEqualTo(9);
        assertThat(usual.figure(Baseline.OUTSIDE + "SQL select stock")).isEqualTo(7);
        assertThat(usual.figure(Baseline.OUTSIDE + "HTTP GET host5999:80")).isEqualTo(5);
        assertThat(usual.figure(Baseline.OUTSIDE + "HTTP GET host0:80")).isEqualTo(-1);
    }

    @Test
    void oneExtremeCallDoesNotMakeLongCallsOfASlowMethodUsual() {
        for (int i = 0; i < 100; i++) {
            usual.learn(counted(1, 1), List.of(), List.of(call(2_000)));
        }
        usual.learn(counted(1, 1), List.of(), List.of(call(60_000)));

        assertThat(usual.isUsual(call(2_500))).isTrue();
        assertThat(usual.isUsual(call(40_000))).isFalse();
    }
}
