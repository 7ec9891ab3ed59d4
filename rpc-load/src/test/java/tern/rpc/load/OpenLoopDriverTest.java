package tern.rpc.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

class OpenLoopDriverTest {

    private static final Target TARGET = new Target(10, Duration.ofMillis(100));

    private final FakeClock clock = new FakeClock();

    @Test
    void callsStartAtTheirTimes() throws InterruptedException {
        List<Long> starts = new ArrayList<>();
        Scenario scenario = only(number -> starts.add(clock.nanoTime()));

        new OpenLoopDriver(scenario, load(Duration.ZERO), clock).callUntilDone(0);

        assertThat(starts)
                .hasSize(10)
                .startsWith(0L, 100_000_000L, 200_000_000L)
                .endsWith(900_000_000L);
    }

    @Test
    void slowCallDelaysTheCallsBehindIt() throws InterruptedException {
        Scenario scenario = only(number -> clock.advance(Duration.ofMillis(number == 0 ? 500 : 1)));

        Tally tally = new OpenLoopDriver(scenario, load(Duration.ZERO), clock).callUntilDone(0);

        // The latencies of the first six calls are 500, 401, 302, 203, 104 and 5 ms; the latency of all later calls is
        // 1 ms. A closed loop would measure only one slow call.
        LatencyReport.Row total = LatencyReport.of(tally, TARGET).total();
        assertThat(total.maxMillis()).isBetween(499.0, 501.0);
        assertThat(total.within()).isEqualTo(0.5);
        assertThat(total.p50Millis()).isBetween(4.9, 5.1);
    }

    @Test
    void warmUpIsDrivenAndNotCounted() throws InterruptedException {
        List<Long> numbers = new ArrayList<>();
        Scenario scenario = only(number -> {
            numbers.add(number);
            clock.advance(Duration.ofMillis(number < 15 ? 90 : 1));
        });

        Tally tally = new OpenLoopDriver(scenario, load(Duration.ofSeconds(2)), clock).callUntilDone(0);

        LatencyReport.Row total = LatencyReport.of(tally, TARGET).total();
        assertThat(numbers).hasSize(25);
        assertThat(total.calls()).isEqualTo(10);
        assertThat(total.maxMillis()).isLessThan(1.1);
    }

    @Test
    void failuresAreCountedByKindAndHaveNoLatency() throws InterruptedException {
        Scenario scenario = only(number -> {
            if (number == 1) {
                throw new RpcException(StatusCode.UNAVAILABLE, "gone");
            }
            if (number == 2) {
                throw new AssertionError("wrong");
            }
        });

        LatencyReport report =
                LatencyReport.of(new OpenLoopDriver(scenario, load(Duration.ZERO), clock).callUntilDone(0), TARGET);

        assertThat(report.total().calls()).isEqualTo(8);
        assertThat(report.total().errors()).isEqualTo(2);
        assertThat(report.errors())
                .containsEntry("AssertionError", new Tally.ErrorCount(1, "wrong"))
                .containsEntry("UNAVAILABLE", new Tally.ErrorCount(1, "UNAVAILABLE: gone"));
    }

    @Test
    void usersShareTheCallsAndEachIsMadeOnce() throws InterruptedException {
        Set<Long> numbers = ConcurrentHashMap.newKeySet();
        Load load = new Load(20_000, Duration.ZERO, Duration.ofMillis(50), 8);

        Tally tally = new OpenLoopDriver(only(numbers::add), load).run(second -> {});

        assertThat(numbers).hasSize(1_000);
        assertThat(LatencyReport.of(tally, TARGET).total().calls()).isEqualTo(1_000);
    }

    @Test
    void stoppedDriverStartsNothingMore() throws InterruptedException {
        List<Long> numbers = new ArrayList<>();
        OpenLoopDriver[] driver = new OpenLoopDriver[1];
        Scenario scenario = only(number -> {
            numbers.add(number);
            driver[0].stop();
        });
        driver[0] = new OpenLoopDriver(scenario, load(Duration.ZERO), clock);

        driver[0].callUntilDone(0);

        assertThat(numbers).containsExactly(0L);
    }

    private static Scenario only(Scenario.Call call) {
        return Scenario.builder().step("call", 1, call).build();
    }

    private static Load load(Duration warmUp) {
        return new Load(10, warmUp, Duration.ofSeconds(1), 1);
    }
}
