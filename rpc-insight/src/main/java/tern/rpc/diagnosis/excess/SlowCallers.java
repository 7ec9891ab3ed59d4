package tern.rpc.diagnosis.excess;

import java.util.List;
import java.util.Map;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.sample.SampledCall;

/**
 * Recognizes web requests that are late because their callers send the request or read the answer slowly. A transfer
 * over a slow link does not indicate a problem in the application.
 */
public final class SlowCallers {

    /**
     * A call is assumed to be late because of its caller if at least {@value} of the call's samples show a wait for the
     * caller.
     */
    private static final double MOST = 0.8;

    /**
     * A call is judged only if it has at least {@value} samples, because a single sample may show a short wait by
     * chance.
     */
    private static final int MIN_LOOKS = 2;

    /** A wait for a worker counts as noticeable if it takes at least {@value} of the latency target. */
    private static final double NOTABLE = 0.1;

    private SlowCallers() {}

    /** Returns whether a late call is late only because of its caller. */
    public static boolean explain(EndedCall call, Map<CallLedger, SampledCall> samples) {
        SampledCall known = samples.get(call.ledger());
        int looks = known == null ? 0 : known.list.size() + known.otherLooks;
        if (call.failure() != null || known == null || looks < MIN_LOOKS) {
            return false;
        }
        long waits = known.list.stream()
                .filter(sample -> sample.isOwn() && sample.part().kind() == Kind.CALLER)
                .count();
        return waits >= MOST * looks;
    }

    /**
     * Removes the calls that are late only because of their callers, and returns the other late or failed calls. If
     * calls wait for workers, no calls are removed, because slow callers may then occupy the workers.
     */
    public static List<EndedCall> without(List<EndedCall> bad, Map<CallLedger, SampledCall> samples, long targetNanos) {
        boolean queued = waitForWorkers(bad, targetNanos);
        return queued
                ? bad
                : bad.stream().filter(call -> !explain(call, samples)).toList();
    }

    /** Returns whether at least one of the given late or failed calls waited noticeably for a worker. */
    public static boolean waitForWorkers(List<EndedCall> bad, long targetNanos) {
        return bad.stream()
                .anyMatch(call -> call.ledger().nanos(Phase.QUEUE, call.endedNanos()) > NOTABLE * targetNanos);
    }
}
