package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;

/** Tests code that repeatedly sleeps until another thread has done something. */
class PollingLoopsTest {

    private static final Part SLEEP = new Part(Part.Kind.SLEEP, "Naps.pause");

    private long waits;

    private void look(Sampler.Samples samples, int sleeps) {
        List<StackTraceElement> path = List.of(
                new StackTraceElement("depot.Naps", "pause", "Naps.java", 22),
                new StackTraceElement("depot.Confirmation", "await", "Confirmation.java", 17));
        samples.add(new Sample(0, Phase.OWN, SLEEP, path, "Thread.sleep", null, null, false, null, -1, -1));
        waits += sleeps;
        samples.addSleeps(SLEEP, waits);
    }

    private Cause first(int sleepsBetweenLooks) {
        return new SampledCalls()
                .calls("Desk.confirm", Phase.OWN, 300, samples -> look(samples, sleepsBetweenLooks))
                .causes()
                .get(0);
    }

    @Test
    void manySleepsInOneCallArePolling() {
        Cause first = first(3);

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE POLLS: Naps.pause");
        assertThat(first.change().text())
                .contains("calls sleep repeatedly in Naps.pause:22, called from Confirmation.await:17")
                .contains("wait for a signal");
    }

    @Test
    void oneLongSleepIsNoPolling() {
        assertThat(DiagnosisText.title(first(0))).isEqualTo("CODE SLEEPS: Naps.pause");
    }

    @Test
    void sleepsAtDifferentPlacesAreNotCountedTogether() {
        Sampler.Samples samples = new Sampler.Samples("Desk.confirm");
        samples.addSleeps(SLEEP, 1);
        samples.addSleeps(new Part(Part.Kind.SLEEP, "Naps.other"), 4);
        samples.addSleeps(new Part(Part.Kind.COMPUTING, "Naps.other"), -1);
        samples.addSleeps(SLEEP, 9);

        assertThat(samples.sleeps).isZero();
    }
}
