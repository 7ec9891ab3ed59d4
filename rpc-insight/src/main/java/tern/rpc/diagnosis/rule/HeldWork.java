package tern.rpc.diagnosis.rule;

import java.util.function.Predicate;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.pool.ConnectionUse;

/**
 * Finds the work that makes calls hold the connections of a pool for longer than usual. Earlier rules may have
 * attributed the slowdown of an operation during which calls hold a connection to another cause. For example, an
 * exchange may wait for the lookup of a host name.
 */
final class HeldWork {

    private final ExcessTime excess;
    private final TimesByCause byCause;
    private final Predicate<Part> mayHold;

    /** @param mayHold returns whether a call may hold a connection during an activity or wait */
    HeldWork(ExcessTime excess, TimesByCause byCause, Predicate<Part> mayHold) {
        this.excess = excess;
        this.byCause = byCause;
        this.mayHold = mayHold;
    }

    /**
     * Divides the time for which connections are in use among the causes that make calls work longer than usual. Each
     * cause gets the share of this time that the holders of connections spend on the work. Omits work during which
     * calls hold no connection, and operations that take no longer than usual. Pauses of the process keep their share
     * of the calls' time, because a pause stops all holders.
     *
     * @param pool the wait for the pool
     * @param use the activities of the connections' holders
     * @param pauses the time by which pauses during the work of calls exceed the usual time
     * @param isNew returns whether an operation has no usual time; the calls that run a new operation may not have
     *     ended yet
     */
    Times weighted(Part pool, ConnectionUse use, Times pauses, Predicate<Part> isNew) {
        Times weighted = new Times();
        Times work = use.work();
        double paused = Math.min(1, pauses.sum() / Math.max(1, excess.account.sum()));
        for (Part held : work.longestFirst()) {
            double share = (1 - paused) * work.of(held);
            // Lookups of host names and other activities are measured as part of the operation in which they occur.
            Phase phase = Operations.phase(held.kind());
            Times apart = phase == null ? new Times() : excess.samples.movedFrom(phase);
            for (Part part : apart.longestFirst()) {
                addAll(weighted, causes(part::equals), share * apart.of(part));
            }
            share *= 1 - Math.min(1, apart.sum());
            Times causes = causesOf(held).only(cause -> !cause.equals(pool));
            boolean isOperation = !held.equals(Account.OWN) && !held.name().isEmpty();
            if (causes.isEmpty() && isOperation && isNew.test(held)) {
                weighted.add(held, share);
            } else {
                addAll(weighted, causes, share);
            }
        }
        addAll(weighted, pauses, paused);
        return weighted;
    }

    private static void addAll(Times weighted, Times causes, double share) {
        weighted.addAll(causes, causes.sum() <= 0 ? 0 : share / causes.sum());
    }

    /** Returns the causes that make calls spend more time than usual on the given work of holders, with their times. */
    private Times causesOf(Part held) {
        if (held.equals(Account.OWN)) {
            return causes(part -> !Baseline.isPause(part) && Baseline.isOwn(part));
        }
        Times causes = causes(part -> !part.name().isEmpty() && isSame(part, held));
        Times ofUnnamed = causes(part -> part.name().isEmpty() && part.kind() == held.kind());
        causes.addAll(ofUnnamed.only(cause -> cause.kind() != held.kind() || isSame(cause, held)), 1);
        if (held.kind() == Kind.POOL) {
            causes.addAll(byCause.causesOf(part -> isSame(part, held)).only(cause -> cause.kind() == Kind.POOL), 1);
        }
        return causes;
    }

    private Times causes(Predicate<Part> measured) {
        return byCause.causesOf(measured).only(cause -> mayHold.test(cause) && !Baseline.isPause(cause));
    }

    private static boolean isSame(Part part, Part held) {
        return part.kind() == held.kind()
                && (held.name().isEmpty()
                        || part.name().isEmpty()
                        || Operations.only(part).test(held)
                        || OperationNames.withoutStatus(part.name()).equals(held.name()));
    }
}
