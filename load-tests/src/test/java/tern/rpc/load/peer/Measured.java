package tern.rpc.load.peer;

import java.util.List;
import org.HdrHistogram.Histogram;

/** Creates artificial measurements for tests. */
final class Measured {

    private Measured() {}

    /** Creates a round in which every call took one millisecond and used the given CPU time. */
    static Measurement round(int calls, int clientMicros, int serverMicros) {
        Histogram latencies = Load.newHistogram();
        latencies.recordValueWithCount(1_000_000, calls);
        return new Measurement(
                0,
                "",
                2,
                new ProcessCost(calls * 1_000L * clientMicros, calls * 100L, calls / 4, ProcessCost.UNKNOWN),
                new ProcessCost(calls * 1_000L * serverMicros, calls * 300L, calls / 2, calls * 2L),
                latencies);
    }

    static Results results() {
        List<Scene> scenes = List.of(Scene.named("existUser"), Scene.named("mixed"));
        Results results = new Results(List.of("tern-dubbo", "dubbo-hessian2", "tern-tri"), scenes);
        for (Scene scene : scenes) {
            results.add("tern-dubbo", scene, round(1_000, 20, 10));
            results.add("dubbo-hessian2", scene, round(400, 40, 20));
        }
        results.failed("tern-tri", scenes, "no <b>luck</b> & \"no\" port\u0007");
        return results;
    }
}
