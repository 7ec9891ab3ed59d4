package tern.rpc.diagnosis.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.evidence.RunQueue;
import tern.rpc.evidence.ThreadIds;

class RunningCodeTest {

    private static final long NOW = 1_000_000_000;

    private final ThreadIds ids = new ThreadIds(Path.of("/"));
    private final RunQueue runQueue = new RunQueue(Path.of("/"), ids);
    private final RunningCode code = new RunningCode();
    private final CompletableFuture<CallLedger> ledger = new CompletableFuture<>();
    private final SampledCall samples = new SampledCall("Labels.of");
    private final CountDownLatch end = new CountDownLatch(1);
    private final Thread thread = new Thread(this::serve);

    private void serve() {
        ids.register();
        ledger.complete(new CallLedger(() -> NOW)); // a ledger knows the thread that has created it
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @BeforeEach
    void begin() {
        thread.start();
        ledger.join();
        assumeTrue(runQueue.of(thread).isKnown(), "this system has no counters of threads");
    }

    @AfterEach
    void end() throws InterruptedException {
        end.countDown();
        thread.join();
    }

    private Sample found(Part.Kind kind) {
        Part part = new Part(kind, "Labels.of");
        Sample sample = new Sample(NOW, Phase.OWN, part, List.of(), null, null, null, false, null, 5, 7);
        RunningCall call = new RunningCall("Labels.of", thread.getId(), Phase.OWN, 0, 0, ledger.join());
        CallThread.of(call).forEach(worker -> code.add(samples, worker, sample, runQueue));
        return sample;
    }

    @Test
    void countersOfAThreadThatComputesAreReadAgain() {
        Sample sample = found(Part.Kind.COMPUTING);
        assertThat(code.isDue()).isTrue();

        assertThat(code.measure(runQueue, NOW + RunningCode.PAUSE_NANOS)).isTrue();

        assertThat(samples.runTimes).containsOnlyKeys(sample);
        assertThat(code.isDue()).isFalse();
    }

    @Test
    void lateReadingReplacesNoSample() {
        found(Part.Kind.COMPUTING);

        assertThat(code.measure(runQueue, NOW + TimeUnit.MILLISECONDS.toNanos(100)))
                .isFalse();
    }

    @Test
    void threadOfAnEndedCallIsNotMeasured() {
        found(Part.Kind.COMPUTING);
        ledger.join().end();

        code.measure(runQueue, NOW);

        assertThat(samples.runTimes).isEmpty();
    }

    @Test
    void threadThatWaitsIsNotMeasured() {
        found(Part.Kind.RESULT);

        assertThat(code.isDue()).isFalse();
    }
}
