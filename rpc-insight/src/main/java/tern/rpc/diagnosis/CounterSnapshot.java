package tern.rpc.diagnosis;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import tern.rpc.diagnosis.calls.CallRecords.Sums;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.pool.PoolSnapshot;

/**
 * The values of the counters at the end of one second: calls by method, refused calls by reason, and pool snapshots by
 * name.
 */
record CounterSnapshot(
        long atNanos, Map<String, Sums> methods, Map<String, Long> refused, Map<String, PoolSnapshot> pools) {

    /**
     * Returns the first snapshot at or after the given time; the last one if there is none.
     *
     * @param seconds the snapshots of the last seconds, the oldest first
     * @param otherwise the result if there are no snapshots
     */
    static CounterSnapshot first(Iterable<CounterSnapshot> seconds, long fromNanos, CounterSnapshot otherwise) {
        CounterSnapshot first = otherwise;
        for (CounterSnapshot second : seconds) {
            first = second;
            if (second.atNanos - fromNanos >= 0) {
                break;
            }
        }
        return first;
    }

    /** Returns the number of calls, by outcome, since the end of an earlier second. */
    Evidence.Counts since(CounterSnapshot earlier, int hung) {
        long calls = 0;
        long late = 0;
        long failed = 0;
        for (Sums sums : methodsSince(earlier).values()) {
            calls += sums.calls();
            late += sums.late();
            failed += sums.failed();
        }
        long refusals = refusedSince(earlier).values().stream()
                .mapToLong(Long::longValue)
                .sum();
        return new Evidence.Counts(calls, late, failed, refusals, hung);
    }

    /** Returns the calls since the end of an earlier second, by method. */
    Map<String, Sums> methodsSince(CounterSnapshot earlier) {
        Map<String, Sums> since = new HashMap<>();
        methods.forEach((name, sums) -> since.put(name, sums.since(earlier.methods.getOrDefault(name, Sums.NONE))));
        return since;
    }

    /** Returns the number of calls refused since the end of an earlier second, by reason. */
    Map<String, Long> refusedSince(CounterSnapshot earlier) {
        Map<String, Long> counts = new LinkedHashMap<>();
        refused.forEach((reason, count) -> {
            long more = count - earlier.refused.getOrDefault(reason, 0L);
            if (more > 0) {
                counts.put(reason, more);
            }
        });
        return counts;
    }
}
