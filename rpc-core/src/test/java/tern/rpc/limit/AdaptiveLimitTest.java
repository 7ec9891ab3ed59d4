package tern.rpc.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.limit.SimulatedServer.Caller;

/** Tests the adaptive limit with a simulated server that has two processors and 200 threads. */
class AdaptiveLimitTest {

    /** The number of calls per second that the server can process if each call needs 5 ms of CPU time. */
    private static final double CAPACITY = 400;

    @ParameterizedTest
    @ValueSource(doubles = {0.1, 0.5, 0.8})
    void nothingIsRefusedBelowCapacity(double load) {
        SimulatedServer server = new SimulatedServer().calls(5, 0);
        Caller caller = server.caller(load * CAPACITY);

        server.run(30);

        assertThat(caller.counts().refused()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"1.5, 3000", "3, 3000", "3, 250", "10, 3000", "10, 250"})
    void overloadBendsThroughput(double load, long deadlineMillis) {
        SimulatedServer server = new SimulatedServer().calls(5, 0).deadline(deadlineMillis);
        Caller caller = server.caller(0.5 * CAPACITY);
        server.runUncounted(5);

        caller.calls(load * CAPACITY);
        server.runUncounted(5);
        server.run(20);

        double goodput = caller.counts().answered() / 20.0;
        System.out.printf(
                "simulated load %.1f, deadline %d ms: goodput %.0f %%, mean %.0f ms, limit %d%n",
                load,
                deadlineMillis,
                100 * goodput / CAPACITY,
                caller.counts().meanMillis(),
                server.limiter().limit());
        assertThat(goodput).isGreaterThan(0.9 * CAPACITY);
    }

    @Test
    void acceptedCallsStayQuickUnderOverload() {
        SimulatedServer server = new SimulatedServer().calls(5, 0);
        Caller caller = server.caller(0.5 * CAPACITY);
        server.runUncounted(10);

        caller.calls(3 * CAPACITY);
        server.runUncounted(5);
        server.run(20);

        assertThat(caller.counts().meanMillis()).isLessThan(60);
    }

    @Test
    void serverThatStartsUnderOverloadFindsItsLimitToo() {
        SimulatedServer server = new SimulatedServer().calls(5, 0).deadline(500);
        Caller caller = server.caller(3 * CAPACITY);

        server.runUncounted(10);
        server.run(20);

        assertThat(caller.counts().answered() / 20.0).isGreaterThan(0.9 * CAPACITY);
    }

    @Test
    void callsThatTakeTwoSecondsAreNotThrottledWhileThereAreThreads() {
        SimulatedServer server = new SimulatedServer().calls(0.1, 2_000);
        Caller caller = server.caller(20);
        server.run(10);

        caller.calls(80); // Each call occupies a thread for 2 s, so 80 calls per second occupy 160 of the 200 threads.
        server.run(60);

        assertThat(caller.counts().refused()).isZero();
    }

    @Test
    void callsThatDoNotSlowEachOtherDownUseAllThreads() {
        SimulatedServer server = new SimulatedServer().calls(0.1, 2_000);
        Caller caller = server.caller(50);
        server.runUncounted(20);

        caller.calls(300); // With 200 threads, the server can serve 100 calls per second.
        server.runUncounted(10);
        server.run(60);

        assertThat(caller.counts().answered() / 60.0).isGreaterThan(0.9 * 100);
    }

    @Test
    void dependencyThatBecomesSlowDoesNotCostMoreThanItsSlowness() {
        SimulatedServer server = new SimulatedServer().calls(0.1, 10);
        Caller caller = server.caller(1_000);
        server.runUncounted(10);

        server.calls(0.1, 500); // With 200 threads, the server can serve 400 calls of 500 ms per second.
        server.runUncounted(5);
        server.run(20);

        assertThat(caller.counts().answered() / 20.0).isGreaterThan(0.9 * 400);

        server.calls(0.1, 10);
        server.runUncounted(2);
        server.run(10);

        assertThat(caller.counts().refused()).isZero();
    }

    @Test
    void dependencyThatBecomesSlowUnderOverloadIsRecognized() {
        SimulatedServer server = new SimulatedServer().calls(5, 0);
        Caller caller = server.caller(200);
        server.run(5);
        caller.calls(1_200);
        server.run(10);
        assertThat(server.limiter().limit()).isLessThan(60);

        server.calls(0.1, 500);
        for (int i = 5; i <= 20; i += 5) {
            server.runUncounted(0);
            server.run(5);
            System.out.printf(
                    "simulated slowness under overload, to second %d: %.0f %%%n",
                    i, 100 * caller.counts().answered() / (400 * 5.0));
        }
        server.runUncounted(0);
        server.run(20);

        assertThat(caller.counts().answered() / 20.0).isGreaterThan(0.9 * 400);
    }

    @ParameterizedTest
    @CsvSource({"5, 20, 100", "20, 5, 400", "5, 1, 2000"})
    void limitFollowsTheNewCostOfCalls(double before, double after, double capacity) {
        SimulatedServer server = new SimulatedServer().calls(before, 0);
        Caller caller = server.caller(200 / before);
        server.run(5);
        caller.calls(10_000);
        server.run(10);

        server.calls(after, 0);
        server.runUncounted(10);
        server.run(10);

        assertThat(caller.counts().answered() / 10.0).isGreaterThan(0.9 * capacity);
    }

    @Test
    void limitIsForgottenSoonAfterTheOverload() {
        SimulatedServer server = new SimulatedServer().calls(5, 0);
        Caller caller = server.caller(10 * CAPACITY);
        server.run(20);

        caller.calls(0.8 * CAPACITY);
        server.runUncounted(3);
        server.run(20);

        assertThat(caller.counts().refused()).isLessThan(caller.counts().sent() / 100);
    }

    @Test
    void manySimultaneousQuickCallsDoNotCountAsOverload() {
        SimulatedServer server = new SimulatedServer().calls(0.05, 0);
        Caller caller = server.caller(5_000);
        server.run(5);

        caller.calls(60_000); // Two processors can serve 40,000 calls per second.
        server.runUncounted(5);
        server.run(5);

        assertThat(caller.counts().answered() / 5.0).isGreaterThan(0.9 * 40_000);
        assertThat(server.limiter().limit()).isGreaterThan(200);
    }

    @Test
    void burstOnAnIdleServerIsAdmittedCompletely() {
        SimulatedServer server = new SimulatedServer().calls(0.1, 10);
        Caller caller = server.caller(10);
        Caller other = server.caller(10);
        server.runUncounted(5);

        for (int i = 0; i < 20; i++) {
            assertThat(server.burst(caller, 300)).isZero();
            assertThat(server.burst(other, 100)).isZero();
            server.run(1);
        }

        assertThat(caller.counts().refused() + other.counts().refused()).isZero();
    }

    @Test
    void hangingCallsDoNotKeepTheLimitDown() {
        SimulatedServer server = new SimulatedServer().calls(5, 0);
        Caller caller = server.caller(0.5 * CAPACITY);
        server.run(5);
        caller.calls(3 * CAPACITY);
        server.run(10);

        server.calls(0.1, 60_000);
        server.run(50);

        assertThat(server.limiter().inside()).isGreaterThan(100);
    }

    @ParameterizedTest
    @CsvSource({"5, 0, 400", "0.1, 500, 400"})
    void connectionThatFloodsDoesNotStarveOthers(double cpuMillis, double elsewhereMillis, double capacity) {
        SimulatedServer server = new SimulatedServer().calls(cpuMillis, elsewhereMillis);
        Caller[] others = callers(server, 0.5 * capacity);
        Caller flooding = server.caller(capacity * 0.5 / 9);
        server.runUncounted(10);
        server.run(20);
        double quiet = p99Millis(others);

        flooding.calls(10 * capacity);
        server.runUncounted(5);
        server.runUncounted(5);
        server.run(20);

        int sent = sent(others);
        int answered = answered(others);
        System.out.printf(
                "simulated flood, calls of %.1f + %.0f ms: others %.1f %%, p99 %.0f -> %.0f ms, all %.0f %%, limit"
                        + " %d%n",
                cpuMillis,
                elsewhereMillis,
                100.0 * answered / sent,
                quiet,
                p99Millis(others),
                (answered + flooding.counts().answered()) * 5 / capacity,
                server.limiter().limit());
        assertThat(answered).isGreaterThan(sent * 98 / 100);
        assertThat(p99Millis(others)).isLessThan(2 * quiet + 25);
        assertThat(answered + flooding.counts().answered()).isGreaterThan((int) (0.85 * capacity * 20));
    }

    @ParameterizedTest
    @CsvSource({"0.1, 100, 2000", "0.1, 10, 10000", "10, 0, 200", "5, 20, 400"})
    void tenantThatFloodsGetsOnlyTheRestOfTheCapacity(double cpuMillis, double elsewhereMillis, double capacity) {
        SimulatedServer server = new SimulatedServer().calls(5, 0);
        Caller[] others = callers(server, 0.1 * CAPACITY);
        Caller flooding = server.caller(1);
        server.run(10);
        flooding.calls(50_000);
        server.run(10);

        server.calls(cpuMillis, elsewhereMillis);
        server.runUncounted(30);
        server.run(20);

        assertThat(answered(others) + flooding.counts().answered()).isGreaterThan((int) (0.75 * capacity * 20));
        assertThat(answered(others)).isGreaterThan(sent(others) * 95 / 100);
    }

    @Test
    void floodingTenantGetsAllPlacesIfItIsAlone() {
        SimulatedServer server = new SimulatedServer().calls(0.1, 100);
        Caller[] others = callers(server, 200);
        Caller flooding = server.caller(100);
        server.run(10);
        flooding.calls(20_000);
        server.run(10);

        for (Caller other : others) {
            other.calls(0);
        }
        server.runUncounted(5);
        server.run(10);

        assertThat(flooding.counts().answered()).isGreaterThan((int) (0.9 * 2_000 * 10));
    }

    @Test
    void tenantWithLessThanTwoThirdsOfTheExcessDoesNotFlood() {
        SimulatedServer server = new SimulatedServer().calls(5, 0);
        Caller[] all =
                IntStream.range(0, 3).mapToObj(i -> server.caller(2 * CAPACITY)).toArray(Caller[]::new);
        server.runUncounted(10);

        server.run(20);

        for (Caller one : all) {
            assertThat(one.counts().answered()).isGreaterThan((int) (0.2 * CAPACITY * 20));
        }
    }

    private static Caller[] callers(SimulatedServer server, double perSecond) {
        return IntStream.range(0, 9).mapToObj(i -> server.caller(perSecond / 9)).toArray(Caller[]::new);
    }

    private static int sent(Caller... callers) {
        return Arrays.stream(callers).mapToInt(caller -> caller.counts().sent()).sum();
    }

    private static int answered(Caller... callers) {
        return Arrays.stream(callers)
                .mapToInt(caller -> caller.counts().answered())
                .sum();
    }

    private static double p99Millis(Caller... callers) {
        List<Long> sorted = Arrays.stream(callers)
                .flatMap(caller -> caller.counts().nanos().stream())
                .sorted()
                .toList();
        return sorted.get(sorted.size() * 99 / 100) / 1e6;
    }

    @Test
    void connectionsThatHoldLessThanAnotherAreAdmittedBeyondTheLimit() {
        SimulatedServer server = new SimulatedServer(new FixedLimit(12)).calls(5, 0);
        Caller[] others = callers(server, 0.4 * CAPACITY);
        server.caller(4 * CAPACITY);
        server.runUncounted(2);

        server.run(20);

        int refused =
                IntStream.range(0, 9).map(i -> others[i].counts().refused()).sum();
        assertThat(refused).isLessThan(sent(others) / 10);
    }

    @Test
    void manyConnectionsThatHoldLittleStayWithinTheLimit() {
        SimulatedServer server = new SimulatedServer(new FixedLimit(40)).calls(5, 0);
        IntStream.range(0, 1_000).forEach(i -> server.caller(3 * CAPACITY / 1_000));

        for (int i = 0; i < 100; i++) {
            server.run(0.1);

            assertThat(server.limiter().inside()).isLessThanOrEqualTo(44);
        }
    }
}
