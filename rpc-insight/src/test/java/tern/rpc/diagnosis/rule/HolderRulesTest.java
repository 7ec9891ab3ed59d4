package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests the work of the calls that hold permits or locks that other calls wait for. */
class HolderRulesTest {

    private static final StackTraceElement LINE = new StackTraceElement("shop.Labels", "print", "Labels.java", 21);
    private static final Part PERMIT = new Part(Kind.LOCK, "Semaphore wanted in Labels.print");
    private static final String PRINTER = "GET printer:80";

    private static Consumer<SampledCall> sample(
            Phase phase, Part part, boolean isApart, @Nullable String owner, @Nullable Part ownersPart) {
        return samples -> samples.add(
                new Sample(0, phase, part, List.of(LINE), null, null, owner, isApart, null, -1, -1, ownersPart, null));
    }

    private static void assertFirst(SampledCalls calls, String title, String awaited) {
        Cause first = calls.causes().get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo(title);
        assertThat(first.symptoms()).anyMatch(line -> line.startsWith("calls wait for " + awaited));
    }

    /** Returns calls that wait for a permit, and calls that hold one during the given work. */
    private static SampledCalls holding(Kind work) {
        return new SampledCalls()
                .usuallyOwn("Labels.find", 2, 10)
                .usuallyOwn("Labels.make", 2, 10)
                .calls("Labels.find", Phase.OWN, 900, sample(Phase.OWN, PERMIT, false, null, null))
                .calls(
                        "Labels.make",
                        Phase.OWN,
                        300,
                        sample(Phase.OWN, new Part(work, "Labels.print"), false, null, null));
    }

    @ParameterizedTest
    @EnumSource(names = {"COMPUTING", "SLEEP", "RESOLVER", "FILE", "SOCKET"})
    void workDuringWhichPermitsAreHeldIsTheCause(Kind work) {
        Cause first = holding(work).causes().get(0);

        assertThat(first.name()).isEqualTo("Labels.print");
        assertThat(first.kind()).isNotEqualTo("LOCK");
        assertThat(first.symptoms()).anyMatch(line -> line.startsWith("calls wait for Semaphore"));
    }

    @Test
    void lookupDuringTheExchangeOfTheHoldersIsTheCause() {
        SampledCalls calls = new SampledCalls()
                .usually("Labels.make", Phase.HTTP, PRINTER, 3)
                .usuallyOwn("Labels.find", 2, 10)
                .calls("Labels.find", Phase.OWN, 900, sample(Phase.OWN, PERMIT, false, null, null))
                .waiting(
                        "Labels.make",
                        PRINTER,
                        300,
                        1,
                        sample(Phase.HTTP, new Part(Kind.RESOLVER, "Labels.print"), true, null, null));

        assertFirst(calls, "SLOW NAME LOOKUP: Labels.print", "Semaphore");
    }

    @Test
    void lookupOfTheOwnerOfALockIsTheCause() {
        Part lookup = new Part(Kind.RESOLVER, "Labels.print");
        SampledCalls calls = new SampledCalls()
                .usuallyOwn("Labels.find", 2, 10)
                .calls(
                        "Labels.find",
                        Phase.OWN,
                        900,
                        sample(
                                Phase.OWN,
                                new Part(Kind.LOCK, "ReentrantLock held in Labels.print"),
                                false,
                                "worker-1",
                                lookup))
                .calls("Labels.find", Phase.OWN, 300, sample(Phase.OWN, lookup, true, null, null));

        assertFirst(calls, "SLOW NAME LOOKUP: Labels.print", "ReentrantLock");
    }

    @Test
    void poolForWhoseConnectionTheOwnerOfALockWaitsIsTheCause() {
        PoolSnapshot full = PoolSnapshot.builder("druid", PoolKind.JDBC, 4)
                .now(4, 0, 30)
                .counts(20, 0)
                .sums(Duration.ofSeconds(8), Duration.ofMillis(60))
                .settings(List.of())
                .build();
        Part lock = new Part(Kind.LOCK, "ReentrantLock held in Labels.print");
        SampledCalls calls = new SampledCalls()
                .during(1.5)
                .usuallyOwn("Labels.find", 2, 10)
                .pool(full, 3)
                .calls(
                        "Labels.find",
                        Phase.OWN,
                        600,
                        samples -> samples.add(new Sample(
                                0,
                                Phase.OWN,
                                lock,
                                List.of(LINE),
                                null,
                                LINE,
                                "worker-1",
                                false,
                                Phase.JDBC_CONNECTION,
                                -1,
                                -1)))
                .borrowing("Labels.find", "druid", 400, Phase.SQL, "select label", 3, samples -> {});

        Cause first = calls.causes().get(0);

        assertThat(first.name()).isEqualTo("druid");
        assertThat(first.symptoms()).anyMatch(line -> line.startsWith("calls wait for ReentrantLock"));
    }

    /** Returns calls that wait for the given lock, and calls that hold it while they repeat a failed exchange. */
    private static SampledCalls retrying(Part wanted, Part work, boolean isPause, double millis) {
        String failed = PRINTER + " (503)";
        return new SampledCalls()
                .usually("Labels.make", Phase.HTTP, PRINTER, 14)
                .usually("Labels.find", Phase.HTTP, PRINTER, 14)
                .usuallyOwn("Labels.find", 2, 10)
                .usuallyOwn("Labels.make", 2, 10)
                .calls("Labels.find", Phase.OWN, 900, sample(Phase.OWN, wanted, false, null, null))
                .repeatingExchange("Labels.make", failed, 4, millis, 1, sample(Phase.HTTP, work, isPause, null, null));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Semaphore wanted in Labels.print", "ReentrantLock wanted in Labels.print"})
    void peerWhoseFailedExchangesAreRepeatedAfterPausesIsTheCauseOfTheWaitForItsCallers(String wanted) {
        SampledCalls calls = retrying(new Part(Kind.LOCK, wanted), new Part(Kind.SLEEP, "Labels.print"), true, 250);

        assertFirst(calls, "PEER FAILS: " + PRINTER + " (503)", wanted);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Semaphore wanted in Labels.print", "ReentrantLock wanted in Labels.print"})
    void peerWhoseFailedExchangesAreRepeatedAtOnceIsTheCauseOfTheWaitForItsCallers(String wanted) {
        SampledCalls calls = retrying(new Part(Kind.LOCK, wanted), Part.of(Kind.HTTP), false, 60);

        assertFirst(calls, "PEER FAILS: " + PRINTER + " (503)", wanted);
    }
}
