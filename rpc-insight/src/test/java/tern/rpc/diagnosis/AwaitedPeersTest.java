package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;

/** Tests waits for tasks of threads that no sample shows, such as virtual threads. */
class AwaitedPeersTest {

    private static final StackTraceElement LINE = new StackTraceElement("depot.Parcels", "of", null, 7);

    private static void waitsFor(SampledCall samples, String called) {
        samples.add(new Sample(
                0,
                Phase.OWN,
                new Part(Part.Kind.RESULT, "Parcels.of"),
                List.of(LINE),
                called,
                null,
                null,
                false,
                null,
                -1,
                -1));
    }

    private static SampledCalls waiting(String called) {
        return new SampledCalls()
                .usuallyOwn("Parcels.of", 5, 2)
                .calls("Parcels.of", Phase.OWN, 1_000, samples -> waitsFor(samples, called));
    }

    @Test
    void taskThatCallsASilentProviderIsAWaitForThisProvider() {
        Cause first = waiting("CompletableFuture.get")
                .remoteOutside("StockService.reserve", 950, 6)
                .causes()
                .get(0);

        assertThat(first.title()).isEqualTo("PEER: StockService.reserve");
        assertThat(first.symptoms())
                .anyMatch(line -> line.contains("Parcels.of waits for a task in StockService.reserve takes 950 ms"));
    }

    @Test
    void providerWhoseCallsAreShortDoesNotExplainTheWait() {
        Cause first = waiting("CompletableFuture.get")
                .remoteOutside("StockService.reserve", 60, 6)
                .causes()
                .get(0);

        assertThat(first.title()).isEqualTo("WAITS FOR A RESULT: Parcels.of");
    }

    @Test
    void slowProviderDoesNotExplainTheWaitForASignal() {
        Cause first = waiting("Object.wait")
                .remoteOutside("StockService.reserve", 950, 6)
                .causes()
                .get(0);

        assertThat(first.title()).isEqualTo("WAITS FOR A RESULT: Parcels.of");
    }
}
