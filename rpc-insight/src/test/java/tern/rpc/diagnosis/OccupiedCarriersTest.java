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
}
