package tern.rpc.diagnosis.excess;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;

/**
 * Finds operations that became so much slower than all others that busy processors do not explain the difference. Busy
 * processors delay every operation, each by a number of waits for a processor.
 */
public final class OutstandingOperations {

    /** The additional time of an outstanding operation is at least {@value} times that of each other operation. */
    private static final double LONGER = 5;

    /** An outstanding operation slowed down at least {@value} times as much, in relation to its usual time. */
    private static final double HIGHER = 3;

    /** At least this number of other operations must be known. */
    private static final int MIN_OTHERS = 2;

    private final Evidence evidence;
    private final Operations operations;

    /** The slowdown of each operation with a known usual time, by kind and name. */
    private final Map<Phase, Map<String, Slowdown>> slowdowns = new HashMap<>();

    private record Slowdown(double nanos, double factor) {}

    public OutstandingOperations(Evidence evidence, Operations operations) {
        this.evidence = evidence;
        this.operations = operations;
        for (Phase phase : List.of(Phase.SQL, Phase.REDIS, Phase.HTTP, Phase.RPC)) {
            Map<String, Slowdown> ofPhase = new HashMap<>();
            operations.each(phase).forEach((name, nanos) -> {
                double usually = operations.usualNamed(phase, name);
                if (usually >= 0 && !OperationNames.isFailing(name)) {
                    ofPhase.put(name, new Slowdown(nanos - usually, nanos / Math.max(1, usually)));
                }
            });
            slowdowns.put(phase, ofPhase);
        }
    }

    /** Returns whether the given part is a single operation whose slowdown exceeds that of all others by far. */
    public boolean contain(Part part) {
        Phase phase = Operations.phase(part.kind());
        Map<String, Slowdown> ofPhase = phase == null ? null : slowdowns.get(phase);
        Slowdown own = ofPhase == null ? null : ofPhase.get(part.name());
        if (own == null || own.nanos() < evidence.maxDelayNanos()) {
            return false;
        }
        List<Slowdown> others = slowdowns.values().stream()
                .flatMap(byName -> byName.values().stream())
                .filter(other -> other != own)
                .toList();
        return others.size() >= MIN_OTHERS
                && others.stream()
                        .allMatch(other ->
                                own.nanos() >= LONGER * other.nanos() && own.factor() >= HIGHER * other.factor());
    }
}
