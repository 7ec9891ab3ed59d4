package tern.rpc.diagnosis.excess;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;

/**
 * Finds an operation that became so much slower than all others that busy processors do not explain the difference.
 * Busy processors delay every operation, because each step of an operation may wait for a processor.
 */
public final class OutstandingOperation {

    /**
     * An operation stands out only if it exceeds its usual time by at least {@value} times as much as every other
     * operation.
     */
    private static final double LONGER = 5;

    /**
     * The slowdown factor of an operation is its time divided by its usual time. An operation stands out only if its
     * factor is at least {@value} times the factor of every other operation.
     */
    private static final double HIGHER = 3;

    /** An operation can stand out only if the usual times of at least {@value} other operations are known. */
    private static final int MIN_OTHERS = 2;

    private final @Nullable Part operation;
    private final Map<Part, Slowdown> all;
    private final double leastNanos;

    private record Slowdown(double nanos, double factor) {}

    public OutstandingOperation(Evidence evidence, Operations operations) {
        all = slowdowns(operations);
        leastNanos = evidence.maxDelayNanos();
        operation = all.entrySet().stream()
                .max(Map.Entry.comparingByValue((a, b) -> Double.compare(a.nanos(), b.nanos())))
                .filter(slowest -> slowest.getValue().nanos() >= leastNanos)
                .map(Map.Entry::getKey)
                .filter(slowest -> standsOut(slowest, all))
                .orElse(null);
    }

    /** Returns the slowdown of each operation whose usual time is known. */
    private static Map<Part, Slowdown> slowdowns(Operations operations) {
        Map<Part, Slowdown> all = new HashMap<>();
        for (Kind kind : new Kind[] {Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC}) {
            Phase phase = Phase.valueOf(kind.name());
            operations.each(phase).forEach((name, nanos) -> {
                double usually = operations.usualNamed(phase, name);
                if (usually >= 0 && !OperationNames.isFailing(name)) {
                    all.put(new Part(kind, name), new Slowdown(nanos - usually, nanos / Math.max(1, usually)));
                }
            });
        }
        return all;
    }

    private static boolean standsOut(Part operation, Map<Part, Slowdown> all) {
        Map<Part, Slowdown> others = new HashMap<>(all);
        Slowdown own = others.remove(operation);
        return own != null
                && others.size() >= MIN_OTHERS
                && others.values().stream()
                        .allMatch(other ->
                                own.nanos() >= LONGER * other.nanos() && own.factor() >= HIGHER * other.factor());
    }

    /**
     * Returns whether the given additional time of an operation outside of calls is so much longer than that of all
     * operations in calls that busy processors do not explain the difference.
     */
    public boolean exceedsAll(double nanos) {
        return nanos >= leastNanos
                && all.values().stream().allMatch(other -> nanos >= LONGER * Math.max(0, other.nanos()));
    }

    /** Returns whether the given part is the operation that became much slower than all others. */
    public boolean is(Part part) {
        return part.equals(operation);
    }
}
