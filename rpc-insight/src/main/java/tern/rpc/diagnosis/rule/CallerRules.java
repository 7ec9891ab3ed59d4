package tern.rpc.diagnosis.rule;

import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.MethodRate;
import tern.rpc.diagnosis.excess.MoreCalls;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.pool.PoolVerdict;

/**
 * Attributes the extra time of calls (above their usual time) to their callers, if the callers send several times the
 * usual number of calls.
 */
final class CallerRules extends Rule {

    /** The number of calls counts as a burst if it is at least {@value} times the usual number. */
    private static final double BURST = 4;

    /**
     * A burst of calls is always the cause if the number of calls is at least {@value} times the usual number. Even a
     * resource that takes most of the calls' time is then not the cause, because the calls overload it.
     */
    private static final double LARGE_BURST = 8;

    private final OperationCounts counts;

    CallerRules(Rule other, OperationCounts counts) {
        super(other);
        this.counts = counts;
    }

    /**
     * Attributes the extra time of operations and waits to a burst of calls, if the number of calls is several times
     * the usual number. An activity or wait that takes most of the time remains the cause, unless the burst is large.
     * Operations that each call runs more often than usual remain a cause, because the number of calls does not explain
     * them.
     * If only one method is called several times as often as usual, only the extra time at shared resources is
     * attributed to the method's callers.
     */
    void apply() {
        boolean isKnown =
                evidence.usual().isSettled("calls") && evidence.rates().stream().noneMatch(MethodRate::isLasting);
        double usually = isKnown ? evidence.usual().figure("calls") : -1;
        double perSecond = (evidence.calls().calls() + evidence.calls().refused()) / evidence.seconds();
        double all = byCause.sum();
        boolean one = byCause.longestFirst().stream().anyMatch(part -> byCause.of(part) > all / 2);
        boolean isBurst = usually > 0
                && perSecond >= (one ? LARGE_BURST : BURST) * usually
                && !MethodRate.wereAsMany(evidence.rates(), perSecond);
        MethodRate method = isBurst ? null : new MoreCalls(evidence, excess).method();
        Times slower = isBurst
                ? byCause.only(part -> maySlowDown(part) && !counts.areMore(part))
                : byCause.only(part -> method != null && isShared(part));
        for (Part part : slower.longestFirst()) {
            byCause.pour(part, only(Part.of(Kind.QUEUE)), TimesByCause.WAIT_FOR + waitedFor(part));
        }
    }

    private static Times only(Part part) {
        Times one = new Times();
        one.add(part, 1);
        return one;
    }

    private static boolean maySlowDown(Part part) {
        return Operations.phase(part.kind()) != null
                || part.kind() == Kind.RUN_QUEUE
                || part.kind() == Kind.RESULT
                || part.kind() == Kind.POOL
                || part.kind() == Kind.UNEXPLAINED;
    }

    /**
     * Returns whether the given activity or wait of the calls is a wait for a shared resource that is used by too many
     * calls.
     */
    private boolean isShared(Part part) {
        return switch (part.kind()) {
            case RUN_QUEUE ->
                evidence.machine().isFull()
                        && evidence.machine().own() > evidence.machine().others();
            case POOL -> isTooSmall(part);
            case SQL, REDIS -> isEveryOperation(part);
            default -> false;
        };
    }

    private boolean isTooSmall(Part wait) {
        PoolVerdict pool = PoolVerdict.find(pools, wait);
        return pool != null && pool.reason() == PoolVerdict.Reason.TOO_SMALL;
    }

    /**
     * Returns whether the given activity represents all operations on one server. A rule merges the operations of a
     * server if they became slower together.
     */
    private boolean isEveryOperation(Part part) {
        String store = OperationNames.storeOfAll(part);
        return store != null
                || (part.name().isEmpty() && !operations.allSlower(part.kind()).isEmpty());
    }

    private String waitedFor(Part part) {
        PoolVerdict pool = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
        return switch (part.kind()) {
            case POOL -> pool == null ? part.name() : pool.resource();
            case RUN_QUEUE -> "a processor";
            case SQL -> "the database";
            case REDIS -> "Redis";
            case HTTP, RPC -> "other services";
            default -> "other work";
        };
    }
}
