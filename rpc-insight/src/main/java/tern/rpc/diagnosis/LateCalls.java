package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.CallRecords;
import tern.rpc.diagnosis.calls.PossibleLongPolls;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.SlowCallers;
import tern.rpc.diagnosis.machine.DelayedArrivals;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.machine.ProcessWatch;
import tern.rpc.diagnosis.sample.Sampler;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Selects the late and failed calls that the diagnosis explains. Leaves out calls that are usually late, and calls that
 * are late because of their callers. Only the diagnosis thread uses this class.
 */
final class LateCalls {

    private final long targetNanos;
    private final CallRecords records;
    private final Baseline usual;
    private final BaselineUpdater updater;
    private final Sampler sampler;
    private final ProcessWatch process;
    private boolean wereFull; // whether all workers were busy and calls waited for one in the previous second
    // whether all workers have been busy, and calls have waited for one, for at least a second
    private boolean areFull;

    LateCalls(
            long targetNanos,
            CallRecords records,
            Baseline usual,
            BaselineUpdater updater,
            Sampler sampler,
            ProcessWatch process) {
        this.targetNanos = targetNanos;
        this.records = records;
        this.usual = usual;
        this.updater = updater;
        this.sampler = sampler;
        this.process = process;
    }

    /**
     * Called once a second. As long as all workers are busy, calls that wait for their callers are not left out: the
     * calls that wait for a worker do not begin, so no ended call shows that slow callers occupy the workers.
     */
    void second(Collection<PoolSnapshot> pools) {
        boolean full = pools.stream()
                .anyMatch(pool -> pool.kind() == PoolKind.WORKERS
                        && pool.waiting() > 0
                        && pool.effectiveMax() > 0
                        && pool.active() >= pool.effectiveMax());
        areFull = full && wereFull;
        wereFull = full;
    }

    /** Returns whether all workers are busy while other calls wait for one. */
    boolean areWorkersFull() {
        return areFull;
    }

    /** Returns the late and failed calls since the given time, including running calls that are already late. */
    List<EndedCall> since(
            long from,
            long now,
            List<RunningCall> running,
            Evidence.Counts counts,
            double callsPerSecond,
            Machine seen) {
        List<EndedCall> bad = new ArrayList<>(records.bad(from));
        bad.addAll(DelayedArrivals.of(records.good(from), process.pauses(from, now), callsPerSecond, targetNanos));
        for (RunningCall call : running) {
            if (call.runningNanos() > targetNanos) {
                bad.add(soFar(call, now));
            }
        }
        bad.removeIf(usual::isUsual);
        bad = areFull ? bad : SlowCallers.without(bad, sampler.samples(), targetNanos);
        if (counts.refused() > 0 || SlowCallers.waitForWorkers(bad, targetNanos)) {
            return bad;
        }
        // While the processors are saturated, a slow method may make other calls late, unless its threads are waiting.
        return updater.withoutSlowMethods(
                bad, call -> seen.isFull() && !PossibleLongPolls.hasWaited(call, sampler.samples()));
    }

    /** Returns the estimated number of calls that arrived during a pause and waited for longer than the target. */
    long delayed(long fromNanos, long now, long calls) {
        double rate = calls * 1e9 / Math.max(1, now - fromNanos);
        return DelayedArrivals.count(process.pauses(fromNanos, now), rate, targetNanos);
    }

    /** Returns a record of a running call, as if the call had just ended. */
    static EndedCall soFar(RunningCall call, long now) {
        return new EndedCall(call.method(), call.ledger(), now, call.runningNanos(), null, true, null);
    }

    /**
     * Returns the number of calls since the given time that missed the latency target but are not counted as late.
     * Calls that are not counted as late were no slower than usual for their method, or were late only because of their
     * callers.
     */
    long usuallyLate(long sinceNanos) {
        return records.bad(sinceNanos).stream().filter(this::isExcused).count();
    }

    /**
     * Returns the time since the first call to each method. Omits methods whose late calls are all left out, such as
     * long polls, because they do not explain why other calls are late.
     *
     * @param counted the late and failed calls since the given time that are not left out
     */
    Map<String, Long> ages(Map<String, Long> ages, long from, List<EndedCall> counted) {
        Set<String> leftOut =
                records.bad(from).stream().map(EndedCall::method).collect(Collectors.toCollection(HashSet::new));
        counted.forEach(call -> leftOut.remove(call.method()));
        Map<String, Long> known = new HashMap<>(ages);
        known.keySet().removeAll(leftOut);
        return known;
    }

    boolean isExcused(EndedCall call) {
        return usual.isUsual(call) || (!areFull && SlowCallers.explain(call, sampler.samples()));
    }
}
