package tern.rpc.diagnosis.rule;

import java.util.Map;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.failure.ServerRefusals;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.pool.PoolSnapshot;

/**
 * Decides whether calls wait for a worker because their work takes too long, or because there are too few workers.
 * Slower or additional work explains the wait only if there would be enough workers if calls did only their usual work.
 */
public final class WorkerRules extends Rule {

    /** Work can be the cause of waits for a worker only if it takes at least {@value} of the latency target. */
    private static final double NOTABLE = 0.1;

    /** If more than {@value} of the workers are busy on average, some calls are assumed to wait for one. */
    private static final double FULL = 0.8;

    WorkerRules(Rule other) {
        super(other);
    }

    /**
     * Attributes the wait for a worker to the code that blocks event loops, if there is any. Otherwise attributes the
     * wait to the work that occupies the workers, unless there are too few workers.
     */
    void apply() {
        Part queue = Part.of(Kind.QUEUE);
        Times loops = BlockedLoops.blocked(evidence, excess);
        if (byCause.of(queue) > 0 && loops.sum() >= NOTABLE * evidence.targetNanos()) {
            byCause.pour(queue, loops, TimesByCause.WAIT_FOR + "their event loop");
            return;
        }
        Times done = byCause.only(part -> TimesByCause.isLeaf(part) || part.kind() == Kind.POOL);
        if (byCause.of(queue) > 0 && done.sum() >= NOTABLE * evidence.targetNanos() && !areTooFew()) {
            byCause.pour(
                    queue,
                    PausedWork.of(done, excess.account, part -> !needsWorker(part)),
                    TimesByCause.WAIT_FOR + "a worker");
        }
    }

    /**
     * Returns whether there are too few workers. Two conditions must be met. First, calls that have a worker meet the
     * latency target. Second, the work of these calls takes about its usual time, or there would be too few workers
     * even if the work took its usual time. If the usual time is unknown, the current time counts as usual.
     */
    private boolean areTooFew() {
        double service = PausedWork.of(excess.account, excess.account, part -> !needsWorker(part))
                .sum(WorkerRules::needsWorker);
        if (excess.badByMethod().isEmpty() || service > evidence.targetNanos()) {
            return false;
        }
        double usually = usualService();
        // Service is the time for which a call occupies a worker. If all workers are busy, the call rate is workers /
        // service. With the usual service time, the same rate would keep a share of usually / service of the workers
        // busy. There are enough workers if this share is at most 80 %.
        boolean isWorkAsUsual = usually <= 0 || service < usually / FULL;
        double workers = workers();
        return isWorkAsUsual || (workers > 0 && wantedPerSecond() * usually / 1e9 > FULL * workers);
    }

    private static boolean needsWorker(Part part) {
        return part.kind() != Kind.QUEUE;
    }

    /** Returns how long a late or failed call usually occupies a worker; 0 if unknown. */
    private double usualService() {
        double sum = 0;
        int all = 0;
        for (Map.Entry<String, Integer> method : excess.badByMethod().entrySet()) {
            Times usual = excess.usualOf(method.getKey());
            if (usual != null) {
                sum += method.getValue() * usual.sum(WorkerRules::needsWorker);
                all += method.getValue();
            }
        }
        return all == 0 ? 0 : sum / all;
    }

    private double workers() {
        ObservedPool pool = evidence.workers();
        return pool == null ? 0 : pool.now().max();
    }

    /** Returns the number of calls per second that were served, or were refused because no worker was free. */
    private double wantedPerSecond() {
        double refused = evidence.refused().entrySet().stream()
                .filter(entry -> isForWorkers(entry.getKey()))
                .mapToDouble(Map.Entry::getValue)
                .sum();
        return (evidence.calls().calls() + refused) / evidence.seconds();
    }

    private boolean isForWorkers(String reason) {
        return causeOf(reason, evidence).kind() == Kind.QUEUE;
    }

    /**
     * Returns the reason why calls were refused: the wait for a worker, a limit, or a deadline that had passed although
     * workers were idle.
     */
    public static Part causeOf(String reason, Evidence evidence) {
        PoolSnapshot workers = ServerRefusals.workers(evidence.pools().stream().map(ObservedPool::now));
        if (ServerRefusals.isOfDeadline(reason, workers)) {
            return new Part(Kind.TIMEOUT, FailurePart.DEADLINE);
        }
        return ServerRefusals.isForWorkers(reason, workers) ? Part.of(Kind.QUEUE) : new Part(Kind.LIMIT, reason);
    }
}
