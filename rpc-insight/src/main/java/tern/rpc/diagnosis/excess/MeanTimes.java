package tern.rpc.diagnosis.excess;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.calls.UsualOperations;

/**
 * The mean times of the operations of one kind in late or failed calls, by name. Failed statements and commands are
 * left out, because they may end early.
 */
final class MeanTimes {

    /**
     * An operation with at most {@value} executions is not compared with others, because so few executions prove
     * little.
     */
    private static final double FEW = 2;

    /**
     * An operation counts as rare if it meets two conditions. It takes at most {@value} of the time of all operations.
     * It runs only a few times, or at most {@value} times as often as the most frequent operation.
     */
    private static final double SMALL = 0.05;

    // for each name, the number and the total time of the executions
    private final Map<String, long[]> sums = new HashMap<>();

    /** @param calls the late or failed calls */
    MeanTimes(List<CallLedger> calls, Phase phase) {
        for (CallLedger call : calls) {
            for (NamedTimes.Entry entry : call.named()) {
                if (entry.kind() == phase
                        && !entry.name().equals(NamedTimes.OTHERS)
                        && !UsualOperations.isFailedInStore(phase, entry.name())) {
                    long[] sum = sums.computeIfAbsent(entry.name(), name -> new long[2]);
                    sum[0] += entry.count();
                    sum[1] += entry.nanos();
                }
            }
        }
    }

    Map<String, Double> each() {
        return only((executions, nanos) -> true);
    }

    /**
     * Returns the mean times of the operations that do not count as rare. If there are fewer than two such operations,
     * returns the mean times of all operations.
     */
    Map<String, Double> ofFrequent() {
        long most = 0;
        long all = 0;
        for (long[] sum : sums.values()) {
            most = Math.max(most, sum[0]);
            all += sum[1];
        }
        double few = Math.max(FEW, SMALL * most);
        double little = SMALL * all;
        Map<String, Double> frequent = only((executions, nanos) -> executions > few || nanos > little);
        return frequent.size() > 1 ? frequent : each();
    }

    private Map<String, Double> only(BiPredicate<Long, Long> wanted) {
        Map<String, Double> each = new TreeMap<>();
        sums.forEach((name, sum) -> {
            if (wanted.test(sum[0], sum[1])) {
                each.put(name, (double) sum[1] / Math.max(1, sum[0]));
            }
        });
        return each;
    }
}
