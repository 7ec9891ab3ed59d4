package tern.rpc.diagnosis.rule;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import tern.rpc.Phase;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.MethodRate;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.pool.PoolVerdict;

/**
 * The tasks of an executor: their number and their duration, both compared with the usual values. The product of both
 * is the number of threads that the tasks keep busy. If only the number or only the duration would fill the executor,
 * it is also the one that has grown by the larger factor. The larger factor therefore shows why an executor is full.
 *
 * @param perSecond the number of tasks that are submitted per second, including tasks that have not started yet
 * @param usualPerSecond the usual number of tasks per second; -1 if unknown
 * @param holdNanos the mean duration of a task; -1 if unknown
 * @param usualHoldNanos the usual duration of a task; -1 if unknown
 * @param isOfMoreCalls whether a late method that submits these tasks is called much more often than usual
 */
public record TaskLoad(
        double perSecond, double usualPerSecond, double holdNanos, double usualHoldNanos, boolean isOfMoreCalls) {

    /**
     * An executor counts as getting many more tasks than usual if their number is at least {@value} times the usual
     * number.
     */
    public static final double MORE = 1.5;

    /** Returns the number and the duration of the given executor's tasks. */
    public static TaskLoad of(PoolVerdict executor, Evidence evidence, ExcessTime excess) {
        double started = executor.pool().since().taken() / evidence.seconds();
        double usually = evidence.usual().reliableFigure(Baseline.TASKS + executor.name());
        // A full executor starts fewer tasks than are submitted. The growth of the number of calls is then a better
        // measure than the number of started tasks.
        double factor = factorOfCalls(executor.name(), evidence, excess);
        double submitted = usually > 0 ? Math.max(started, factor * usually) : started;
        return new TaskLoad(
                submitted,
                usually > 0 ? usually : factor > 1 ? started / factor : -1,
                executor.pool().holdNanos(),
                executor.pool().usualHoldNanos(),
                factor > 1);
    }

    /**
     * Returns the number of calls that submit tasks to the executor, divided by the usual number; 1 if none of the late
     * methods is called much more often.
     */
    private static double factorOfCalls(String executor, Evidence evidence, ExcessTime excess) {
        Set<String> methods = new TreeSet<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            boolean submits = Stream.concat(
                            counted.call().ledger().named().stream(), counted.call().ledger().unfinished().stream())
                    .anyMatch(entry ->
                            entry.kind() == Phase.EXECUTOR && entry.name().equals(executor));
            if (submits) {
                methods.add(counted.call().method());
            }
        }
        return evidence.rates().stream()
                .filter(rate -> rate.isHigh() && methods.contains(rate.method()))
                .mapToDouble(MethodRate::factor)
                .max()
                .orElse(1);
    }

    /** Returns whether the executor is full because of the number of its tasks, and not because of their duration. */
    public boolean isTooMany() {
        boolean areMany = usualPerSecond > 0 && perSecond >= MORE * usualPerSecond;
        double longer = usualHoldNanos > 0 && holdNanos >= 0 ? holdNanos / usualHoldNanos : 1;
        return areMany && perSecond / usualPerSecond > longer;
    }
}
