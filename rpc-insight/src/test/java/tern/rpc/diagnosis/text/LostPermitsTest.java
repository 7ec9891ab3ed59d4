package tern.rpc.diagnosis.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.SocketTimeoutException;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests failures after which code may not have released its permit. */
class LostPermitsTest {

    private static final Part WAIT = new Part(Part.Kind.LOCK, "Semaphore wanted in Bank.pay");

    private static void look(SampledCall samples) {
        StackTraceElement line = new StackTraceElement("shop.Bank", "pay", "Bank.java", 32);
        for (int i = 0; i < 4; i++) {
            samples.add(new Sample(
                    i, Phase.OWN, WAIT, List.of(line), "Semaphore.tryAcquire", null, null, false, null, -1, -1));
        }
    }

    private static Throwable failure(int line) {
        IllegalStateException failure = new IllegalStateException("no connection");
        failure.setStackTrace(new StackTraceElement[] {
            new StackTraceElement("shop.Client", "send", "Client.java", 9),
            new StackTraceElement("shop.Bank", "pay", "Bank.java", line)
        });
        return failure;
    }

    private static String change(int failingLine) {
        SampledCalls calls = new SampledCalls().calls("Shop.buy", Phase.OWN, 700, LostPermitsTest::look);
        return calls.failing(failure(failingLine)).calls("Shop.buy", Phase.HTTP, 5, samples -> {}).causes().stream()
                .filter(cause -> cause.kind().equals("LOCK"))
                .findFirst()
                .orElseThrow()
                .change()
                .text();
    }

    @Test
    void exceptionAfterThePermitWasTakenIsInTheChange() {
        assertThat(change(40))
                .contains("calls failed with IllegalStateException in Bank.pay:40 after they took a permit");
    }

    @Test
    void exceptionBeforeThePermitWasTakenIsNotInTheChange() {
        assertThat(change(30)).doesNotContain("after they took a permit");
    }

    private static String changeOfCallsThatThrowIn(int line) {
        IllegalStateException thrown = new IllegalStateException("no permit");
        thrown.setStackTrace(new StackTraceElement[] {new StackTraceElement("shop.Bank", "pay", "Bank.java", line)});
        SampledCalls calls = new SampledCalls().calls("Shop.buy", Phase.OWN, 700, LostPermitsTest::look);
        return calls.failing(thrown).calls("Shop.buy", Phase.HTTP, 5, samples -> {}).causes().stream()
                .filter(cause -> cause.kind().equals("LOCK"))
                .findFirst()
                .orElseThrow()
                .change()
                .text();
    }

    @Test
    void exceptionOfCodeThatGotNoPermitInTimeLosesNoPermit() {
        assertThat(changeOfCallsThatThrowIn(33)).doesNotContain("after they took a permit");
    }

    @Test
    void exceptionThatTheMethodThrowsLaterMayLoseAPermit() {
        assertThat(changeOfCallsThatThrowIn(38)).contains("after they took a permit");
    }

    /** Adds calls that time out after they have taken a permit. */
    private static SampledCalls timedOut() {
        SocketTimeoutException failure = new SocketTimeoutException("Read timed out");
        failure.setStackTrace(failure(40).getStackTrace());
        return new SampledCalls().failing(failure).calls("Shop.buy", Phase.HTTP, 500, samples -> {});
    }

    private static List<Cause> causesWithWaits(SampledCalls calls) {
        return calls.failing(null)
                .calls("Shop.buy", Phase.OWN, 3_000, LostPermitsTest::look)
                .causes();
    }

    @Test
    void faultBecauseOfWhichPermitsAreLostIsNamedBeforeTheLongerWaitForAPermit() {
        List<Cause> causes = causesWithWaits(timedOut());

        assertThat(causes.get(0).name()).contains("stock:80");
        assertThat(causes.get(1).kind()).isEqualTo("LOCK");
        assertThat(causes.get(1).change().text())
                .contains("calls failed with SocketTimeoutException in Bank.pay:40 after they took a permit");
    }

    @Test
    void waitForLostPermitsIsNamedFirstAfterTheFaultHasEnded() {
        assertThat(causesWithWaits(timedOut().endedEarlier()).get(0).kind()).isEqualTo("LOCK");
    }

    @Test
    void waitThatBeganBeforeTheFailuresIsNamedFirst() {
        SampledCalls calls = new SampledCalls().calls("Shop.buy", Phase.OWN, 3_000, LostPermitsTest::look);
        SocketTimeoutException failure = new SocketTimeoutException("Read timed out");
        failure.setStackTrace(failure(40).getStackTrace());

        List<Cause> causes = calls.failing(failure)
                .calls("Shop.buy", Phase.HTTP, 500, samples -> {})
                .causes();

        assertThat(causes.get(0).kind()).isEqualTo("LOCK");
    }

    @Test
    void shortBurstOfWaitsBeforeTheFailuresDoesNotHideTheFault() {
        SocketTimeoutException failure = new SocketTimeoutException("Read timed out");
        failure.setStackTrace(failure(40).getStackTrace());
        SampledCalls calls = new SampledCalls().calls("Shop.buy", Phase.OWN, 120, LostPermitsTest::look);
        calls.failing(failure).calls("Shop.buy", Phase.HTTP, 500, samples -> {}).failing(null);
        for (int i = 0; i < 10; i++) {
            calls.calls("Shop.buy", Phase.OWN, 3_000, LostPermitsTest::look);
        }

        assertThat(calls.causes().get(0).name()).contains("stock:80");
    }

    @Test
    void exceptionOfTheCodeThatLosesThePermitIsNoOtherFault() {
        List<Cause> causes = causesWithWaits(
                new SampledCalls().failing(failure(40)).calls("Shop.buy", Phase.HTTP, 5, samples -> {}));

        assertThat(causes.get(0).kind()).isEqualTo("LOCK");
    }

    private static Cause firstWithOthers(int samples, String method) {
        TaskWatch tasks = new TaskWatch();
        for (int i = 0; i < samples; i++) {
            StackTraceElement[] stack = {
                new StackTraceElement("java.lang.Object", "wait", null, 1),
                new StackTraceElement("shop.Bank", method, "Bank.java", 57),
                new StackTraceElement("shop.Orders", "finish", "Orders.java", 90)
            };
            tasks.add(new ThreadSnapshot("exec-1", 1, Thread.State.WAITING, stack, null, null, -1, -1));
        }
        return new SampledCalls()
                .tasks(tasks)
                .calls("Shop.buy", Phase.OWN, 700, LostPermitsTest::look)
                .causes()
                .get(0);
    }

    @Test
    void singleSampleOfAThreadInTheSameClassShowsNoHolder() {
        assertThat(firstWithOthers(1, "pay").change().text()).doesNotContain("Bank.pay:57");
        assertThat(firstWithOthers(4, "pay").change().text()).contains("hold it for less time in Bank.pay:57");
    }

    @Test
    void codeOfTheSameClassThatIsNotKnownToTakeAPermitShowsNoHolder() {
        assertThat(firstWithOthers(4, "capture").change().text()).doesNotContain("Bank.capture");
    }
}
