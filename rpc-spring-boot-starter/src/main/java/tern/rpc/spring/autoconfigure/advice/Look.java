package tern.rpc.spring.autoconfigure.advice;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.advice.CallSnapshot;
import tern.rpc.advice.PoolSnapshot;
import tern.rpc.advice.Situation;
import tern.rpc.metrics.PhaseMeters;

/**
 * Sums at one moment. Two of them make what happened in between.
 *
 * @param nanoTime when
 * @param pools by name
 * @param methods by name
 */
record Look(
        long nanoTime, Map<String, PoolSnapshot> pools, Map<String, MethodSums> methods, ProcessorTime processorTime) {

    /** What all calls of a method did so far. */
    record MethodSums(String service, String method, long calls, Map<Phase, Sum> phases) {

        record Sum(long operations, long nanos) {}

        static MethodSums of(PhaseMeters meters) {
            Map<Phase, Sum> phases = new EnumMap<>(Phase.class);
            for (Phase phase : Phase.values()) {
                phases.put(
                        phase, new Sum(meters.operations(phase), (long) meters.totalTime(phase, TimeUnit.NANOSECONDS)));
            }
            return new MethodSums(meters.service(), meters.method(), meters.calls(), phases);
        }

        String name() {
            return service + "/" + method;
        }
    }

    static Look at(long nanoTime, List<PoolSnapshot> pools, List<PhaseMeters> methods, ProcessorTime processorTime) {
        return new Look(
                nanoTime,
                pools.stream().collect(Collectors.toMap(PoolSnapshot::name, Function.identity(), (one, other) -> one)),
                methods.stream()
                        .map(MethodSums::of)
                        .collect(Collectors.toMap(MethodSums::name, Function.identity(), (one, other) -> one)),
                processorTime);
    }

    List<PoolSnapshot> poolsSince(Look earlier) {
        return pools.values().stream()
                .map(pool -> {
                    PoolSnapshot then = earlier.pools.get(pool.name());
                    return then == null ? pool : pool.since(then);
                })
                .toList();
    }

    Situation.Cpu cpuSince(Look earlier) {
        return processorTime.since(earlier.processorTime, nanoTime - earlier.nanoTime);
    }

    /** @param p99 of all methods together: none is kept for each */
    List<CallSnapshot> callsSince(Look earlier, Duration p99) {
        double seconds = (nanoTime - earlier.nanoTime) / 1e9;
        List<CallSnapshot> calls = new ArrayList<>();
        for (MethodSums now : methods.values()) {
            MethodSums then = earlier.methods.get(now.name());
            long count = now.calls() - (then == null ? 0 : then.calls());
            if (count > 0 && seconds > 0) {
                calls.add(call(now, then, count, count / seconds, p99));
            }
        }
        return calls;
    }

    private static CallSnapshot call(MethodSums now, @Nullable MethodSums then, long count, double qps, Duration p99) {
        Map<Phase, CallSnapshot.Use> uses = new EnumMap<>(Phase.class);
        long all = 0;
        for (Map.Entry<Phase, MethodSums.Sum> entry : now.phases().entrySet()) {
            MethodSums.Sum before = then == null ? null : then.phases().get(entry.getKey());
            long nanos = entry.getValue().nanos() - (before == null ? 0 : before.nanos());
            long operations = entry.getValue().operations() - (before == null ? 0 : before.operations());
            all += nanos;
            if (nanos > 0 || operations > 0) {
                uses.put(
                        entry.getKey(),
                        new CallSnapshot.Use((double) operations / count, Duration.ofNanos(nanos / count)));
            }
        }
        return new CallSnapshot(
                now.service(),
                now.method(),
                qps,
                Duration.ofNanos(all / count),
                p99,
                CallSnapshot.Limits.NONE,
                0,
                0,
                uses);
    }
}
