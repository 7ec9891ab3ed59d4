package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.evidence.RunTime;

/**
 * Tests processors that are always saturated by work of normal priority. In this case, only the waits of the threads
 * that serve calls show whether these threads get a processor later than usual.
 */
public class DelayedThreadsTest {

    private static final Consumer<Shop.Steps> USUAL = call -> call.own(2)
            .in(Phase.RPC, "Stock.left at 10.0.0.7:1", 5)
            .in(Phase.SQL, "select orders", 5)
            .in(Phase.HTTP, "GET carrier:80", 3);

    private static final Consumer<Shop.Steps> SLOWER = call -> call.own(30)
            .in(Phase.RPC, "Stock.left at 10.0.0.7:1", 60)
            .in(Phase.SQL, "select orders", 50)
            .in(Phase.HTTP, "GET carrier:80", 40);

    private final Shop shop = new Shop();

    /** Returns two saturated processors, on which each thread that serves calls waits for the given time. */
    public static Machine full(double own, double delayMillis, Machine.Burner... burners) {
        long turns = 200;
        return new Machine(2, own, 2 - own, 0, 0, 0.2, null, 10e6, -1, List.of(burners), 0, null, List.of())
                .delayed(Machine.Delay.of(new RunTime(100_000_000, (long) (delayMillis * 1e6 * turns), turns)));
    }

    private static Machine.Burner training(double processors) {
        return new Machine.Burner("risk", 16, processors, 1e6, "Risk.train:114");
    }

    private Diagnosis miss(Machine usually, Machine during, Consumer<Shop.Steps> slower) {
        return miss(USUAL, usually, during, slower);
    }

    private Diagnosis miss(Consumer<Shop.Steps> usual, Machine usually, Machine during, Consumer<Shop.Steps> slower) {
        shop.machine = usually;
        shop.healthy(usual);
        shop.machine = during;
        return shop.miss(slower);
    }

    /**
     * Simulates a miss shortly after the start of the application, with processors that have been saturated from the
     * start. Returns the diagnosis.
     */
    private Diagnosis missSoonAfterStart(Consumer<Shop.Steps> slower) {
        shop.machine = full(0.4, 8);
        for (int second = 0; second < 64; second++) {
            shop.second(60, USUAL);
        }
        return shop.miss(slower);
    }

    private static void assertFirst(Diagnosis miss, String title) {
        assertThat(DiagnosisText.title(Shop.first(miss))).as(miss.text()).isEqualTo(title);
    }

    @Test
    void jobThatTakesTheProcessorsFromCallsIsNamedAlthoughTheProcessorsWereAsBusyBefore() {
        Diagnosis miss = miss(full(0.4, 0.4), full(1.5, 12, training(1.1)), SLOWER);

        assertFirst(miss, "PROCESSORS: risk");
        assertThat(miss.causes().get(0).change().text()).contains("Risk.train:114");
        assertThat(miss.text())
                .contains("waits    12 ms until a thread that serves calls gets a processor, usually 0.4");
    }

    @Test
    void jobIsNamedEvenIfOtherProcessesUseMore() {
        Diagnosis miss = miss(full(0.2, 0.4), full(0.8, 12, training(0.6)), SLOWER);

        assertFirst(miss, "PROCESSORS: risk");
    }

    @Test
    void moreThreadsOfOtherProcessesAreNamedAlthoughTheProcessorsWereAsBusyBefore() {
        Diagnosis miss = miss(full(0.6, 0.4), full(0.3, 12), SLOWER);

        assertFirst(miss, "PROCESSORS: other processes");
    }

    @Test
    void waitsThatAreAsLongAsUsualAcquitTheProcessors() {
        Diagnosis miss = miss(full(0.4, 4), full(0.4, 5), SLOWER);

        assertThat(miss.causes()).extracting(Cause::kind).as(miss.text()).doesNotContain("PROCESSORS");
    }

    @Test
    void peerThatAloneIsSlowIsTheCauseWhileThreadsWaitLonger() {
        Diagnosis miss = miss(
                full(0.4, 0.4),
                full(0.4, 4),
                call -> call.own(4)
                        .in(Phase.RPC, "Stock.left at 10.0.0.7:1", 6)
                        .in(Phase.SQL, "select orders", 6)
                        .in(Phase.HTTP, "GET carrier:80", 200));

        assertThat(miss.causes().get(0).kind()).as(miss.text()).isEqualTo("SLOW HTTP PEER");
    }

    @Test
    void methodsThatTakeFarLongerThanTheWaitsForAProcessorAreTheCause() {
        Consumer<Shop.Steps> usual = call -> call.own(2)
                .in(Phase.RPC, "Stock.left at 10.0.0.7:1", 5)
                .in(Phase.RPC, "Stock.hold at 10.0.0.7:1", 5)
                .in(Phase.RPC, "Catalogue.find at 10.0.0.7:1", 5)
                .in(Phase.RPC, "Price.of at 10.0.0.8:1", 5);

        Diagnosis miss = miss(
                usual,
                full(0.4, 0.7),
                full(0.4, 3.5),
                call -> call.own(8)
                        .in(Phase.RPC, "Stock.left at 10.0.0.7:1", 700)
                        .in(Phase.RPC, "Stock.hold at 10.0.0.7:1", 800)
                        .in(Phase.RPC, "Catalogue.find at 10.0.0.7:1", 600)
                        .in(Phase.RPC, "Price.of at 10.0.0.8:1", 15));

        assertThat(Shop.first(miss).kind()).as(miss.text()).isEqualTo("PEER");
    }

    /** Simulates a miss of calls whose operations take the given times on saturated processors. */
    private Diagnosis missOnFullProcessors(double own, double rpc, double sql, double http) {
        return miss(
                full(0.4, 0.4),
                full(0.4, 7),
                call -> call.own(own)
                        .in(Phase.RPC, "Stock.left at 10.0.0.7:1", rpc)
                        .in(Phase.SQL, "select orders", sql)
                        .in(Phase.HTTP, "GET carrier:80", http));
    }

    @ParameterizedTest
    @CsvSource({
        "30, 60, 900, 45, SLOW STATEMENT: select orders",
        "200, 60, 1200, 40, SLOW STATEMENT: select orders",
        "30, 900, 60, 45, PEER: Stock.left at 10.0.0.7:1",
        "30, 60, 60, 700, SLOW HTTP PEER: GET carrier:80"
    })
    void operationThatIsDelayedFarMoreThanAllOthersIsTheFirstCause(
            double own, double rpc, double sql, double http, String cause) {
        Diagnosis miss = missOnFullProcessors(own, rpc, sql, http);

        assertFirst(miss, cause);
        assertThat(miss.causes())
                .extracting(Cause::kind)
                .as(miss.text())
                .hasSize(2)
                .endsWith("PROCESSORS");
    }

    @Test
    void operationsThatTakeSecondsAreTheCauseWhileThreadsWaitMillisecondsForAProcessor() {
        Diagnosis miss = missOnFullProcessors(30, 60, 2500, 3000);

        assertFirst(miss, "SLOW HTTP PEER: GET carrier:80");
        assertThat(miss.causes()).extracting(Cause::kind).as(miss.text()).contains("SLOW STATEMENT");
    }

    @Test
    void busyProcessorsDoNotExplainSecondsInWhichCodeUsesNoProcessorTime() {
        Diagnosis miss = missOnFullProcessors(4000, 60, 60, 45);

        assertFirst(miss, "UNEXPLAINED: own time of calls");
    }

    @ParameterizedTest
    @CsvSource({
        "30, 60, 110, 45", // no operation is delayed by more than 20 waits for a processor
        "30, 160, 500, 95", // the statement is delayed most, but the other operations are delayed, too
        "300, 60, 250, 45"
    })
    void operationThatIsDelayedLikeTheOthersIsNoCauseOnFullProcessors(double own, double rpc, double sql, double http) {
        Diagnosis miss = missOnFullProcessors(own, rpc, sql, http);

        assertFirst(miss, "PROCESSORS: other processes");
    }

    @Test
    void requestsAreNotLargeIfTheThreadsThatReadThemWaitForAProcessor() {
        Diagnosis miss = miss(full(0.4, 0.4), full(0.2, 12), call -> {
            Phase outer = call.ledger.turnTo(Phase.DECODE);
            shop.pass(150);
            call.ledger.turnTo(outer);
            USUAL.accept(call);
        });

        assertFirst(miss, "PROCESSORS: other processes");
        assertThat(miss.causes()).extracting(Cause::kind).doesNotContain("LARGE REQUESTS");
    }

    @Test
    void unexplainedTimeOfHangingCallsIsNoWaitForAProcessor() {
        List<Cause> causes = new SampledCalls()
                .on(full(0.2, 12))
                .calls("Tariffs.of", Phase.OWN, 90_000, samples -> {})
                .causes();

        assertThat(causes.get(0).kind()).isEqualTo("UNEXPLAINED");
    }

    @Test
    void unexplainedTimeOfShortCallsMayBeAWaitForAProcessor() {
        List<Cause> causes = new SampledCalls()
                .on(full(0.2, 12))
                .calls("Tariffs.of", Phase.OWN, 200, samples -> {})
                .causes();

        assertThat(causes.get(0).kind()).isEqualTo("PROCESSORS");
    }

    @Test
    void longerWaitsOfPunctualCallsCauseNoAlarm() {
        Diagnosis calm = miss(full(0.4, 0.4), full(1.5, 12, training(1.1)), USUAL);

        assertThat(calm.state()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void processorsAreNotSaturatedByAShortBurstOfDelay() {
        assertThat(Machine.Delay.of(new RunTime(100, 0, 0)).isLonger()).isFalse();
        assertThat(new Machine.Delay(0.9e6, 0.1e6, 2, 1, true).isLonger()).isFalse();
        assertThat(new Machine.Delay(12e6, -1, 2, 1, true).isLonger()).isFalse();
        assertThat(new Machine.Delay(12e6, 4e6, 2, 1, true).isLonger()).isTrue();
    }

    @Test
    void processorsThatAreShortFromTheStartAreTheCause() {
        Diagnosis miss = missSoonAfterStart(call -> call.own(20)
                .in(Phase.RPC, "Stock.left at 10.0.0.7:1", 20)
                .in(Phase.SQL, "select orders", 15)
                .in(Phase.HTTP, "GET carrier:80", 90));

        assertFirst(miss, "PROCESSORS: other processes");
    }

    @Test
    void peerThatTakesNearlyAllOfTheTimeIsTheCauseWhileProcessorsAreShortFromTheStart() {
        Diagnosis miss = missSoonAfterStart(call -> call.own(6)
                .in(Phase.RPC, "Stock.left at 10.0.0.7:1", 9)
                .in(Phase.SQL, "select orders", 8)
                .in(Phase.HTTP, "GET carrier:80", 300));

        assertThat(miss.causes().get(0).kind()).as(miss.text()).isEqualTo("SLOW HTTP PEER");
    }

    @Test
    void networkIsNotTheCauseIfThreadsWaitLongerForAProcessor() {
        Consumer<Shop.Steps> usual = call ->
                call.own(2).in(Phase.RPC, "Stock.left at 10.0.0.7:1", 5).in(Phase.RPC, "Prices.of at 10.0.0.8:1", 6);

        Diagnosis miss = miss(
                usual,
                full(0.4, 0.4),
                full(0.3, 9),
                call -> call.own(4)
                        .in(Phase.RPC, "Stock.left at 10.0.0.7:1", 60)
                        .in(Phase.RPC, "Prices.of at 10.0.0.8:1", 62));

        assertFirst(miss, "PROCESSORS: other processes");
    }

    @Test
    void callsWithoutOperationsWaitForTheProcessorsThatAJobTakes() {
        Diagnosis miss = miss(call -> call.own(5), full(0.4, 0.4), full(1.5, 12, training(1.1)), call -> call.own(140));

        assertFirst(miss, "PROCESSORS: risk");
    }

    @Test
    void statementsAndCodeThatAQuotaStopsHaveOneCause() {
        Machine quota = new Machine(0.5, 0.49, 0, 0.6, 0, 0.2, null, 10e6, -1, List.of(), 0, null, List.of())
                .delayed(Machine.Delay.of(new RunTime(700_000_000, 6_000_000_000L, 200)));

        Diagnosis miss = miss(
                call -> call.own(4).in(Phase.SQL, "select orders", 3),
                full(0.4, 0.4),
                quota,
                call -> call.own(90).in(Phase.SQL, "select orders", 60));

        assertFirst(miss, "PROCESSOR QUOTA: quota of the container");
        assertThat(miss.causes()).hasSize(1);
    }

    /**
     * Simulates calls that take 140 ms and are sampled only once, while their code uses processor time. Returns the
     * cause that the diagnosis names first.
     */
    private static String firstOfOneSample(Machine during) {
        StackTraceElement line = new StackTraceElement("shop.Prices", "sum", "Prices.java", 9);
        Part part = new Part(Part.Kind.COMPUTING, "Prices.sum");
        SampledCalls calls = new SampledCalls()
                .on(during.usually(-1, 0.5, 0.5, 0).delayed(during.delay().usually(4e5, 0.4, true)))
                .usuallyOwn("Shop.buy", 5, 2)
                .calls("Shop.buy", Phase.OWN, 140, samples -> {
                    if (samples.list.isEmpty()) {
                        samples.add(new Sample(
                                0,
                                Phase.OWN,
                                part,
                                List.of(line),
                                null,
                                null,
                                null,
                                false,
                                null,
                                1_000_000,
                                2_000_000));
                    }
                });
        return DiagnosisText.title(calls.causes().get(0));
    }

    @Test
    void codeThatASingleSampleShowsMostlyWaitsForTheProcessorsThatOthersTake() {
        assertThat(firstOfOneSample(full(1.9, 12, training(1.5)))).isEqualTo("PROCESSORS: risk");
        assertThat(firstOfOneSample(full(0.3, 12))).isEqualTo("PROCESSORS: other processes");
        assertThat(firstOfOneSample(full(1.9, 12, new Machine.Burner("rpc-worker", 16, 1.8, 1e6, "Prices.sum:9"))))
                .isEqualTo("CODE COMPUTES: Prices.sum");
    }

    /**
     * Simulates calls that take 180 ms, of which a regular expression computes for the given time. The threads wait for
     * a processor in the rest. Returns the cause that the diagnosis names first.
     */
    private static String firstOfRegex(Machine during, double usualWaitMillis, long computingMillis) {
        StackTraceElement line = new StackTraceElement("shop.Labels", "of", "Labels.java", 18);
        Part part = new Part(Part.Kind.COMPUTING, "Labels.of");
        SampledCalls calls = new SampledCalls()
                .on(during.usually(-1, 0.5, 0.5, 0).delayed(during.delay().usually(usualWaitMillis * 1e6, 0.4, true)))
                .usuallyOwn("Desk.label", 5, 2)
                .calls("Desk.label", Phase.OWN, 180, samples -> {
                    long look = samples.list.size();
                    samples.add(new Sample(
                            look * 36_000_000,
                            Phase.OWN,
                            part,
                            List.of(line),
                            null,
                            null,
                            null,
                            false,
                            null,
                            look * computingMillis * 200_000,
                            look * (180 - computingMillis) * 200_000));
                });
        return DiagnosisText.title(calls.causes().get(0));
    }

    @Test
    void codeThatComputesLongIsTheCauseWhileEachWaitForAProcessorIsAsLongAsUsual() {
        assertThat(firstOfRegex(full(0.2, 1.4), 1.4, 60)).isEqualTo("CODE COMPUTES: Labels.of");
    }

    @Test
    void codeThatMakesCallsLateWithoutAnyWaitIsTheCauseAlthoughThreadsWaitLonger() {
        assertThat(firstOfRegex(full(0.3, 4.5), 0.6, 110)).isEqualTo("CODE COMPUTES: Labels.of");
    }

    @Test
    void codeThatComputesForAShortTimeIsNotTheCauseWhileThreadsWaitLonger() {
        assertThat(firstOfRegex(full(0.3, 4.5), 0.6, 20)).isEqualTo("PROCESSORS: other processes");
        assertThat(firstOfRegex(full(0.3, 4.5), 0.6, 60)).isEqualTo("PROCESSORS: other processes");
    }

    private static StackTraceElement frame(String type, String method) {
        return new StackTraceElement(type, method, null, 7);
    }

    /**
     * Simulates calls that wait for an exchange of a task in the common pool, while all operations of other calls are a
     * little slower. Returns the titles of the causes.
     */
    private static List<String> causesOfTasks(double taskMillis) {
        TaskWatch tasks = new TaskWatch();
        StackTraceElement[] asks = {
            frame("sun.nio.ch.NioSocketImpl", "park"),
            frame("org.apache.hc.client5.http.impl.classic.CloseableHttpClient", "execute"),
            frame("depot.Tolls", "ask"),
            frame("java.util.concurrent.ForkJoinWorkerThread", "run")
        };
        for (int i = 0; i < 10; i++) {
            tasks.add(new ThreadSnapshot(
                    "ForkJoinPool.commonPool-worker-1", 9, Thread.State.WAITING, asks, null, null, -1, -1));
        }
        Part wait = new Part(Part.Kind.RESULT, "Tolls.of");
        return new SampledCalls()
                        .on(full(0.3, 3.2).delayed(full(0.3, 3.2).delay().usually(0.5e6, 0.4, true)))
                        .tasks(tasks)
                        .usuallyOwn("Route.toll", 5, 20)
                        .usually("Route.stops", Phase.SQL, "select orders", 3)
                        .usually("Route.stops", Phase.HTTP, "GET stock:80", 3)
                        .calls(
                                "Route.toll",
                                Phase.OWN,
                                taskMillis,
                                samples -> samples.add(new Sample(
                                        0,
                                        Phase.OWN,
                                        wait,
                                        List.of(frame("depot.Tolls", "of")),
                                        "CompletableFuture.join",
                                        null,
                                        null,
                                        false,
                                        null,
                                        -1,
                                        -1)))
                        .waitingForThread("Route.stops", 90, Phase.SQL, 20, samples -> {})
                        .causes()
                        .stream()
                        .map(DiagnosisText::title)
                        .toList();
    }

    @Test
    void peerOfTasksThatAloneIsSlowIsACauseWhileThreadsWaitLonger() {
        assertThat(causesOfTasks(400)).first().isEqualTo("SLOW HTTP PEER: called in Tolls.ask");
    }

    @Test
    void quotaThatStopsTheProcessMostOfTheTimeIsTheCauseAlthoughOnePeerTakesMostOfTheTime() {
        Machine quota = new Machine(0.05, 0.05, 1, 0.9, 0, 0.2, null, 10e6, -1, List.of(), 0, null, List.of())
                .delayed(Machine.Delay.of(new RunTime(70_000_000, 4_000_000_000L, 200)));

        Diagnosis miss = miss(
                call -> call.own(4).in(Phase.RPC, "Stock.left at 10.0.0.7:1", 7),
                full(0.4, 0.4),
                quota,
                call -> call.own(20).in(Phase.RPC, "Stock.left at 10.0.0.7:1", 190));

        assertFirst(miss, "PROCESSOR QUOTA: quota of the container");
    }
}
