package tern.rpc.diagnosis.calls;

import java.util.Collections;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.calls.CallRecords.Sums;
import tern.rpc.diagnosis.sample.SampledCall;

/**
 * Recognizes running calls to methods whose usual times are unknown, if the calls may be long polls or the methods may
 * always be slow. Without this class, a few long polls soon after the start of the application would count as calls
 * that hang. The diagnosis would then report a miss of the latency target, and would not learn that long polls are
 * always slow.
 */
public final class PossibleLongPolls {

    /** Several long polls are expected to end within this time after the application's first call. */
    private static final long EARLY_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** A call whose thread is busy, instead of waiting for an event, is expected to end within this time. */
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(60);

    private PossibleLongPolls() {}

    /**
     * Returns whether the call is possibly waiting for an event or always slow, instead of hanging. Returns true only
     * if no call to its method has met the target yet, and most other calls meet the target. In addition, a call
     * without a thread must run no operation. A call whose thread is working must not have run for longer than a
     * minute. A thread that waits for another thread, for a remote call or for an HTTP exchange does not count as
     * working.
     *
     * @param samples the samples of the threads that serve calls
     */
    public static boolean mayBe(RunningCall call, CallRecords records, Map<CallLedger, SampledCall> samples, long now) {
        boolean mayWait = call.threadId() == RunningCall.NO_THREAD
                ? waitsForOthers(call)
                : (call.runningNanos() < LONG_NANOS && call.phase() != Phase.QUEUE)
                        || waitsForPeer(call)
                        || waitsOnItsThread(call, samples);
        return mayWait && isEarly(records, now) && isUnknownMethodAmongGood(call, records);
    }

    /** Returns whether the call's thread is waiting for another process, which may itself wait for an event. */
    private static boolean waitsForPeer(RunningCall call) {
        return call.phase() == Phase.RPC || call.phase() == Phase.HTTP;
    }

    /** Returns whether the call's thread is waiting for another thread, for example for an item in a queue. */
    private static boolean waitsOnItsThread(RunningCall call, Map<CallLedger, SampledCall> samples) {
        SampledCall known = samples.get(call.ledger());
        Sample last = known == null || known.list.isEmpty() ? null : known.list.get(known.list.size() - 1);
        return call.phase() == Phase.OWN && last != null && last.part().kind() == Part.Kind.RESULT;
    }

    /**
     * Returns whether the call had no thread for most of its time, or at least half of its samples show that its thread
     * waited for another thread. Such a call does not compete with other calls for a processor.
     */
    public static boolean hasWaited(EndedCall call, Map<CallLedger, SampledCall> samples) {
        if (2 * call.ledger().nanos(Phase.UNATTRIBUTED, call.endedNanos()) > call.tookNanos()) {
            return true;
        }
        SampledCall known = samples.get(call.ledger());
        if (known == null || known.list.isEmpty()) {
            return false;
        }
        long waits = known.list.stream()
                .filter(sample -> sample.part().kind() == Part.Kind.RESULT)
                .count();
        return 2 * waits >= known.list.size();
    }

    private static boolean waitsForOthers(RunningCall call) {
        return call.phase() == Phase.UNATTRIBUTED
                && call.ledger().unfinished().isEmpty()
                && call.ledger().parts().isEmpty();
    }

    private static boolean isEarly(CallRecords records, long now) {
        Map<String, Long> ages = records.ages(now);
        return !ages.isEmpty() && Collections.max(ages.values()) < EARLY_NANOS;
    }

    private static boolean isUnknownMethodAmongGood(RunningCall call, CallRecords records) {
        long calls = 0;
        long good = 0;
        for (Map.Entry<String, Sums> entry : records.sums().entrySet()) {
            long met = entry.getValue().met();
            if (entry.getKey().equals(call.method())) {
                if (met > 0) {
                    return false;
                }
            } else {
                calls += entry.getValue().calls();
                good += met;
            }
        }
        return 2 * good > calls;
    }
}
