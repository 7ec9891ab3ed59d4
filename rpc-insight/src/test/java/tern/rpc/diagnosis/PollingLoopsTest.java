package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;

/** Tests code that repeatedly sleeps until another thread has done something. */
class PollingLoopsTest {

    private static final Part SLEEP = new Part(Part.Kind.SLEEP, "Naps.pause");

    private long waits;

    private void look(SampledCall samples, int sleeps) {
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
                .contains("if it limits the rate of calls, raise its limit, or refuse calls at once")
                .contains("wait for a signal");
    }

    /** No sample shows a command between two sleeps, because the commands are short. */
    @Test
    void commandOfTheMethodThatCallsTheSleepIsPolled() {
        List<StackTraceElement> sleeping = List.of(
                new StackTraceElement("depot.Locks", "pause", "Locks.java", 38),
                new StackTraceElement("depot.Locks", "exclusively", "Locks.java", 25));
        Part sleep = new Part(Part.Kind.SLEEP, "Locks.pause");
        Part command = new Part(Part.Kind.REDIS, "");

        Cause first = new SampledCalls()
                .repeating("Desk.confirm", "SET lock:*", 30, 700, samples -> {
                    boolean isFirst = samples.list.isEmpty();
                    samples.add(new Sample(
                            samples.list.size(),
                            isFirst ? Phase.REDIS : Phase.OWN,
                            isFirst ? command : sleep,
                            isFirst ? sleeping.subList(1, 2) : sleeping,
                            isFirst ? null : "Thread.sleep",
                            null,
                            null,
                            false,
                            null,
                            -1,
                            -1));
                })
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE POLLS: Locks.pause for SET lock:*");
    }

    @Test
    void oneLongSleepIsNoPolling() {
        assertThat(DiagnosisText.title(first(0))).isEqualTo("CODE SLEEPS: Naps.pause");
    }

    @Test
    void sleepsAtDifferentPlacesAreNotCountedTogether() {
        SampledCall samples = new SampledCall("Desk.confirm");
        samples.addSleeps(SLEEP, 1);
        samples.addSleeps(new Part(Part.Kind.SLEEP, "Naps.other"), 4);
        samples.addSleeps(new Part(Part.Kind.COMPUTING, "Naps.other"), -1);
        samples.addSleeps(SLEEP, 9);

        assertThat(samples.sleeps).isZero();
    }
}
