package tern.rpc.diagnosis.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.stack.FrameworkWork;

/** Tests the text about virtual threads that allocate. Their carrier threads show no code. */
class AllocatorsTest {

    private static String allocators(Consumer<SampledCall> look) {
        Machine.Burner carriers = new Machine.Burner("ForkJoinPool-1-worker", 2, 0.3, 37e6, null);
        Evidence evidence = new SampledCalls()
                .on(new Machine(2, 0.6, 0.4, 0, 0.3, 0.5, "G1", 47e6, 1e6, List.of(carriers), 0, null, List.of()))
                .calls("RouteService.toll", Phase.OWN, 120, samples -> {})
                .calls("RouteService.manifest", Phase.OWN, 240, look)
                .evidence();
        return new CollectorText(evidence, new ExcessTime(evidence)).allocators();
    }

    @Test
    void workOfTheFrameworkIsNamedWithItsMethod() {
        Part writes = new Part(Part.Kind.COMPUTING, FrameworkWork.WRITING);

        assertThat(allocators(samples -> samples.add(
                        new Sample(0, Phase.OWN, writes, List.of(), null, null, null, false, null, -1, -1))))
                .isEqualTo(
                        "; calls allocate 37 MB/s, check " + FrameworkWork.WRITING + " of RouteService.manifest first");
    }

    @Test
    void carrierThreadsAreCalledVirtualThreads() {
        assertThat(allocators(samples -> {})).isEqualTo("; the virtual threads that serve calls allocate, 37 MB/s");
    }
}
