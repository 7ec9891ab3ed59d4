package tern.rpc.diagnosis.rule;

import java.util.EnumSet;
import java.util.Set;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * If the calls' threads run the tasks of a full executor themselves, attributes this work to the executor. A JDK
 * executor with the caller-runs policy lets the submitting thread run a rejected task. If the tasks have become much
 * slower, however, they explain why the executor is full, and their work is the cause.
 */
final class TasksOfCallers extends Rule {

    /** Rejected tasks can be a cause only if at least {@value} late calls run them on their own threads. */
    private static final int MIN_CALLS = 3;

    /** Tasks count as much slower if they take at least {@value} times their usual time. */
    private static final double SLOWER = 2;

    /** The activities and waits that can occur in a task. */
    static final Set<Kind> WORK = EnumSet.of(
            Kind.COMPUTING,
            Kind.SLEEP,
            Kind.RESULT,
            Kind.LOCK,
            Kind.FILE,
            Kind.SOCKET,
            Kind.RESOLVER,
            Kind.NATIVE,
            Kind.SQL,
            Kind.REDIS,
            Kind.HTTP,
            Kind.RPC);

    TasksOfCallers(Rule other) {
        super(other);
    }

    /**
     * Attributes the calls' work in tasks to the full executor if at least half of the sampled late calls ran rejected
     * tasks.
     */
    void passOn() {
        int sampled = 0;
        int running = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            if (samples != null && !samples.list.isEmpty()) {
                sampled++;
                running += samples.ranRejectedTask ? 1 : 0;
            }
        }
        if (running < MIN_CALLS || 2 * running < sampled || areTasksSlower()) {
            return;
        }
        Times rejected = new Times();
        rejected.add(Part.of(Kind.CALLER_RUNS), 1);
        for (Part part : byCause.longestFirst()) {
            if (WORK.contains(part.kind()) && !isSlowInOtherCalls(part)) {
                byCause.pour(part, rejected, "calls run tasks of a full executor themselves");
            }
        }
    }

    /**
     * Returns whether the tasks of an executor take several times as long as usual. The submitting threads run some of
     * these tasks themselves.
     */
    private boolean areTasksSlower() {
        String executor = new CallerRuns(evidence, excess, pools).executor();
        PoolVerdict known = executor == null ? null : pools.get(executor);
        if (known != null) {
            return areSlower(known.pool());
        }
        return pools.values().stream().map(PoolVerdict::pool).anyMatch(pool -> {
            PoolSnapshot now = pool.now();
            boolean isFull = now.kind() == PoolKind.EXECUTOR && now.active() >= now.max();
            return isFull && areSlower(pool);
        });
    }

    private static boolean areSlower(ObservedPool pool) {
        return pool.usualHoldNanos() > 0 && pool.holdNanos() >= SLOWER * pool.usualHoldNanos();
    }

    /**
     * Returns whether calls that did not run a rejected task also spent at least half of their time on the given work.
     */
    private boolean isSlowInOtherCalls(Part work) {
        return excess.accounts.stream()
                        .filter(counted -> {
                            SampledCall samples =
                                    evidence.samples().get(counted.call().ledger());
                            return samples != null && !samples.list.isEmpty() && !samples.ranRejectedTask;
                        })
                        .filter(counted ->
                                2 * counted.times().of(work) >= counted.call().tookNanos())
                        .count()
                >= MIN_CALLS;
    }
}
