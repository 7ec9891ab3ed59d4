package tern.rpc.diagnosis.excess;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.stack.StackReader;

/** Names operations that have no name yet, because they are still running or are known only from stacks. */
public final class RunningOperations {

    private static final int MIN_CALLS = 3;

    private final ExcessTime excess;
    private final Operations operations;
    private final TimesByCause byCause;

    public RunningOperations(ExcessTime excess, Operations operations, TimesByCause byCause) {
        this.excess = excess;
        this.operations = operations;
        this.byCause = byCause;
    }

    /**
     * Gives unnamed operations the name of the slowest operation of the same kind, if this operation takes longer than
     * usual. An operation in a running call gets its name only when it ends.
     *
     * @param isServer returns whether the operations without a name represent a slow server of this kind
     */
    public void name(Predicate<Kind> isServer) {
        for (Kind kind : List.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC)) {
            if (isServer.test(kind)) {
                continue;
            }
            Part failing = failing(kind);
            if (failing != null) {
                Part successful = new Part(kind, OperationNames.withoutStatus(failing.name()));
                // An operation that is also slow when it does not fail counts as slow and not as failing.
                boolean isShort = time(successful) <= time(Part.of(kind));
                byCause.move(Part.of(kind), failing);
                if (isShort) {
                    byCause.move(successful, failing);
                }
            }
            Times named = byCause.only(part -> part.kind() == kind
                    && !part.name().isEmpty()
                    && !part.name().startsWith(StackReader.CALLED));
            Part slowest = named.isEmpty() ? null : named.longestFirst().get(0);
            if (slowest != null && named.of(slowest) > named.sum() / 2 && operations.isSlower(slowest)) {
                byCause.move(Part.of(kind), slowest);
            }
            named.longestFirst().forEach(this::addTimeWithin);
        }
    }

    /**
     * Returns whether calls that hang in an operation of the given kind hold at least half of the given number of
     * connections. A call hangs if its operation has run for longer than the target and much longer than usual. The
     * thread of a call may still run the operation after the call's deadline.
     */
    public boolean occupy(int connections, Phase phase) {
        long hanging = excess.accounts.stream()
                .filter(counted -> hangs(counted, phase))
                .count();
        return hanging >= Math.min(MIN_CALLS, connections) && 2 * hanging >= connections;
    }

    private boolean hangs(ExcessTime.Counted counted, Phase phase) {
        String running = counted.call().ledger().running(phase);
        if (running == null) {
            return false;
        }
        double usually = operations.usualNamed(phase, running);
        double least = Math.max((double) excess.targetNanos(), Operations.WIDE_FACTOR * usually);
        return counted.times().of(Account.part(phase, running)) >= least;
    }

    private double time(Part part) {
        return byCause.only(part::equals).sum();
    }

    /**
     * Returns the failed operation that a client library probably retries, after a pause, in running calls. The retried
     * operation has no name yet. The calls with the failed operation must account for at least half of the time of all
     * unnamed operations; otherwise returns null.
     */
    private @Nullable Part failing(Kind kind) {
        Part unnamed = Part.of(kind);
        Times failed = new Times();
        double all = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            double nanos = counted.times().of(unnamed);
            all += nanos;
            if (nanos > 0) {
                counted.call().ledger().named().stream()
                        .filter(entry -> OperationNames.isFailing(entry.name()))
                        .map(entry -> Account.part(entry.kind(), entry.name()))
                        .filter(part -> part.kind() == kind)
                        .distinct()
                        .forEach(part -> failed.add(part, nanos));
            }
        }
        Part longest = failed.isEmpty() ? null : failed.longestFirst().get(0);
        return longest != null && 2 * failed.of(longest) >= all ? longest : null;
    }

    /**
     * Threads also spend time in a client library between operations. Attributes this time to the operation that the
     * same code runs, because one loop in the code would otherwise appear as two causes.
     */
    private void addTimeWithin(Part operation) {
        Phase phase = Operations.phase(operation.kind());
        String place = phase == null ? null : operations.placeOf(phase, operation.name());
        for (Part part : byCause.longestFirst()) {
            boolean within = part.kind() == operation.kind() && part.name().startsWith(StackReader.CALLED);
            if (within
                    && place != null
                    && (place + ":").startsWith(part.name().substring(StackReader.CALLED.length()) + ":")) {
                byCause.move(part, operation);
            }
        }
    }
}
