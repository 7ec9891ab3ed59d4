package tern.rpc.diagnosis;

import java.util.List;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Part.Kind;

/** Names operations that have no name yet, because they are still running or are known only from stacks. */
final class RunningOperations {

    private final Operations operations;
    private final Leaves leaves;

    RunningOperations(Operations operations, Leaves leaves) {
        this.operations = operations;
        this.leaves = leaves;
    }

    /**
     * Gives unnamed operations the name of the slowest operation of the same kind, if this operation takes longer than
     * usual. An operation in a running call gets its name only when it ends.
     */
    void name() {
        for (Kind kind : List.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC)) {
            Times named = leaves.only(part -> part.kind() == kind
                    && !part.name().isEmpty()
                    && !part.name().startsWith(StackReader.CALLED));
            Part slowest = named.isEmpty() ? null : named.longestFirst().get(0);
            if (slowest != null && named.of(slowest) > named.sum() / 2 && operations.isSlower(slowest)) {
                leaves.move(Part.of(kind), slowest);
            }
            named.longestFirst().forEach(this::addTimeWithin);
        }
    }

    /**
     * Adds the time that threads spend in a client library between operations to the operation that the same code runs.
     * Otherwise one loop in the code would appear as two causes.
     */
    private void addTimeWithin(Part operation) {
        Phase phase = Operations.phase(operation.kind());
        String place = phase == null ? null : operations.placeOf(phase, operation.name());
        for (Part part : leaves.longestFirst()) {
            boolean within = part.kind() == operation.kind() && part.name().startsWith(StackReader.CALLED);
            if (within
                    && place != null
                    && (place + ":").startsWith(part.name().substring(StackReader.CALLED.length()) + ":")) {
                leaves.move(part, operation);
            }
        }
    }
}
