package tern.rpc.diagnosis.excess;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.failure.FailurePart;

/**
 * The calls that failed because of a timeout.
 *
 * @param ended these calls
 * @param of the number of all late or failed calls
 * @param eachNanos the mean time of a whole call
 * @param usualNanos the usual time of a whole call
 */
record TimedOutCalls(List<EndedCall> ended, int of, double eachNanos, double usualNanos) {

    private static final int MAX_VALUES = 2;

    int calls() {
        return ended.size();
    }

    boolean areMost() {
        return calls() > 0 && 2 * calls() >= of;
    }

    /** Returns the time limit of the calls and the place where it is set; empty if it is unknown. */
    String limit() {
        return first(FailurePart::limit);
    }

    /** Returns the addresses of the callers, the most frequent one first. */
    List<String> callers() {
        return most(EndedCall::caller);
    }

    /** Returns the most frequent value of a property of the calls; empty if no call has a value. */
    String first(Function<EndedCall, @Nullable String> property) {
        return most(property).stream().findFirst().orElse("");
    }

    /** Returns the most frequent values of a property of the calls, the most frequent value first. */
    List<String> most(Function<EndedCall, @Nullable String> property) {
        Map<String, Integer> counts = new TreeMap<>();
        for (EndedCall call : ended) {
            String value = property.apply(call);
            if (value != null) {
                counts.merge(value, 1, Integer::sum);
            }
        }
        return counts.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .limit(MAX_VALUES)
                .map(Map.Entry::getKey)
                .toList();
    }
}
