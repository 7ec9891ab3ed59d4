package tern.rpc.diagnosis.rule;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.ExcessTime;

/**
 * Finds the asynchronous operation that late or failed calls waited for and that was still running when these calls
 * ended. Calls may also have waited for a task that had not started yet, because its executor had no free thread.
 */
final class Unanswered {

    private static final double HALF = 0.5;

    private Unanswered() {}

    /**
     * Returns the operation that explains at least half of the time for which the calls waited for a result; null if
     * there is none. While an operation runs, it explains why its call waits. An operation takes precedence over a
     * task, because calls do not wait for all of their tasks.
     *
     * @param isAwaited returns whether the calls may wait for tasks of the executor with the given name
     */
    static @Nullable Part of(Part wait, List<ExcessTime.Counted> accounts, Predicate<String> isAwaited) {
        Times explained = new Times();
        double waited = 0;
        for (ExcessTime.Counted counted : accounts) {
            double ofCall = counted.times().of(wait);
            if (ofCall <= 0) {
                continue;
            }
            waited += ofCall;
            // If the call's thread is still running after the deadline of the call, it is waiting for the unfinished
            // operation.
            CallLedger ledger = counted.call().ledger();
            boolean outlivesCall = counted.call().isRunning() && ledger.isEnded();
            for (Map.Entry<Part, Double> operation : longest(ledger).entrySet()) {
                explained.add(operation.getKey(), outlivesCall ? ofCall : Math.min(ofCall, operation.getValue()));
            }
        }
        double threshold = HALF * waited;
        Part task = null;
        for (Part part : explained.longestFirst()) {
            if (explained.of(part) >= threshold && part.kind() != Kind.POOL) {
                return part;
            }
            task = task == null && explained.of(part) >= threshold && isAwaited.test(part.name()) ? part : task;
        }
        return task;
    }

    /** Returns the longest duration of each unfinished operation of the call. */
    private static Map<Part, Double> longest(CallLedger ledger) {
        Map<Part, Double> longest = new HashMap<>();
        for (NamedTimes.Entry entry : ledger.unfinished()) {
            Kind kind = Account.part(entry.kind(), entry.name()).kind();
            longest.merge(new Part(kind, entry.name()), (double) entry.nanos(), Math::max);
        }
        return longest;
    }
}
