package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.diagnosis.stack.ThreadSnapshot.Carrier;

/** Tests calls on virtual threads that wait for a carrier thread. */
class OccupiedCarriersTest {

    private final TaskWatch tasks = new TaskWatch();

    private static ThreadSnapshot virtual(Carrier carrier, Thread.State state, String... methods) {
        StackTraceElement[] frames = new StackTraceElement[methods.length];
        for (int i = 0; i < methods.length; i++) {
            String[] name = methods[i].split("/");
            frames[i] = new StackTraceElement(name[0], name[1], name[0] + ".java", 40);
        }
        return new ThreadSnapshot("", 7, state, frames, null, null, -1, -1, carrier);
    }

    private static ThreadSnapshot computing(String method) {
        return virtual(Carrier.TAKEN, Thread.State.RUNNABLE, "java.util.regex.Pattern/match", method);
    }

    /** A thread that received a monitor and waits for a carrier thread. Its stack shows application code only. */
    private static void waiting(SampledCall samples) {
        Sample sample = SampledCalls.sample(
                Phase.OWN, virtual(Carrier.AWAITED, Thread.State.RUNNABLE, "depot.Orders/list", "depot.Web/orders"));
        samples.add(sample);
    }

    /** Returns a machine whose two processors are also kept busy by other processes. */
    private static Machine busy() {
        return new Machine(2, 0.6, 1.3, 0, 0, 0.2, null, 10e6, -1, List.of(), 0, null, List.of());
    }

    private Cause first() {
        tasks.carriers().addMoment(6);
        return new SampledCalls()
                .on(busy())
                .tasks(tasks)
                .usuallyOwn("Web.orders", 5, 20)
                .calls("Web.orders", Phase.OWN, 240, OccupiedCarriersTest::waiting)
                .causes()
                .get(0);
    }

    @Test
    void codeOfOtherCallsThatOccupiesTheCarrierThreadsIsTheCause() {
        for (int i = 0; i < 8; i++) {
            tasks.carriers().addOfCall(computing("depot.Reviews/moderate"));
        }

        Cause first = first();

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE COMPUTES: Reviews.moderate");
        assertThat(first.change().text())
                .startsWith("do less work in Reviews.moderate:40, or run it on a few platform threads");
        assertThat(first.evidence())
                .contains("carriers 100 % of them run this code while calls wait for one, 6.0 calls on average");
        assertThat(first.symptoms().toString()).contains("calls wait for a carrier thread");
    }

    @Test
    void jobOnVirtualThreadsThatOccupiesTheCarrierThreadsIsTheCause() {
        tasks.carriers().addOfCall(computing("depot.Orders/list"));
        for (int i = 0; i < 4; i++) {
            tasks.carriers().addOther(computing("depot.Forecast/train"));
        }

        assertThat(DiagnosisText.title(first())).isEqualTo("CODE COMPUTES: Forecast.train");
    }

    @Test
    void manyShortPiecesOfWorkShareTooFewProcessors() {
        for (int i = 0; i < 20; i++) {
            tasks.carriers().addOfCall(computing("depot.Orders" + i + "/list"));
        }

        assertThat(first().kind()).isEqualTo("PROCESSORS");
    }

    @Test
    void pinnedThreadsDoNotCompute() {
        for (int i = 0; i < 8; i++) {
            tasks.carriers()
                    .addOfCall(
                            virtual(Carrier.TAKEN, Thread.State.WAITING, "java.lang.Object/wait", "depot.Legacy/call"));
        }

        assertThat(first().kind()).isEqualTo("PROCESSORS");
    }

    @Test
    void platformThreadHasNoCarrierThread() {
        assertThat(Carrier.of(Thread.currentThread())).isEqualTo(Carrier.NONE);
    }

    @Test
    void threadThatReceivedAMonitorButNoCarrierThreadDoesNotCompute() {
        SampledCall samples = new SampledCall("Web.orders");
        waiting(samples);

        assertThat(samples.list.get(0).part()).isEqualTo(Part.of(Part.Kind.CARRIER));
    }

    /** Returns two processors that this process keeps busier than usual. Other processes keep them as busy as usual. */
    private static Machine busierItself() {
        return busy().usually(-1, 1.4, 1.4, 0).delayed(new Machine.Delay(2e6, 3e5, 2, 0.1, true));
    }

    private static void inOperation(SampledCall samples, Phase phase) {
        ThreadSnapshot answered = virtual(Carrier.AWAITED, Thread.State.RUNNABLE, "depot.Tolls/ask", "depot.Web/toll");
        samples.add(SampledCalls.sample(phase, answered));
        samples.add(SampledCalls.sample(
                phase, virtual(Carrier.NONE, Thread.State.WAITING, "java.lang.Object/wait", "depot.Tolls/ask")));
    }

    private SampledCalls planning() {
        return new SampledCalls()
                .on(busierItself())
                .tasks(tasks)
                .usuallyOwn("Web.orders", 5, 20)
                .usuallyOwn("Web.plan", 5, 20)
                .usually("Web.toll", Phase.HTTP, "GET stock:80", 10)
                .calls("Web.orders", Phase.OWN, 240, OccupiedCarriersTest::waiting)
                .calls("Web.plan", Phase.OWN, 240, samples -> {
                    samples.add(SampledCalls.sample(Phase.OWN, computing("depot.Planner/distances")));
                    waiting(samples);
                });
    }

    private List<String> titles(SampledCalls calls) {
        return calls.causes().stream().map(DiagnosisText::title).toList();
    }

    @Test
    void operationsWhoseCallsContinueLateForLackOfACarrierThreadAreNotSlow() {
        SampledCalls calls = planning().calls("Web.toll", Phase.HTTP, 660, samples -> inOperation(samples, Phase.HTTP));

        assertThat(titles(calls)).first().isEqualTo("CODE COMPUTES: Planner.distances");
        assertThat(titles(calls)).noneMatch(title -> title.startsWith("SLOW HTTP PEER"));
    }

    @Test
    void peerWhoseAnswersArriveLateStaysACauseWhileCarrierThreadsAreBusy() {
        SampledCalls calls = planning()
                .calls(
                        "Web.toll",
                        Phase.HTTP,
                        660,
                        samples -> samples.add(SampledCalls.sample(
                                Phase.HTTP,
                                virtual(
                                        Carrier.NONE,
                                        Thread.State.WAITING,
                                        "java.lang.Object/wait",
                                        "depot.Tolls/ask"))));

        assertThat(titles(calls)).contains("SLOW HTTP PEER: GET stock:80");
    }

    @Test
    void lockWhoseHoldersWaitForACarrierThreadIsHeldBecauseOfTheCarrierThreads() {
        SampledCalls calls = planning().calls("Web.assign", Phase.OWN, 240, samples -> {
            waiting(samples);
            samples.add(SampledCalls.sample(
                    Phase.OWN,
                    virtual(
                            Carrier.NONE,
                            Thread.State.WAITING,
                            "java.util.concurrent.locks.LockSupport/park",
                            "java.util.concurrent.locks.ReentrantLock/lock",
                            "depot.Orders/assign")));
        });

        assertThat(titles(calls)).noneMatch(title -> title.startsWith("LOCK"));
    }

    @Test
    void lockWhoseHoldersWaitForACarrierThreadMayBeAwaitedMuchLonger() {
        for (int i = 0; i < 8; i++) {
            tasks.carriers().addOfCall(computing("depot.Planner/distances"));
        }
        SampledCalls calls = planning()
                .calls(
                        "Web.assign",
                        Phase.OWN,
                        2_000,
                        samples -> samples.add(SampledCalls.sample(
                                Phase.OWN,
                                virtual(
                                        Carrier.NONE,
                                        Thread.State.WAITING,
                                        "java.util.concurrent.locks.LockSupport/park",
                                        "java.util.concurrent.locks.ReentrantLock/lock",
                                        "depot.Orders/assign"))))
                .calls(
                        "Web.assign",
                        Phase.SQL,
                        300,
                        samples -> samples.add(SampledCalls.sample(
                                Phase.SQL,
                                virtual(
                                        Carrier.AWAITED,
                                        Thread.State.RUNNABLE,
                                        "depot.Orders/assign",
                                        "depot.Web/assign"))));

        assertThat(titles(calls)).noneMatch(title -> title.startsWith("LOCK"));
    }

    private SampledCalls slowStores() {
        for (int i = 0; i < 8; i++) {
            tasks.carriers().addOfCall(computing("depot.Planner/distances"));
        }
        return planning()
                .usually("Web.stops", Phase.SQL, "select orders", 5)
                .calls("Web.toll", Phase.HTTP, 500, samples -> {})
                .borrowing("Web.stops", "", 0, Phase.SQL, "select orders", 400, samples -> {});
    }

    @Test
    void severalStoresAreNotSlowWhileCodeOccupiesTheCarrierThreadsOfTheirClients() {
        assertThat(titles(slowStores()))
                .noneMatch(title -> title.startsWith("SLOW HTTP PEER") || title.startsWith("SLOW STATEMENT"));
    }

    @Test
    void valueThatEachVirtualThreadComputesForAThreadLocalIsShared() {
        ThreadSnapshot thread = virtual(
                Carrier.TAKEN,
                Thread.State.RUNNABLE,
                "depot.Planner/distances",
                "java.lang.ThreadLocal$SuppliedThreadLocal/initialValue",
                "java.lang.ThreadLocal/setInitialValue",
                "java.lang.ThreadLocal/get",
                "depot.Planner/plan");
        Cause first = new SampledCalls()
                .usuallyOwn("Web.plan", 5, 20)
                .calls("Web.plan", Phase.OWN, 240, samples -> {
                    samples.add(SampledCalls.sample(Phase.OWN, thread));
                    samples.addStack(Phase.OWN, thread, false);
                })
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE COMPUTES: Planner.distances");
        assertThat(first.change().text()).startsWith("keep this value in a field or a pool that all threads share");
    }
}
