package tern.rpc.diagnosis.calls;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;

/**
 * How often calls to each method usually run each operation, and how long one run usually takes. The values are means
 * over all calls of seconds in which the application met the target, including the few late calls of these seconds. The
 * loads of a cache are often among these late calls, so a mean over the calls that met the target would be too small.
 * Each call has the same weight at first, and old calls lose their weight within about five minutes. Not thread-safe:
 * only one thread uses it.
 */
public final class UsualRuns {

    /** The factor by which the weight of known calls falls in each second. */
    private static final double DECAY = 1 - 1.0 / 300;

    /** The usual number of runs is known only after {@value} recorded calls. */
    private static final double MIN_CALLS = 10;

    private static final int MAX_METHODS = 128;
    private static final int MAX_NAMES = 64;

    private final Map<String, Method> methods = new HashMap<>();

    private record Operation(Phase phase, String name) {}

    /** The runs of one operation: their number, and their total time. */
    private static final class Runs {
        double count;
        double nanos;
    }

    private static final class Method {
        double calls;
        double recorded;
        final Map<Operation, Runs> runs = new HashMap<>();

        void decay() {
            calls *= DECAY;
            runs.values().forEach(one -> {
                one.count *= DECAY;
                one.nanos *= DECAY;
            });
        }

        void add(EndedCall call, double weight) {
            calls += weight;
            recorded++;
            for (Phase phase : UsualOperations.COUNTED) {
                int count = call.ledger().count(phase);
                if (count > 0) {
                    add(
                            new Operation(phase, ""),
                            weight * count,
                            weight * call.ledger().nanos(phase, call.endedNanos()));
                }
            }
            for (NamedTimes.Entry entry : call.ledger().named()) {
                add(new Operation(entry.kind(), entry.name()), weight * entry.count(), weight * entry.nanos());
            }
        }

        private void add(Operation operation, double count, double nanos) {
            if (runs.size() < MAX_NAMES || runs.containsKey(operation)) {
                Runs sum = runs.computeIfAbsent(operation, unknown -> new Runs());
                sum.count += count;
                sum.nanos += nanos;
            }
        }

        void addAll(Method other) {
            calls += other.calls;
            recorded += other.recorded;
            other.runs.forEach((operation, sum) -> add(operation, sum.count, sum.nanos));
        }
    }

    /**
     * The usual runs of operations with the same name.
     *
     * @param count the number of runs per call
     * @param eachNanos the mean time of a run; -1 if calls usually do not run the operation
     */
    public record Usual(double count, double eachNanos) {}

    /**
     * Returns the runs of the calls of one second in which calls met the target.
     *
     * @param good the recorded calls that met the target: one in {@value EndedCall#ONE_IN}
     * @param late all late calls that did not fail
     */
    public static UsualRuns of(List<EndedCall> good, List<EndedCall> late) {
        UsualRuns second = new UsualRuns();
        good.forEach(call -> second.add(call, EndedCall.ONE_IN));
        late.forEach(call -> second.add(call, 1));
        return second;
    }

    private void add(EndedCall call, double weight) {
        Method method = method(call.method());
        if (method != null) {
            method.add(call, weight);
        }
    }

    private @Nullable Method method(String name) {
        Method known = methods.get(name);
        return known != null || methods.size() >= MAX_METHODS
                ? known
                : methods.computeIfAbsent(name, unknown -> new Method());
    }

    /** Adds the runs of one more second, and reduces the weight of all earlier runs. */
    public void learn(UsualRuns second) {
        methods.values().forEach(Method::decay);
        second.methods.forEach((name, runs) -> {
            Method method = method(name);
            if (method != null) {
                method.addAll(runs);
            }
        });
    }

    /** Returns whether the usual runs of the method's calls are known. */
    public boolean isKnown(String method) {
        Method known = methods.get(method);
        return known != null && known.recorded >= MIN_CALLS;
    }

    /**
     * Returns the share of calls that usually run a chosen operation, among the calls that run any operation of the
     * given kind and store. The share is an upper limit, because a call may run several chosen operations. Returns -1 if
     * the operations are unknown.
     *
     * @param ofStore returns whether an operation with the given name belongs to the store
     */
    public double shareOfCalls(Phase phase, Predicate<String> ofStore, Predicate<String> chosen) {
        double users = 0;
        double choosing = 0;
        for (Method method : methods.values()) {
            double all = 0;
            double some = 0;
            for (Map.Entry<Operation, Runs> entry : method.runs.entrySet()) {
                String name = entry.getKey().name();
                if (entry.getKey().phase() == phase && !name.isEmpty() && ofStore.test(name)) {
                    all += entry.getValue().count;
                    some += chosen.test(name) ? entry.getValue().count : 0;
                }
            }
            users += Math.min(method.calls, all);
            choosing += Math.min(method.calls, some);
        }
        return users <= 0 ? -1 : choosing / users;
    }

    /**
     * Returns the usual runs of all operations with the given name in calls to a method whose runs are known.
     *
     * @param name the name of the operations; empty for all operations of the phase
     */
    public Usual of(String method, Phase phase, String name) {
        Method known = methods.get(method);
        if (known == null) {
            return new Usual(0, -1);
        }
        double count = 0;
        double nanos = 0;
        for (Map.Entry<Operation, Runs> entry : known.runs.entrySet()) {
            Operation operation = entry.getKey();
            if (operation.phase() == phase && OperationNames.isNamed(operation.name(), name)) {
                count += entry.getValue().count;
                nanos += entry.getValue().nanos;
            }
        }
        return count <= 0 ? new Usual(0, -1) : new Usual(count / known.calls, nanos / count);
    }
}
