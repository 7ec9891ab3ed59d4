package tern.rpc.diagnosis;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.calls.CallRecords;
import tern.rpc.diagnosis.calls.PossibleLongPolls;
import tern.rpc.diagnosis.sample.Sampler;

/** Counts the running calls that hang. Only the diagnosis thread uses it. */
final class HungCalls {

    private static final int HUNG_TARGETS = 10;

    private final long hungNanos;
    private final CallRecords records;
    private final Sampler sampler;
    private Set<String> polled = Set.of(); // the methods whose calls were last taken for long polls

    HungCalls(long targetNanos, CallRecords records, Sampler sampler) {
        this.hungNanos = HUNG_TARGETS * targetNanos;
        this.records = records;
        this.sampler = sampler;
    }

    /**
     * Returns the number of running calls that have taken much longer than the target and than usual.
     *
     * @param isExcused returns whether a call does not count, because it usually takes this long or because its caller
     *     is slow
     * @param areWorkersFull whether calls wait for a worker because running calls keep all workers busy. In this case,
     *     calls that may be long polls count as well
     */
    int count(List<RunningCall> running, Predicate<RunningCall> isExcused, boolean areWorkersFull, long now) {
        Set<String> methods = new TreeSet<>();
        int hung = 0;
        for (RunningCall call : running) {
            if (call.runningNanos() > hungNanos && !isExcused.test(call)) {
                if (!areWorkersFull && PossibleLongPolls.mayBe(call, records, sampler.samples(), now)) {
                    methods.add(call.method());
                } else {
                    hung++;
                }
            }
        }
        polled = methods;
        return hung;
    }

    /** Returns the line about calls that were not counted because they may be long polls; empty if there are none. */
    String ignored() {
        if (polled.isEmpty()) {
            return "";
        }
        boolean isOne = polled.size() == 1;
        return "ignored  running calls of " + String.join(", ", polled)
                + (isOne ? ": this looks like a long poll" : ": these look like long polls") + ", because no call of "
                + (isOne ? "it" : "them") + " has met the target yet, and most other calls meet it";
    }
}
