package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import shop.Thumbnails;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Answers;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.machine.OpenFileUse;
import tern.rpc.diagnosis.sample.HeldRows;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.PinnedCarriers;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.diagnosis.text.CollectorText;
import tern.rpc.diagnosis.text.MachineText;
import tern.rpc.pool.LoggingMode;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests causes related to the garbage collector, the memory or the processors. */
class MachineCausesTest {

    private static final Consumer<Shop.Steps> USUAL =
            call -> call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.HTTP, "GET carrier:80", 5);

    private final Shop shop = new Shop();

    private static Machine machine(
            double own, double others, double collecting, double live, @Nullable String cause, double allocated) {
        return new Machine(2, own, others, 0, collecting, live, cause, allocated, -1, List.of(), 0, null, List.of());
    }

    /** Simulates calls that each include a garbage collector pause of 120 ms, and returns the first cause. */
    private Cause causeOfPauses(Machine during) {
        shop.machine = machine(0.3, 0.1, 0, 0.2, null, 10e6);
        shop.healthy(USUAL);
        shop.machine = during;
        shop.pauses = (from, to) -> {
            Times stood = new Times();
            stood.add(Part.of(Part.Kind.COLLECTOR), 120e6);
            return stood;
        };
        return shop.miss(call -> {
                    USUAL.accept(call);
                    call.own(120);
                })
                .causes()
                .get(0);
    }

    @Test
    void virtualThreadsWithoutACarrierDoNotWaitForProcessorsWhileProcessorsAreFree() {
        CauseDescription description = describe(Part.of(Part.Kind.CARRIER), machine(0.3, 0.1, 0, 0.2, null, 10e6));

        assertThat(description.name()).isEqualTo("carrier threads");
        assertThat(description.change().text()).contains("no free carrier thread, although processors are free");
    }

    @Test
    void codeAllocatesOnlyIfTheCollectorPausesTheCalls() {
        Part computing = new Part(Part.Kind.COMPUTING, "Rates.of");

        CauseDescription often = describe(computing, allocating(0.2));
        CauseDescription seldom = describe(computing, allocating(0.01));

        assertThat(often.kind()).isEqualTo("CODE ALLOCATES");
        assertThat(seldom.kind()).isEqualTo("CODE COMPUTES");
        assertThat(seldom.change().text())
                .isEqualTo("do less work in Rates.of; fewer or smaller objects also need less processor time: 480"
                        + " MB/s are allocated,"
                        + " usually 9; a different pool size does not help");
    }

    private static Machine allocating(double collecting) {
        return new Machine(2, 1, 0, 0, collecting, 0.3, null, 480e6, 9e6, List.of(), 0, null, List.of());
    }

    /** Returns the diagnosis's description of the given activity or wait of one late call. */
    private static CauseDescription describe(Part part, Machine machine) {
        CallLedger ledger = new CallLedger(() -> 0);
        SampledCall samples = new SampledCall(Shop.PLACE);
        samples.add(new Sample(1, Phase.OWN, part, List.of(), null, null, null, false, null, -1, -1));
        Evidence evidence = new Evidence(
                100_000_000,
                10,
                0,
                List.of(new EndedCall(Shop.PLACE, ledger, 200_000_000, 200_000_000, null)),
                List.of(),
                List.of(),
                List.of(),
                Map.of(ledger, samples),
                new TaskWatch(),
                new HeldRows(),
                LoggingMode.ASYNCHRONOUS,
                Map.of(),
                List.of(),
                new Baseline(),
                PauseTimes.NONE,
                List.of(),
                Map.of(),
                new Evidence.Counts(10, 1, 0, 0, 0),
                machine,
                Answers.unknown(),
                List.of(),
                List.of(),
                List.of(),
                OpenFileUse.UNKNOWN,
                List.of());
        return new MachineText(evidence, new ExcessTime(evidence)).describe(part);
    }

    @Test
    void virtualThreadThatWaitsOnItsCarrierIsNamed() {
        SampledCall samples = new SampledCall(Shop.PLACE);
        samples.addStack(Phase.OWN, virtual("parkOnCarrierThread"), false);
        SampledCall others = new SampledCall(Shop.PLACE);
        others.addStack(Phase.OWN, virtual("yieldContinuation"), false);

        assertThat(PinnedCarriers.line(Stream.of(samples.pinnedAt, others.pinnedAt)))
                .isEqualTo(new StackTraceElement("shop.Orders", "find", null, 41));
        assertThat(PinnedCarriers.line(Stream.of(others.pinnedAt))).isNull();
    }

    @Test
    void virtualThreadAtAMonitorKeepsItsCarrierBeforeJava24() {
        ThreadSnapshot virtual = blocked("java.lang.VirtualThread");

        assertThat(PinnedCarriers.isPinned(virtual, 21)).isTrue();
        assertThat(PinnedCarriers.isPinned(virtual, 24)).isFalse();
        assertThat(PinnedCarriers.isPinned(blocked("java.lang.Thread"), 21)).isFalse();
    }

    private static ThreadSnapshot blocked(String runner) {
        StackTraceElement[] frames = {
            new StackTraceElement("shop.Orders", "find", null, 41), new StackTraceElement(runner, "run", null, 309)
        };
        return new ThreadSnapshot("", 7, Thread.State.BLOCKED, frames, null, null, -1, -1);
    }

    private static ThreadSnapshot virtual(String parks) {
        StackTraceElement[] frames = {
            new StackTraceElement("jdk.internal.misc.Unsafe", "park", null, -2),
            new StackTraceElement("java.lang.VirtualThread", parks, null, 677),
            new StackTraceElement("java.lang.VirtualThread", "park", null, 600),
            new StackTraceElement("java.util.concurrent.CompletableFuture", "get", null, 1),
            new StackTraceElement("shop.Orders", "find", null, 41)
        };
        return new ThreadSnapshot("", 30, Thread.State.WAITING, frames, null, null, -1, -1);
    }

    @Test
    void threadsOutsideOfCallsThatAllocateMuchAreInTheChange() {
        Machine.Burner export = new Machine.Burner("export", 1, 0.4, 300e6, "Archive.row:19");

        Cause first = causeOfPauses(new Machine(
                2, 0.6, 0.1, 0, 0.3, 0.3, "G1 Evacuation Pause", 310e6, -1, List.of(export), 0, null, List.of()));

        assertThat(first.change().text())
                .startsWith("create fewer or smaller objects at the same time in Archive.row:19, where threads export*"
                        + " allocate 300 MB/s");
    }

    @ParameterizedTest
    @CsvSource({
        "0.97, G1 Evacuation Pause, 10, COLLECTOR: heap nearly full, limit the size of caches",
        "0.80, G1 Evacuation Pause, 10, COLLECTOR: heap nearly full, limit the size of caches",
        "0.80, G1 Evacuation Pause, 900, COLLECTOR: more allocation, create fewer or smaller objects per call",
        "0.30, System.gc(), 10, COLLECTOR: requested by code, do not call System.gc()",
        "0.30, Heap Inspection Initiated GC, 10, COLLECTOR: requested from outside, stop the tool or agent",
        "0.30, Diagnostic Command, 10, COLLECTOR: requested from outside, stop the tool or agent",
        "0.30, JvmtiEnv ForceGarbageCollection, 900, COLLECTOR: requested from outside, stop the tool or agent",
        "0.30, Metadata GC Threshold, 10, COLLECTOR: classes, find out what loads classes",
        "0.30, Metadata GC Clear Soft References, 10, COLLECTOR: classes, find out what loads classes repeatedly;"
                + " otherwise raise -XX:MaxMetaspaceSize",
        "0.30, G1 Evacuation Pause, 900, COLLECTOR: more allocation, create fewer or smaller objects per call",
        "0.30, G1 Evacuation Pause, 10, COLLECTOR, create fewer or smaller objects per call",
        "0.30, G1 Humongous Allocation, 10, COLLECTOR, create fewer or smaller objects per call; build arrays and"
                + " texts of more than half a region in parts",
    })
    void reasonOfTheCollectorIsNamedWithItsChange(
            double live, String cause, double megabytesPerSecond, String kind, String change) {
        Cause first = causeOfPauses(machine(0.6, 0.1, 0.3, live, cause, megabytesPerSecond * 1e6));

        assertThat(first.kind()).isEqualTo(kind);
        assertThat(first.change().text()).startsWith(change);
    }

    @Test
    void pausesInWhichAToolWritesTheHeapToAFileBelongToTheTool() {
        shop.machine = machine(0.3, 0.1, 0, 0.2, null, 10e6);
        shop.healthy(USUAL);
        shop.machine = machine(0.6, 0.1, 0.1, 0.3, "Heap Dump Initiated GC", 10e6);
        shop.pauses = (from, to) -> {
            Times stood = new Times();
            stood.add(Part.of(Part.Kind.COLLECTOR), 30e6);
            stood.add(Part.of(Part.Kind.JVM_PAUSE), 120e6);
            return stood;
        };

        Diagnosis miss = shop.miss(call -> USUAL.accept(call.own(150)));

        assertThat(miss.causes().get(0).kind()).as(miss.text()).isEqualTo("COLLECTOR: requested from outside");
        assertThat(miss.causes()).noneMatch(cause -> cause.kind().equals("JVM PAUSE"));
    }

    @Test
    void collectionsForDirectBuffersNameTheCodeThatAllocatesThem() throws Exception {
        shop.machine = machine(0.3, 0.1, 0, 0.2, null, 10e6);
        shop.healthy(USUAL);
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<CallLedger> ledger = new CompletableFuture<>();
        Thread drawing = new Thread(() -> {
            ledger.complete(new CallLedger(shop::now));
            Thumbnails.draw(end);
        });
        drawing.start();
        CallLedger known = ledger.get();
        long started = shop.now();
        shop.pass(300);
        shop.running.add(new RunningCall(Shop.PLACE, drawing.getId(), Phase.OWN, started, shop.now() - started, known));
        for (int i = 0; i < 100; i++) {
            shop.diagnostician.look();
            shop.pass(20);
        }
        end.countDown();
        drawing.join();
        shop.running.clear();
        shop.machine = machine(0.6, 0.1, 0.3, 0.3, "System.gc()", 10e6);
        shop.pauses = (from, to) -> {
            Times stood = new Times();
            stood.add(Part.of(Part.Kind.COLLECTOR), (to - from) * 0.9);
            return stood;
        };
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 20; call++) {
                    shop.call(Shop.PLACE, 0, steps -> steps.own(300));
                }
                shop.diagnostician.observer().ended(Shop.PLACE, known, shop.now() - started, shop.now(), null);
            });
        }

        Cause first = shop.diagnosis().causes().get(0);
        assertThat(first.kind()).isEqualTo("DIRECT MEMORY");
        assertThat(first.change().text()).contains("Thumbnails.draw");
    }

    @Test
    void processorsKeptBusyByOthersAreTheCauseIfOperationsOfSeveralKindsAreSlower() {
        shop.machine = machine(0.3, 0.1, 0, 0.2, null, 10e6);
        shop.healthy(USUAL);
        shop.machine = machine(0.3, 1.6, 0, 0.2, null, 10e6);

        Cause first = shop.miss(
                        call -> call.own(30).in(Phase.SQL, "select stock", 60).in(Phase.HTTP, "GET carrier:80", 70))
                .causes()
                .get(0);

        assertThat(first.kind()).isEqualTo("PROCESSORS");
        assertThat(first.name()).isEqualTo("other processes");
    }

    @Test
    void newOperationsAreNoConsequenceOfFullProcessors() {
        shop.machine = machine(0.3, 0.1, 0, 0.2, null, 10e6);
        shop.healthy(USUAL);
        shop.machine = machine(0.4, 1.6, 0, 0.2, null, 10e6);

        Diagnosis miss = shop.miss(call -> {
            USUAL.accept(call);
            call.own(15).in(Phase.SQL, "select badge", 120).in(Phase.HTTP, "GET badges:80", 110);
        });

        assertThat(miss.causes()).extracting(Cause::name).as(miss.text()).startsWith("select badge", "GET badges:80");
    }

    @Test
    void processorsThatOthersUsuallyKeepBusyAreNotTheCauseOfSlowerOperations() {
        shop.machine = machine(0.3, 1.6, 0, 0.2, null, 10e6);
        shop.healthy(USUAL);

        Diagnosis miss =
                shop.miss(call -> call.own(30).in(Phase.SQL, "select stock", 60).in(Phase.HTTP, "GET carrier:80", 70));

        assertThat(miss.causes())
                .extracting(Cause::kind)
                .doesNotContain("PROCESSORS")
                .contains("SLOW HTTP PEER", "SLOW STATEMENT");
    }

    /**
     * Simulates a machine with free processors. The host gives the given share of their time to other virtual machines.
     */
    private static Machine stolen(double share) {
        return new Machine(
                2,
                0.5,
                0.1,
                0,
                0,
                0.2,
                null,
                10e6,
                -1,
                -1,
                -1,
                -1,
                List.of(),
                0,
                null,
                List.of(),
                new Machine.Stolen(share, share / (share + 0.3), -1),
                null,
                null,
                Machine.Delay.UNKNOWN,
                null);
    }

    private Diagnosis missWithStolenTime(double usualShare, Consumer<Shop.Steps> slower) {
        shop.machine = stolen(usualShare);
        shop.healthy(USUAL);
        shop.machine = stolen(0.4);
        return shop.miss(slower);
    }

    private static Shop.Steps slowEverywhere(Shop.Steps call) {
        return call.own(20).in(Phase.SQL, "select stock", 50).in(Phase.HTTP, "GET carrier:80", 60);
    }

    @Test
    void timeThatTheHostTakesIsTheCauseIfSeveralKindsOfWorkAreSlower() {
        Diagnosis miss = missWithStolenTime(0.01, MachineCausesTest::slowEverywhere);

        assertThat(miss.causes()).extracting(DiagnosisText::title).containsExactly("PROCESSORS: stolen by the host");
        assertThat(miss.text()).contains("40 % of the time").doesNotContain("not      processors");
    }

    @Test
    void timeThatTheHostAlwaysTakesIsNotTheCause() {
        Diagnosis miss = missWithStolenTime(0.4, MachineCausesTest::slowEverywhere);

        assertThat(miss.causes()).extracting(Cause::kind).doesNotContain("PROCESSORS");
    }

    @Test
    void peerThatAloneIsSlowStaysTheCauseWhileTheHostTakesTime() {
        Diagnosis miss = missWithStolenTime(
                0.01, call -> call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.HTTP, "GET carrier:80", 200));

        assertThat(miss.causes().get(0).kind()).as(miss.text()).isEqualTo("SLOW HTTP PEER");
    }

    @Test
    void statementThatTakesFarLongerThanTheTargetStaysTheCauseWhileTheHostTakesTime() {
        Diagnosis miss = missWithStolenTime(
                0.01, call -> call.own(80).in(Phase.SQL, "select stock", 400).in(Phase.HTTP, "GET carrier:80", 90));

        assertThat(miss.causes().get(0).kind()).as(miss.text()).isEqualTo("SLOW STATEMENT");
    }

    private String evidenceOfASlowPeer(double others, double background) {
        shop.machine = machine(0.3, 0.1, 0, 0.2, null, 10e6);
        shop.healthy(USUAL);
        List<Machine.Burner> burners = List.of(
                new Machine.Burner("rpc-worker", 8, 0.5, 1e6, "Orders.find:41"),
                new Machine.Burner("rollup", 6, background, 1e6, "Statistics.roll:12"));
        shop.machine = new Machine(2, 1, others, 0, 0, 0.2, null, 10e6, -1, burners, 0, null, List.of());
        Cause first = shop.miss(
                        call -> call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.HTTP, "GET carrier:80", 200))
                .causes()
                .get(0);
        assertThat(first.kind()).isEqualTo("SLOW HTTP PEER");
        return first.evidence().toString();
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {
                "http-nio-8080-exec, Orders.price:9, true",
                "https-jsse-nio-8443-exec, Orders.price:9, true",
                "qtp, Orders.price:9, true",
                "reactor-http-epoll, Orders.price:9, true",
                "ForkJoinPool-1-worker, none, true",
                "ForkJoinPool-2-worker, Statistics.roll:12, false",
                "http-client-dispatch, Statistics.roll:12, false",
                "rollup, Statistics.roll:12, false"
            })
    void threadsOfAWebServerServeCalls(String name, @Nullable String place, boolean serves) {
        assertThat(new Machine.Burner(name, 4, 1.5, 1e6, place).servesCalls()).isEqualTo(serves);
    }

    @Test
    void threadsWithoutCallsThatUseMuchOfTheFullProcessorsAreNamed() {
        assertThat(evidenceOfASlowPeer(0.9, 0.5))
                .contains("threads  rollup* (6): 0.5 in Statistics.roll:12")
                .doesNotContain("rpc-worker");
    }

    @Test
    void threadsWithoutCallsAreNotNamedIfTheyUseLittle() {
        assertThat(evidenceOfASlowPeer(0.9, 0.2)).doesNotContain("rollup");
    }

    @Test
    void threadsWithoutCallsAreNotNamedWhileProcessorsAreFree() {
        assertThat(evidenceOfASlowPeer(0.1, 0.5)).doesNotContain("rollup");
    }

    private Diagnosis missAtExecutor(double others) {
        long[] taken = new long[1];
        shop.pools.add(() -> PoolSnapshot.builder("printing", PoolKind.EXECUTOR, 6)
                .now(0, 6, 0)
                .counts(taken[0] += 25, 0)
                .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 10))
                .settings(List.of())
                .build());
        Consumer<Shop.Steps> usual = call -> USUAL.accept(call.in(Phase.EXECUTOR, "printing", 1));
        shop.machine = machine(0.3, 0.1, 0, 0.2, null, 10e6);
        shop.healthy(usual);
        shop.machine = machine(0.3, others, 0, 0.2, null, 10e6);
        return shop.miss(call -> call.own(30)
                .in(Phase.EXECUTOR, "printing", 45)
                .in(Phase.SQL, "select stock", 60)
                .in(Phase.HTTP, "GET carrier:80", 70));
    }

    @Test
    void executorThatNeedsFewThreadsIsASymptomOfFullProcessors() {
        Diagnosis miss = missAtExecutor(1.6);

        assertThat(miss.causes()).extracting(DiagnosisText::title).containsExactly("PROCESSORS: other processes");
        assertThat(miss.causes().get(0).symptoms()).anyMatch(symptom -> symptom.contains("\"printing\""));
    }

    @Test
    void executorStaysACauseWhileProcessorsAreFree() {
        assertThat(missAtExecutor(0.2).causes()).anyMatch(cause -> cause.name().equals("printing"));
    }

    @Test
    void saturatedProcessorsAreTheCauseAlsoIfTheShortOperationsOfAKindAreAllSlower() {
        shop.machine = machine(0.3, 0.1, 0, 0.2, null, 10e6);
        shop.healthy(call -> call.own(2)
                .in(Phase.SQL, "select count", 3)
                .in(Phase.HTTP, "GET tariff:80", 1)
                .in(Phase.HTTP, "GET address:80", 1));
        shop.machine = machine(0.3, 1.7, 0, 0.2, null, 10e6);

        Diagnosis miss = shop.miss(call -> call.own(60)
                .in(Phase.SQL, "select count", 63)
                .in(Phase.HTTP, "GET tariff:80", 6)
                .in(Phase.HTTP, "GET address:80", 6));

        assertThat(DiagnosisText.title(Shop.first(miss))).as(miss.text()).isEqualTo("PROCESSORS: other processes");
    }

    @Test
    void serialCollectorMayBeReplacedByOneWithShorterPauses() {
        assertThat(CollectorText.concurrent(Stream.of("Copy", "MarkSweepCompact")))
                .contains("-XX:+UseG1GC", "less than two processors");
        assertThat(CollectorText.concurrent(Stream.of("G1 Young Generation", "G1 Old Generation")))
                .isEmpty();
    }
}
