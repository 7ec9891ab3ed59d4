package tern.rpc.diagnosis;

import java.util.Collections;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.CallRecords.Sums;

/**
 * Recognizes running calls that may be long polls, as long as their usual times are not known. Without this class, a few
 * long polls would seem to hang soon after the start of the application, and the usual times of calls could not be
 * learned during the resulting miss.
 */
final class EarlyPolls {

    /** The time from the first call of the application in which long polls are expected to end several times. */
    private static final long EARLY_NANOS = TimeUnit.MINUTES.toNanos(5);

    private EarlyPolls() {}

    /**
     * Returns whether the call may wait for an event and not hang. This is the case if the call continues without a
     * thread and without a running operation, if no call to its method has met the target yet, and if most other calls
     * meet it.
     */
    static boolean mayBe(RunningCall call, CallRecords records, long now) {
        return waitsForOthers(call) && isEarly(records, now) && isUnknownMethodAmongGood(call, records);
    }

    private static boolean waitsForOthers(RunningCall call) {
        return call.threadId() == RunningCall.NO_THREAD
                && call.phase() == Phase.UNATTRIBUTED
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
            long met = good(entry.getValue());
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

    private static long good(Sums sums) {
        return sums.calls() - sums.late() - sums.failed();
    }
}
