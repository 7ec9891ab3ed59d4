package tern.rpc.diagnosis.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.MethodAllocation;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.machine.HeapGrowth;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.stack.FrameworkWork;

/** Tests the texts about code and threads that allocate. */
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

    private static String allocators(Machine.Burner... burners) {
        Evidence evidence = new SampledCalls()
                .on(new Machine(2, 0.6, 0.4, 0, 0.3, 0.5, "G1", 47e6, 1e6, List.of(burners), 0, null, List.of()))
                .calls("RouteService.toll", Phase.OWN, 120, samples -> {})
                .evidence();
        return new CollectorText(evidence, new ExcessTime(evidence)).allocators();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rpc-diagnosis",
                "rpc-flight-recorder",
                "rpc-flight-recorder-objects",
                "rpc-pauses",
                "rpc-log",
                "JFR Recorder Thread",
                "JFR Event Stream"
            })
    void threadsOfTheDiagnosisAreNotNamedAsAllocators(String name) {
        Machine.Burner own = new Machine.Burner(name, 1, 0.3, 90e6, null);

        assertThat(allocators(own)).isEmpty();
        assertThat(allocators(own, new Machine.Burner("price-loader", 1, 0.1, 20e6, "Quotes.load:7")))
                .isEqualTo("; price-loader* allocate in Quotes.load:7, 20 MB/s");
    }

    @Test
    void codeOfVirtualThreadsIsNamedWithoutTheirCarriers() {
        assertThat(allocators(new Machine.Burner("virtual threads", 2, 0.3, 37e6, "RoutePlanner.manifest:44", true)))
                .isEqualTo("; virtual threads allocate in RoutePlanner.manifest:44, 37 MB/s");
    }

    private static CauseDescription collector(@Nullable HeapGrowth growth, SampledCalls calls) {
        Machine.Burner workers = new Machine.Burner("http-nio-8101-exec", 5, 0.3, 40e6, "Vouchers.issue:29");
        Evidence evidence = calls.on(new Machine(
                                2,
                                0.6,
                                0.4,
                                0,
                                0.3,
                                0.5,
                                "G1 Evacuation Pause",
                                47e6,
                                5e6,
                                List.of(workers),
                                0,
                                null,
                                List.of())
                        .growing(growth))
                .calls("web.GET /search", Phase.OWN, 120, samples -> {})
                .evidence();
        return new CollectorText(evidence, new ExcessTime(evidence)).describe();
    }

    private static final MethodAllocation SEARCH = new MethodAllocation("web.GET /search", 30e6, 4e6, 1e5);
    private static final MethodAllocation OTHER = new MethodAllocation("web.POST /bookings", 2e6, 2e4, 2e4);

    @Test
    void methodWhoseCallsAllocateMoreThanUsualIsNamedInsteadOfALineOfItsThreads() {
        CauseDescription cause = collector(null, new SampledCalls().allocating(SEARCH, OTHER));

        assertThat(cause.kind()).isEqualTo("COLLECTOR: more allocation");
        assertThat(cause.change().text())
                .contains("; check web.GET /search first: its calls allocate 30 MB/s, 4 MB each, usually 100 KB")
                .doesNotContain("Vouchers");
    }

    @Test
    void methodWhoseObjectsFillTheHeapIsNamed() {
        CauseDescription cause =
                collector(new HeapGrowth(0.3, 0.82, 17, 7e6, 9), new SampledCalls().allocating(SEARCH, OTHER));

        assertThat(cause.kind()).isEqualTo("COLLECTOR: heap fills");
        assertThat(cause.change().text())
                .contains("; check first what web.GET /search keeps: its calls allocate 30 MB/s")
                .doesNotContain("Vouchers");
    }

    @Test
    void objectsThatTheFlightRecorderFoundAreNamedFirst() {
        String found = "byte[] of RecentSearches.add:25 (83 % of the sampled objects that stay)";
        PauseTimes kept = new PauseTimes() {
            @Override
            public Times between(long fromNanos, long toNanos) {
                return new Times();
            }

            @Override
            public String keptObjects() {
                return found;
            }

            @Override
            public String allocatedObjects() {
                return "String of Json.read:7 (60 % of the allocated memory)";
            }
        };
        SampledCalls calls = new SampledCalls().pauses(kept).allocating(SEARCH);

        assertThat(collector(new HeapGrowth(0.3, 0.82, 17, 7e6, 9), calls)
                        .change()
                        .text())
                .contains("; check first what keeps " + found)
                .doesNotContain("Json");
        assertThat(collector(null, new SampledCalls().pauses(kept)).change().text())
                .startsWith("create fewer or smaller objects per call; check first String of Json.read:7 (60 % of the"
                        + " allocated memory)");
    }
}
