package tern.rpc.diagnosis.rule;

import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.sample.HeldRows;
import tern.rpc.diagnosis.sample.Statements;

/**
 * Relates statements waiting for locked rows to the operation that the holders of the rows run at the same time, such
 * as an HTTP exchange within a transaction. The wait and the operation usually have one common cause. If the operation
 * became slower, it is the cause. Otherwise the cause is that the rows are locked during the operation, unless the
 * operation takes much longer than the wait and makes calls late even without the wait. In this case, the wait and the
 * operation remain separate causes.
 */
final class RowHolderRules extends Rule {

    /** Waits for rows of less than {@value} of the latency target are ignored. */
    private static final double NOTABLE = 0.1;

    /**
     * If an operation runs while rows are locked, other calls wait for the rows about as long as the operation takes.
     * Therefore, the locked rows are the cause of both if the wait takes at least {@value} of the operation's time. If
     * the wait is shorter, the locked rows are the cause only if at least {@value} of the late or failed calls would
     * meet the target without the wait.
     */
    private static final double HALF = 0.5;

    RowHolderRules(Rule other) {
        super(other);
    }

    void apply() {
        for (Part wait : byCause.longestFirst()) {
            Part operation = byCause.of(wait) >= NOTABLE * evidence.targetNanos() ? holdersOperation(wait) : null;
            if (operation == null || byCause.of(operation) <= 0) {
                continue;
            }
            Times one = new Times();
            if (hasBecomeSlower(operation)) {
                one.add(operation, 1);
                byCause.pour(wait, one, TimesByCause.WAIT_FOR + "locked rows, in " + wait.name());
            } else if (byCause.of(wait) >= HALF * byCause.of(operation) || makesCallsLate(wait)) {
                one.add(wait, 1);
                byCause.pour(operation, one, operation.name() + " runs while its transaction holds locked rows");
            }
        }
    }

    /** Returns whether at least half of the late or failed calls would meet the target without the given wait. */
    private boolean makesCallsLate(Part wait) {
        return excess.saves(part -> part.equals(wait) ? 1 : 0) >= HALF;
    }

    private @Nullable Part holdersOperation(Part wait) {
        String statement = OperationNames.withoutStatus(wait.name());
        HeldRows.Found found = wait.kind() == Kind.SQL && Statements.mayWait(statement)
                ? evidence.heldRows().holderFor(statement, locking -> operations.areOfSameServer(locking, statement))
                : null;
        return found == null ? null : found.operation();
    }

    private boolean hasBecomeSlower(Part operation) {
        Phase phase = Operations.phase(operation.kind());
        return phase != null && operations.usualNamed(phase, operation.name()) >= 0 && operations.isSlower(operation);
    }
}
