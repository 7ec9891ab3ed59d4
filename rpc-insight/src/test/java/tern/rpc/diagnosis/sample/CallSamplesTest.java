package tern.rpc.diagnosis.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Shares;

class CallSamplesTest {

    private static final Part LOCK = new Part(Part.Kind.LOCK, "monitor of an object wanted in Desk.touch");

    private static Sample sample(Phase phase, Part part, String method, int line) {
        List<StackTraceElement> path = List.of(new StackTraceElement("depot.Desk", method, "Desk.java", line));
        return new Sample(0, phase, part, path, null, null, null, false, null, -1, -1);
    }

    /** Returns the samples of one late call. Half of the samples show a wait for {@link #LOCK}. */
    private static CallSamples samples(String otherMethod) {
        CallLedger ledger = new CallLedger(() -> 0);
        SampledCall all = new SampledCall("Desk.me");
        for (int i = 0; i < 4; i++) {
            all.add(sample(Phase.OWN, LOCK, "touch", 44));
            all.add(sample(Phase.REDIS, new Part(Part.Kind.RESULT, "Desk.touch"), otherMethod, 47));
        }
        return new CallSamples(List.of(new EndedCall("Desk.me", ledger, 0, 0, null)), Map.of(ledger, all));
    }

    @Test
    void callsInTheSameMethodAreTheLikelyOwnersOfALockWithoutAKnownOwner() {
        assertThat(samples("touch").owners().ownersIn(LOCK)).isEqualTo(Phase.REDIS);
    }

    /**
     * Returns the samples of one late call. A quarter of the samples show a wait for {@link #LOCK} in a line of {@code
     * Desk.touch}. Another quarter show a wait in a client that a line of the same method called.
     */
    private static CallSamples belowLine(int waiting, int running) {
        StackTraceElement caller = new StackTraceElement("depot.Desk", "touch", "Desk.java", waiting);
        List<StackTraceElement> below = List.of(
                new StackTraceElement("depot.Client", "get", "Client.java", 9),
                new StackTraceElement("depot.Desk", "touch", "Desk.java", running));
        CallLedger ledger = new CallLedger(() -> 0);
        SampledCall all = new SampledCall("Desk.me");
        for (int i = 0; i < 4; i++) {
            all.add(new Sample(0, Phase.OWN, LOCK, List.of(caller), null, null, null, false, null, -1, -1));
            Part result = new Part(Part.Kind.RESULT, "Client.get");
            all.add(new Sample(0, Phase.HTTP, result, below, null, null, null, false, null, -1, -1));
            // An earlier line of Desk.touch also runs a statement, but without holding the lock.
            all.add(sample(Phase.SQL, new Part(Part.Kind.RESULT, "Desk.touch"), "touch", 12));
            all.add(sample(Phase.SQL, new Part(Part.Kind.RESULT, "Desk.touch"), "touch", 12));
        }
        return new CallSamples(List.of(new EndedCall("Desk.me", ledger, 0, 0, null)), Map.of(ledger, all));
    }

    @Test
    void callsBelowTheLineAtWhichOthersWaitAreTheOwners() {
        assertThat(belowLine(44, 44).owners().ownersIn(LOCK)).isEqualTo(Phase.HTTP);
    }

    @Test
    void virtualThreadThatWaitsForACarrierDuringAnOperationDoesNotWaitForThePeer() {
        Part ready = Part.of(Part.Kind.CARRIER);
        Part reading = new Part(Part.Kind.SOCKET, "Desk.touch");
        Shares shares = new Shares();
        shares.add(List.of(sample(Phase.HTTP, ready, "touch", 44), sample(Phase.HTTP, reading, "touch", 44)));

        assertThat(shares.movedFrom(Phase.HTTP).of(ready)).isEqualTo(0.5);
    }

    @Test
    void callsInLambdasOfTheMethodAreTheOwners() {
        assertThat(samples("lambda$touch$0").owners().ownersIn(LOCK)).isEqualTo(Phase.REDIS);
    }

    @Test
    void callsInOtherMethodsAreNotTheOwners() {
        assertThat(samples("other").owners().ownersIn(LOCK)).isNull();
    }

    /** Returns the samples of one call that sleeps in a helper, below a method that runs statements in a repository. */
    private static CallSamples sleepsAndStatements(String... activities) {
        StackTraceElement service = new StackTraceElement("depot.Desk", "await", "Desk.java", 20);
        CallLedger ledger = new CallLedger(() -> 0);
        SampledCall all = new SampledCall("Desk.me");
        for (String activity : activities) {
            boolean sleeps = activity.equals("sleep");
            StackTraceElement inner =
                    new StackTraceElement(sleeps ? "depot.Naps" : "depot.Parcels", activity, "Inner.java", 5);
            Phase phase = sleeps ? Phase.OWN : Phase.SQL;
            Part part = new Part(sleeps ? Part.Kind.SLEEP : Part.Kind.SQL, "Naps.sleep");
            all.add(new Sample(0, phase, part, List.of(inner, service), null, null, null, false, null, -1, -1));
        }
        return new CallSamples(List.of(new EndedCall("Desk.me", ledger, 0, 0, null)), Map.of(ledger, all));
    }

    private static boolean isRepeated(String... activities) {
        return sleepsAndStatements(activities).isRepeatedBetween(new Part(Part.Kind.SLEEP, "Naps.sleep"), Phase.SQL);
    }

    @Test
    void operationBetweenSleepsOfAHelperIsRepeated() {
        assertThat(isRepeated("sleep", "find", "sleep")).isTrue();
    }

    @Test
    void operationsBeforeOrAfterASleepAreNotRepeated() {
        assertThat(isRepeated("find", "find", "sleep", "sleep")).isFalse();
        assertThat(isRepeated("sleep", "sleep", "find", "find")).isFalse();
    }

    /**
     * Returns the text that names the application's line for an activity. The stack consists of frames of the given
     * classes, innermost first.
     */
    private static String shownInHelper(String... classes) {
        Part asks = new Part(Part.Kind.SOCKET, "LineClient.Line.ask");
        List<StackTraceElement> path = Stream.of(classes)
                .map(name -> new StackTraceElement("depot." + name, "ask", name + ".java", 5))
                .toList();
        CallLedger ledger = new CallLedger(() -> 0);
        SampledCall all = new SampledCall("Desk.me");
        all.add(new Sample(0, Phase.OWN, asks, path, null, null, null, false, null, -1, -1));
        return String.valueOf(
                new CallSamples(List.of(new EndedCall("Desk.me", ledger, 0, 0, null)), Map.of(ledger, all))
                        .shownLineOf(asks));
    }

    @Test
    void callerOfANestedClassIsOutsideOfItsOuterClass() {
        assertThat(shownInHelper("LineClient$Line", "LineClient", "Labels", "Desk"))
                .isEqualTo("LineClient.Line.ask:5, called from Labels.ask:5");
    }

    @Test
    void outerClassIsTheCallerIfThereIsNoOther() {
        assertThat(shownInHelper("LineClient$Line", "LineClient"))
                .isEqualTo("LineClient.Line.ask:5, called from LineClient.ask:5");
    }
}
