package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;

/** Tests locks whose owners run an operation while other calls wait. */
class LockedOperationsTest {

    private static final Part LOCK = new Part(Part.Kind.LOCK, "monitor of Board held in Board.of");

    private static void look(SampledCall samples) {
        StackTraceElement line = new StackTraceElement("depot.Board", "of", "Board.java", 44);
        List<StackTraceElement> below = List.of(new StackTraceElement("depot.Client", "get", "Client.java", 9), line);
        samples.add(new Sample(0, Phase.OWN, LOCK, List.of(line), null, null, null, false, null, -1, -1));
        Part result = new Part(Part.Kind.RESULT, "Client.get");
        samples.add(new Sample(0, Phase.HTTP, result, below, null, null, null, false, null, -1, -1));
    }

    private static Cause first(double weatherMillis, String usual, double usualMillis) {
        return new SampledCalls()
                .usually("Desk.board", Phase.HTTP, usual, usualMillis)
                .waiting("Desk.board", "GET weather:80", weatherMillis, 300, LockedOperationsTest::look)
                .causes()
                .get(0);
    }

    @Test
    void lockIsTheCauseIfItsOwnersRunANewOperation() {
        assertThat(DiagnosisText.title(first(55, "GET bank:80", 5))).isEqualTo("LOCK: " + LOCK.name());
    }

    @Test
    void newOperationOfTheOwnersIsPartOfTheLock() {
        List<Cause> causes = new SampledCalls()
                .usually("Desk.board", Phase.HTTP, "GET bank:80", 5)
                .waiting("Desk.board", "GET weather:80", 350, 110, LockedOperationsTest::look)
                .causes();

        assertThat(causes).singleElement().extracting(DiagnosisText::title).isEqualTo("LOCK: " + LOCK.name());
    }

    @Test
    void newOperationIsNoPartOfALockThatCallsHardlyWaitFor() {
        Cause first = new SampledCalls()
                .usually("Desk.board", Phase.HTTP, "GET bank:80", 5)
                .waiting("Desk.board", "GET weather:80", 350, 20, LockedOperationsTest::look)
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW HTTP PEER: GET weather:80");
    }

    @Test
    void lockIsTheCauseIfTheOperationTakesAboutAsLongAsUsual() {
        assertThat(DiagnosisText.title(first(55, "GET weather:80", 50))).isEqualTo("LOCK: " + LOCK.name());
    }

    @Test
    void operationThatBecameSlowerIsTheCause() {
        assertThat(DiagnosisText.title(first(55, "GET weather:80", 5))).isEqualTo("SLOW HTTP PEER: GET weather:80");
    }

    @Test
    void lockAndOperationOfItsOwnersAreSeparateWhileNoUsualTimesAreKnown() {
        List<Cause> causes = new SampledCalls()
                .waiting("Desk.board", "GET weather:80", 60, 300, LockedOperationsTest::look)
                .causes();

        assertThat(causes)
                .extracting(DiagnosisText::title)
                .containsExactly("LOCK: " + LOCK.name(), "SLOW HTTP PEER: GET weather:80");
    }

    private static void lookAtAnotherLine(SampledCall samples) {
        StackTraceElement waits = new StackTraceElement("depot.Board", "of", "Board.java", 40);
        StackTraceElement works = new StackTraceElement("depot.Board", "of", "Board.java", 44);
        samples.add(new Sample(0, Phase.OWN, LOCK, List.of(waits), null, null, null, false, null, -1, -1));
        Part result = new Part(Part.Kind.RESULT, "Board.of");
        samples.add(new Sample(0, Phase.HTTP, result, List.of(works), null, null, null, false, null, -1, -1));
    }

    @Test
    void newOperationInTheMethodThatWaitsIsPartOfALockWithoutAKnownOwner() {
        List<Cause> causes = new SampledCalls()
                .usually("Desk.board", Phase.HTTP, "GET bank:80", 5)
                .waiting("Desk.board", "GET weather:80", 350, 110, LockedOperationsTest::lookAtAnotherLine)
                .causes();

        assertThat(causes).singleElement().extracting(DiagnosisText::title).isEqualTo("LOCK: " + LOCK.name());
    }
}
