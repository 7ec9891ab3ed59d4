package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause;

/** Tests operations of the JVM that stop all threads. */
class VmOperationsTest {

    private final VmOperations operations = new VmOperations();
    private final FlightRecording recording = new FlightRecording();

    @Test
    void operationsOfJdk17AreRead() {
        operations.add("""
            VM Operations (6 events):
            Event: 10.503 Executing VM operation: HeapDumper
            Event: 11.204 Executing VM operation: HeapDumper done
            Event: 12.278 Executing VM operation: HandshakeAllThreads
            Event: 12.878 Executing VM operation: HandshakeAllThreads done
            Event: 13.000 Executing VM operation: G1CollectForAllocation
            Event: 13.900 Executing VM operation: G1CollectForAllocation done
            """);

        assertThat(operations.since(5, 0).keySet()).containsExactly("HeapDumper");
        assertThat(operations.since(5, 0).get("HeapDumper")).isBetween(700e6, 702e6);
        assertThat(operations.since(11.5, 0)).isEmpty();
    }

    @Test
    void operationsOfJdk25ThatStopNoThreadsAreIgnored() {
        operations.add("""
            VM Operations (4 events):
            Event: 1.544 Executing safepoint VM operation: ThreadDump
            Event: 1.965 Executing safepoint VM operation: ThreadDump done
            Event: 2.565 Executing non-safepoint VM operation: HeapStuff (HandshakeForDeflation)
            Event: 2.965 Executing non-safepoint VM operation: HeapStuff (HandshakeForDeflation) done
            """);

        assertThat(operations.since(0, 0).keySet()).containsExactly("ThreadDump");
    }

    @Test
    void operationIsCountedOnceAlthoughTheLogIsReadTwice() {
        String log =
                "Event: 1.0 Executing VM operation: ThreadDump\nEvent: 1.5 Executing VM operation: ThreadDump done\n";

        operations.add(log);
        operations.add(log);

        assertThat(operations.since(0, 0).get("ThreadDump")).isBetween(499e6, 501e6);
    }

    @Test
    void thisJvmHasALogOfOperations() {
        Thread.getAllStackTraces(); // To read the stacks, the JVM stops all threads.

        operations.read();

        assertThat(operations.since(0, 0)).isNotEmpty();
    }

    @Test
    void partsOfAPauseThatTheDiagnosisItselfCausesAreKnown() {
        operations.add("""
            Event: 10.080 Executing VM operation: ThreadDump
            Event: 10.100 Executing VM operation: ThreadDump done
            Event: 10.200 Executing VM operation: HeapDumper
            Event: 10.300 Executing VM operation: HeapDumper done
            """);

        assertThat(operations.ownNanos(10, 10.4, VmOperations::isOwn, false)).isBetween(19e6, 21e6);
        assertThat(operations.ownNanos(10.09, 10.4, VmOperations::isOwn, false)).isBetween(9e6, 11e6);
        assertThat(operations.ownNanos(10.1, 10.4, VmOperations::isOwn, true)).isZero();
    }

    @Test
    void waitUntilThreadsStopForTheDiagnosisBelongsToTheDiagnosis() {
        operations.add("Event: 10.080 Executing VM operation: ThreadDump\n"
                + "Event: 10.100 Executing VM operation: ThreadDump done\n");

        assertThat(operations.ownNanos(10, 10.15, VmOperations::isOwn, true)).isBetween(99e6, 101e6);
    }

    private Cause first(Map<String, Double> millis) {
        PauseTimes pauses = new PauseTimes() {
            @Override
            public Times between(long fromNanos, long toNanos) {
                Times times = new Times();
                times.add(Part.of(Part.Kind.JVM_PAUSE), 250e6);
                return times;
            }

            @Override
            public Map<String, Double> operations() {
                return millis;
            }

            @Override
            public boolean isOfRecording(String operation) {
                return recording.hasRequested(operation, TimeUnit.SECONDS.toNanos(29));
            }
        };
        Shop shop = new Shop().healthy(Shop.USUAL);
        shop.pauses = pauses;
        return Shop.first(shop.miss(call -> call.own(300)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HeapDumper       | stop the tool that writes heap dumps",
                "GC_HeapInspection| stop the tool that writes heap dumps",
                "PrintThreads     | take fewer thread dumps",
                "RedefineClasses  | do not use an agent or debugger",
                "RetransformClasses | do not use an agent or debugger",
                "BulkRevokeBias   | set -XX:-UseBiasedLocking",
                "Deoptimize       | find out what the JVM compiles repeatedly",
                "ChangeBreakpoints| do not use an agent or debugger",
                "SomethingNew     | find out what requests this operation of the JVM"
            })
    void operationThatStopsTheJvmIsNamed(String operation, String change) {
        Cause first = first(Map.of(operation, 900e6, "PrintJNI", 1e6));

        assertThat(DiagnosisText.title(first)).isEqualTo("JVM PAUSE: " + operation);
        assertThat(first.change().text()).startsWith(change);
        assertThat(first.evidence()).anyMatch(line -> line.contains("900 ms for " + operation));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ThreadDump", "FindDeadlocks"})
    void operationForWhichTheDiagnosisItselfAsksIsNotTheCause(String operation) {
        Cause first = first(Map.of(operation, 900e6, "HeapDumper", 30e6));

        assertThat(DiagnosisText.title(first)).isEqualTo("JVM PAUSE: pauses that no collector explains");
        assertThat(first.change().text()).contains("threads that do not stop in time");
        assertThat(first.evidence())
                .anyMatch(line -> line.contains("30 ms for HeapDumper"))
                .noneMatch(line -> line.contains(operation));
    }

    @Test
    void operationThatTheStartOfAFlightRecordingRequestsIsNotTheCause() {
        recording.starting(0);

        Cause first = first(Map.of("RedefineClasses", 900e6, "HeapDumper", 30e6));

        assertThat(DiagnosisText.title(first)).isEqualTo("JVM PAUSE: pauses that no collector explains");
    }

    @Test
    void longOperationIsTheCauseAlthoughThoseOfTheDiagnosisTakeLongerInTotal() {
        Cause first = first(Map.of("ThreadDump", 500e6, "HeapDumper", 400e6));

        assertThat(DiagnosisText.title(first)).isEqualTo("JVM PAUSE: HeapDumper");
    }

    @Test
    void manyShortOperationsAreNotALongPause() {
        StringBuilder log = new StringBuilder();
        for (int i = 0; i < 20; i++) {
            log.append("Event: 1.%02d0 Executing VM operation: Deoptimize\n".formatted(i));
            log.append("Event: 1.%02d2 Executing VM operation: Deoptimize done\n".formatted(i));
        }

        operations.add(log.toString());

        assertThat(operations.since(0, VmOperations.MIN_PAUSE_NANOS)).isEmpty();
        assertThat(operations.since(0, 0).get("Deoptimize")).isBetween(39e6, 41e6);
    }

    @Test
    void pauseWithoutALongOperationMayComeFromThreadsThatDoNotStopInTime() {
        Cause first = first(Map.of("ThreadDump", 2e6));

        assertThat(DiagnosisText.title(first)).isEqualTo("JVM PAUSE: pauses that no collector explains");
        assertThat(first.change().text()).contains("threads that do not stop in time");
    }
}
