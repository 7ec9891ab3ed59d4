package tern.rpc.diagnosis.failure;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Times;

/**
 * The times of an operation in the observed period. Calls that were ended by the operation's timeout are left out.
 * Times are in nanoseconds; -1 if no other call ran the operation.
 *
 * @param recorded the number of recorded calls from which the times were computed
 * @param meanNanos the mean time of one operation
 * @param medianNanos the median time
 * @param slowNanos the 90th percentile of the times
 * @param longNanos the 99th percentile of the times
 */
public record AnswerTimes(int recorded, double meanNanos, double medianNanos, double slowNanos, double longNanos) {

    private static final int MIN_RECORDED = 5;
    private static final double MEDIAN = 0.5;
    private static final double SLOW = 0.9;
    private static final double LONG = 0.99;

    /** A timeout can count as too short only if slow answers take at least {@value} of it. */
    private static final double NEAR = 0.8;

    private static final double HALF = 0.5;

    /**
     * The operations of one recorded call. A call that met the target has the weight {@link EndedCall#ONE_IN},
     * because only a sample of these calls is recorded.
     */
    private record Answered(double eachNanos, double weight) {}

    /**
     * @param late late or failed calls that were not ended by the operation's timeout
     * @param good some of the calls that met the target
     */
    public static AnswerTimes of(List<EndedCall> late, List<EndedCall> good, Phase phase, String name) {
        List<Answered> answered = new ArrayList<>();
        late.forEach(call -> add(call, phase, name, 1, answered));
        good.forEach(call -> add(call, phase, name, EndedCall.ONE_IN, answered));
        answered.sort(Comparator.comparingDouble(Answered::eachNanos));
        double weights = answered.stream().mapToDouble(Answered::weight).sum();
        double sum = answered.stream()
                .mapToDouble(one -> one.eachNanos() * one.weight())
                .sum();
        return new AnswerTimes(
                answered.size(),
                weights == 0 ? -1 : sum / weights,
                quantile(answered, MEDIAN * weights),
                quantile(answered, SLOW * weights),
                quantile(answered, LONG * weights));
    }

    private static void add(EndedCall call, Phase phase, String name, double weight, List<Answered> into) {
        double nanos = 0;
        int count = 0;
        for (NamedTimes.Entry entry : call.ledger().named()) {
            if (entry.kind() == phase && OperationNames.isNamed(entry.name(), name)) {
                nanos += entry.nanos();
                count += entry.count();
            }
        }
        if (count > 0) {
            into.add(new Answered(nanos / count, weight * count));
        }
    }

    /** @param sorted the times in ascending order */
    private static double quantile(List<Answered> sorted, double weight) {
        double sum = 0;
        for (Answered one : sorted) {
            sum += one.weight();
            if (sum >= weight) {
                return one.eachNanos();
            }
        }
        return -1;
    }

    /** Returns whether enough calls were recorded to compare their times with a timeout. */
    public boolean areEnough() {
        return recorded >= MIN_RECORDED;
    }

    /**
     * Returns whether the given timeout is within the usual variation of the times. This is the case if slow answers
     * take nearly as long as the timeout and the mean answer takes at least half as long. If the mean answer is much
     * faster, the operation probably hangs occasionally, and a longer timeout would not help.
     */
    public boolean reach(double timeoutNanos) {
        return areEnough() && slowNanos >= NEAR * timeoutNanos && meanNanos >= HALF * timeoutNanos;
    }

    /** Returns text such as {@code 41 ms (p50) and 48 ms (p90)}. */
    public String text() {
        return Times.millis(medianNanos) + " ms (p50) and " + Times.millis(slowNanos) + " ms (p90)";
    }

    /** Returns text such as {@code 41 ms (p50) and 59 ms (p99)}. */
    public String longText() {
        return Times.millis(medianNanos) + " ms (p50) and " + Times.millis(longNanos) + " ms (p99)";
    }
}
