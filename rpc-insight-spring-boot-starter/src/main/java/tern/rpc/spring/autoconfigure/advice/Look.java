package tern.rpc.spring.autoconfigure.advice;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.advice.CallSnapshot;
import tern.rpc.advice.Situation;
import tern.rpc.client.RpcClient;
import tern.rpc.metrics.MethodCalls;
import tern.rpc.metrics.PhaseMeters;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/**
 * A snapshot of counters. The difference of two shows the time between.
 *
 * @param nanoTime the time of the snapshot
 * @param pools by name
 * @param methods the phases of served calls, by name; empty if no ledgers are kept
 * @param served the durations of served calls
 * @param called the durations of calls to other services
 */
record Look(
        long nanoTime,
        Map<String, PoolSnapshot> pools,
        Map<String, MethodSums> methods,
        Map<MethodCalls, MethodCalls.Sums> served,
        Map<MethodCalls, MethodCalls.Sums> called,
        ProcessorTime processorTime) {

    /** The sums of all calls of a method so far. */
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

    static Look at(long nanoTime, List<PoolSnapshot> pools, RpcMeters meters, ProcessorTime processorTime) {
        return new Look(
                nanoTime,
                pools.stream().collect(Collectors.toMap(PoolSnapshot::name, Function.identity(), (one, other) -> one)),
                meters.phases().stream()
                        .map(MethodSums::of)
                        .collect(Collectors.toMap(MethodSums::name, Function.identity(), (one, other) -> one)),
                sums(meters.servedMethods()),
                sums(meters.calledMethods()),
                processorTime);
    }

    private static Map<MethodCalls, MethodCalls.Sums> sums(List<MethodCalls> methods) {
        return methods.stream().collect(Collectors.toMap(Function.identity(), MethodCalls::sums));
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

    /** The calls served since an earlier snapshot, as far as they took time. */
    List<CallSnapshot> servedSince(Look earlier) {
        double seconds = (nanoTime - earlier.nanoTime) / 1e9;
        List<CallSnapshot> calls = new ArrayList<>();
        if (seconds <= 0) {
            return calls;
        }
        Map<String, MethodCalls.Sums> times = new HashMap<>();
        served.forEach((method, sums) -> times.put(name(method), since(earlier.served, method, sums)));
        for (MethodSums now : methods.values()) {
            MethodSums then = earlier.methods.get(now.name());
            long count = now.calls() - (then == null ? 0 : then.calls());
            MethodCalls.Sums took = times.remove(now.name());
            if (count > 0) {
                calls.add(byPhases(now, then, count, count / seconds, took));
            }
        }
        served.forEach((method, sums) -> {
            MethodCalls.Sums took = times.get(name(method));
            if (took != null && took.calls() > 0) {
                calls.add(byTimes(method, took, seconds, CallSnapshot.Limits.NONE)); // there are no ledgers
            }
        });
        return calls;
    }

    /** The calls made to other services since an earlier snapshot. */
    List<CallSnapshot> calledSince(Look earlier) {
        double seconds = (nanoTime - earlier.nanoTime) / 1e9;
        List<CallSnapshot> calls = new ArrayList<>();
        called.forEach((method, sums) -> {
            MethodCalls.Sums took = since(earlier.called, method, sums);
            if (took.calls() > 0 && seconds > 0) {
                calls.add(byTimes(method, took, seconds, limits(method)));
            }
        });
        return calls;
    }

    private static String name(MethodCalls method) {
        return method.service() + "/" + method.method();
    }

    private static MethodCalls.Sums since(
            Map<MethodCalls, MethodCalls.Sums> earlier, MethodCalls method, MethodCalls.Sums now) {
        MethodCalls.Sums then = earlier.get(method);
        return then == null ? now : now.since(then);
    }

    /** The limits that differ from the defaults, and were therefore configured. */
    private static CallSnapshot.Limits limits(MethodCalls method) {
        Duration timeout = method.timeout();
        if (timeout == null) {
            return CallSnapshot.Limits.NONE;
        }
        boolean chosen = !timeout.equals(RpcClient.DEFAULT_TIMEOUT);
        return new CallSnapshot.Limits(
                timeout,
                method.attempts(),
                "rpc.client.services." + method.simpleName() + ".methods." + method.method() + ".timeout",
                chosen ? PoolSetting.Source.USER : PoolSetting.Source.LIBRARY);
    }

    private static CallSnapshot byTimes(
            MethodCalls method, MethodCalls.Sums took, double seconds, CallSnapshot.Limits limits) {
        return new CallSnapshot(
                method.service(),
                method.method(),
                took.calls() / seconds,
                took.mean(),
                took.p99(),
                limits,
                took.timeouts() / seconds,
                took.retries() / seconds,
                Map.of());
    }

    /** @param took null for streams only, whose duration is not judged */
    private static CallSnapshot byPhases(
            MethodSums now, @Nullable MethodSums then, long count, double qps, MethodCalls.@Nullable Sums took) {
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
                took == null ? Duration.ZERO : took.p99(),
                CallSnapshot.Limits.NONE,
                0,
                0,
                uses);
    }
}
