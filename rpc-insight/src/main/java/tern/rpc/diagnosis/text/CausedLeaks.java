package tern.rpc.diagnosis.text;

import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.rule.HolderRules;
import tern.rpc.diagnosis.stack.LibraryWaits;
import tern.rpc.pool.Holders.Holder;

/**
 * Finds the fault that makes code lose permits or connections: calls fail because of another fault after they have
 * taken a permit or a connection, and the code that handles the failure does not return the permit or connection. The
 * wait for the permit or connection then takes more and more time, until it exceeds the time of the fault.
 */
public final class CausedLeaks {

    /**
     * The kinds of causes that lie outside of the code that loses the permit, such as a slow peer. An exception thrown
     * by this code itself is not among them.
     */
    private static final Set<Kind> FAULTS = EnumSet.of(
            Kind.PEER_FAILS,
            Kind.TIMEOUT,
            Kind.POOL,
            Kind.SQL,
            Kind.REDIS,
            Kind.HTTP,
            Kind.RPC,
            Kind.RESOLVER,
            Kind.SOCKET,
            Kind.EXECUTOR);

    /** Failures count as new if usually less than {@value} of the calls to the method fail. */
    private static final double NEW = 0.01;

    /** Failures can explain waits only if at most {@value} of the waiting calls ended before the first failed call. */
    private static final double FEW = 0.1;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Map<String, PoolVerdict> pools;
    private final TimesByCause byCause;

    public CausedLeaks(Evidence evidence, ExcessTime excess, Map<String, PoolVerdict> pools, TimesByCause byCause) {
        this.evidence = evidence;
        this.excess = excess;
        this.pools = pools;
        this.byCause = byCause;
    }

    /**
     * Returns the fault that makes calls lose the permits or connections that other calls wait for. The fault must have
     * begun before the waits, and must still make calls fail. Returns null if there is no such fault, or if the given
     * activity or wait is not a wait for permits or connections that calls can lose.
     */
    @Nullable
    public Part fault(Part wait) {
        List<EndedCall> losing = losing(wait);
        if (losing.size() < LostPermits.MIN_FAILURES || !beganBefore(losing, wait)) {
            return null;
        }
        Set<EndedCall> present = Collections.newSetFromMap(new IdentityHashMap<>());
        present.addAll(evidence.bad());
        Map<Part, Integer> faults = new HashMap<>();
        losing.stream().filter(present::contains).filter(this::isNew).forEach(call -> {
            Part fault = faultOf(call);
            if (fault != null && !fault.equals(wait)) {
                faults.merge(fault, 1, Integer::sum);
            }
        });
        return faults.entrySet().stream()
                .filter(entry -> 2 * entry.getValue()
                        >= losing.stream().filter(present::contains).count())
                .max(Map.Entry.<Part, Integer>comparingByValue()
                        .thenComparing(entry -> entry.getKey().name()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /** Returns the failed calls that did not return a permit or connection that calls are now waiting for. */
    private List<EndedCall> losing(Part wait) {
        PoolVerdict pool = wait.kind() == Kind.POOL ? PoolVerdict.find(pools, wait) : null;
        if (pool != null) {
            Set<CallLedger> lost = Collections.newSetFromMap(new IdentityHashMap<>());
            if (pool.reason() == PoolVerdict.Reason.LEAKED) {
                pool.pool().lost().stream().map(Holder::call).forEach(lost::add);
            }
            return evidence.earlier().stream()
                    .filter(call -> call.failure() != null && lost.contains(call.ledger()))
                    .toList();
        }
        boolean isPermit = (wait.kind() == Kind.LOCK && wait.name().startsWith(Part.SEMAPHORE))
                || LibraryWaits.isOwnPool(wait)
                || HolderRules.isQueue(wait, excess.samples);
        return isPermit ? new LostPermits(evidence, excess).losing(wait) : List.of();
    }

    /**
     * Returns whether the first failed call ended before nearly all calls that waited for a long time. A few calls may
     * have waited before the failure, because calls arrived in a burst.
     */
    private boolean beganBefore(List<EndedCall> losing, Part wait) {
        EndedCall first = losing.get(0);
        for (EndedCall call : losing) {
            first = call.endedNanos() - first.endedNanos() < 0 ? call : first;
        }
        long began = first.endedNanos();
        List<EndedCall> waiting = excess.accounts.stream()
                .filter(counted -> counted.times().of(wait) >= evidence.targetNanos() / 2.0)
                .map(ExcessTime.Counted::call)
                .toList();
        long before =
                waiting.stream().filter(call -> call.endedNanos() - began < 0).count();
        return before <= FEW * waiting.size();
    }

    private boolean isNew(EndedCall call) {
        return evidence.usual().figure(Baseline.FAILED_CALLS + call.method()) < NEW;
    }

    /**
     * Returns the cause to which the diagnosis attributes most of the time that led to the call's failure. Returns null
     * if its kind is not in {@link #FAULTS}.
     */
    private @Nullable Part faultOf(EndedCall call) {
        Part measured = excess.failureOf(call);
        measured = measured == null ? excess.timedOutPart(call) : measured;
        measured = measured == null ? excess.slowOperation(call) : measured;
        if (measured == null) {
            return null;
        }
        Part cause = null;
        for (Part part : byCause.longestFirst()) {
            double share = byCause.share(measured, part);
            if (share > 0 && (cause == null || share > byCause.share(measured, cause))) {
                cause = part;
            }
        }
        return cause != null && FAULTS.contains(cause.kind()) ? cause : null;
    }
}
