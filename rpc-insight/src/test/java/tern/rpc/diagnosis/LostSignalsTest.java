package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;

/** Tests calls that wait for a signal of another thread. */
class LostSignalsTest {

    private static final int LOOKS = 10;

    private final TaskWatch tasks = new TaskWatch();

    private static StackTraceElement frame(String type, String method) {
        return new StackTraceElement(type, method, null, 7);
    }

    /** Reads a sample of a call that waits for a signal. */
    private static void waits(Sampler.Samples samples) {
        Part wait = new Part(Part.Kind.RESULT, "Confirmations.await");
        List<StackTraceElement> path = List.of(frame("depot.Confirmations", "await"));
        samples.add(new Sample(0, Phase.OWN, wait, path, "Object.wait", null, null, false, null, -1, -1));
    }

    /** Adds samples of the thread that gives the signals, and that uses HTTP in some of them. */
    private void lookAtWorker(int busy) {
        for (int i = 0; i < LOOKS; i++) {
            StackTraceElement[] idle = {
                frame("jdk.internal.misc.Unsafe", "park"),
                frame("java.util.concurrent.LinkedBlockingQueue", "take"),
                frame("depot.Confirmations", "work")
            };
            StackTraceElement[] sends = {
                frame("sun.nio.ch.NioSocketImpl", "park"),
                frame("org.apache.hc.client5.http.impl.classic.CloseableHttpClient", "execute"),
                frame("depot.Confirmations", "work")
            };
            tasks.add(
                    new ThreadLook("confirmer", 9, Thread.State.WAITING, i < busy ? sends : idle, null, null, -1, -1));
        }
    }

    private String title() {
        List<Cause> causes = new SampledCalls()
                .tasks(tasks)
                .calls("Desk.book", Phase.OWN, 400, LostSignalsTest::waits)
                .causes();
        return DiagnosisText.title(causes.get(0));
    }

    @Test
    void threadThatIsMostlyIdleHasLostTheSignal() {
        lookAtWorker(3);

        assertThat(title()).isEqualTo("WAITS FOR A RESULT: Confirmations.await");
    }

    @Test
    void threadThatIsMostlyBusyIsAwaited() {
        lookAtWorker(8);

        assertThat(title()).isEqualTo("SLOW HTTP PEER: called in Confirmations.work");
    }
}
