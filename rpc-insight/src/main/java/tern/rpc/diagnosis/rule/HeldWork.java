package tern.rpc.diagnosis.rule;

import java.util.function.Predicate;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.pool.ConnectionUse;

/** Finds the work that makes calls hold the connections of a pool for longer than usual. */
final class HeldWork {

    private HeldWork() {}

    /**
     * Weights each kind of extra work of calls by its share of the time for which connections are in use. Omits work
     * during which calls hold no connection, and operations of holders that take no extra time. Pauses keep their share
     * of the calls' time, because a pause stops all holders.
     *
     * @param use the activities of the connections' holders
     * @param extra the extra time of calls, by activity or wait
     * @param account the mean time of calls, by activity or wait
     * @param isNew returns whether an operation has no usual time; the calls that run a new operation may not have
     *     ended yet
     */
    static Times weighted(ConnectionUse use, Times extra, Times account, Predicate<Part> isNew) {
        Times weighted = new Times();
        Times work = use.work();
        double paused = Math.min(1, extra.sum(Baseline::isPause) / Math.max(1, account.sum()));
        for (Part held : work.longestFirst()) {
            boolean isOwn = held.equals(Account.OWN);
            Times same =
                    extra.only(part -> !Baseline.isPause(part) && (isOwn ? Baseline.isOwn(part) : isSame(part, held)));
            double share = (1 - paused) * work.of(held);
            if (same.isEmpty() && !isOwn && !held.name().isEmpty() && isNew.test(held)) {
                weighted.add(held, share);
            } else {
                weighted.addAll(same, same.sum() <= 0 ? 0 : share / same.sum());
            }
        }
        Times pauses = extra.only(Baseline::isPause);
        weighted.addAll(pauses, pauses.sum() <= 0 ? 0 : paused / pauses.sum());
        return weighted;
    }

    private static boolean isSame(Part part, Part held) {
        return part.kind() == held.kind()
                && (held.name().isEmpty()
                        || part.name().isEmpty()
                        || Operations.only(part).test(held)
                        || OperationNames.withoutStatus(part.name()).equals(held.name()));
    }
}
