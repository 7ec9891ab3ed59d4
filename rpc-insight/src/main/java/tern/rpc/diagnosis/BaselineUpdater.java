package tern.rpc.diagnosis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.CallRecords;
import tern.rpc.diagnosis.calls.CallRecords.Sums;
import tern.rpc.diagnosis.calls.MethodAllocation;
import tern.rpc.diagnosis.calls.UsualOperations;
import tern.rpc.diagnosis.calls.UsualRuns;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.rule.Pressure;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.pool.BodySizes;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.ResultRows;

/**
 * Updates the usual values, such as the usual time of each method, in each second in which calls meet the latency
 * target. Not thread-safe: only the diagnosis thread uses it.
 */
final class BaselineUpdater {

    /**
     * The number of seconds that must have passed since the start of the process, and since the last miss of the
     * latency target, before the usual 99th percentile is updated. The first calls of a process are slower than usual.
     */
    private static final int PERCENTILE_SECONDS = 60;

    /**
     * The usual times of methods that have never met the target are learned only while at most {@value} of all calls
     * are calls to these methods.
     */
    private static final double MAX_SLOW_SHARE = 0.1;

    /**
     * A method whose usual times are unknown and whose calls wait without an operation counts as slow while at most
     * {@value} of its calls meet the target. Some long polls end at once, because an event has already happened or the
     * caller stops.
     */
    private static final double FEW_QUICK = 0.2;

    /** The baseline key of a serving thread's usual wait for a processor. */
    private static final String DELAY = "delay";

    /** The baseline key of the number of processors that this process usually keeps busy. */
    private static final String OWN = "own";

    /**
     * The delay, in seconds, before the calls of a second change the usual shares of late and failed calls and the
     * usual runs of operations. The delay is slightly longer than the time that {@link MethodMisses} needs to detect
     * that a single method misses the target.
     */
    private static final int PENDING_SECONDS = 22;

    private final RpcMeters meters;
    private final Baseline usual;
    private final MethodRates rates;
    private final LimitedCallers limited;
    private final CallRecords records;
    // seconds not yet added to the usual values, oldest first
    private final Deque<Pending> pending = new ArrayDeque<>();
    private double usualP99 = -1;
    private int healthySeconds; // seconds since the process start or the last miss of the latency target

    /**
     * A second whose calls have not yet been added to the usual shares of late and failed calls, nor to the usual
     * runs of operations.
     *
     * @param before the counters at the start of the second
     * @param now the counters at its end
     */
    private record Pending(CounterSnapshot before, CounterSnapshot now, UsualRuns runs) {}

    BaselineUpdater(RpcMeters meters, Baseline usual, MethodRates rates, LimitedCallers limited, CallRecords records) {
        this.meters = meters;
        this.usual = usual;
        this.rates = rates;
        this.limited = limited;
        this.records = records;
    }

    /** Returns the usual 99th percentile of the calls' times in milliseconds; -1 if it is unknown. */
    double usualP99() {
        return usualP99;
    }

    void missBegins() {
        healthySeconds = 0;
        pending.clear();
    }

    /**
     * Updates the usual values from the last second, in which the latency target was not missed. Ignores a second
     * without calls, because its values are not typical of a process that serves calls.
     *
     * @param outside the current times of operations run by threads that serve no call
     */
    void learn(
            long now,
            @Nullable CounterSnapshot before,
            CounterSnapshot current,
            Evidence.Counts counts,
            Machine seen,
            List<OutsideOperations.Timed> outside) {
        if (before == null || counts.calls() == 0) {
            return;
        }
        List<EndedCall> good = new ArrayList<>(records.good(before.atNanos()));
        List<EndedCall> late = records.bad(before.atNanos()).stream()
                .filter(call -> call.failure() == null)
                .toList();
        usual.learn(current.methodsSince(before), good, late);
        learnLater(new Pending(before, current, UsualRuns.of(good, late)));
        late.stream().filter(usual::isOfLateMethod).forEach(good::add);
        UsualOperations.learn(usual, good);
        if (limited.mayLearnCalls()) {
            usual.learn("calls", counts.calls() * 1e9 / Math.max(1, now - before.atNanos()));
            rates.learn(before, current);
        }
        current.pools().forEach((name, pool) -> {
            PoolSnapshot then = before.pools().get(name);
            PoolSnapshot delta = then == null ? pool : pool.since(then);
            if (!delta.held().isNegative() && delta.taken() > 0) {
                usual.learn("hold " + name, (double) delta.held().toNanos() / delta.taken());
            }
            if (pool.kind() == PoolKind.EXECUTOR && delta.taken() >= 0) {
                boolean isFirst = usual.figure(Baseline.QUEUE + name) < 0;
                learnAtMostDouble(Baseline.QUEUE + name, isFirst ? Math.min(2, pool.waiting()) : pool.waiting());
                usual.learn(Baseline.TASKS + name, delta.taken() * 1e9 / Math.max(1, now - before.atNanos()));
            }
        });
        outside.forEach(operation -> usual.learn(Baseline.OUTSIDE + operation.key(), operation.nanos()));
        ResultRows.means().forEach((name, rows) -> learnAtMostDouble(Baseline.ROWS + name, rows));
        records.allocations().usual().forEach((name, bytes) -> learnAtMostDouble(Baseline.ALLOCATED + name, bytes));
        BodySizes.ANSWERS.means().forEach((name, bytes) -> learnAtMostDouble(Baseline.ANSWER_BYTES + name, bytes));
        BodySizes.REQUESTS.means().forEach((name, bytes) -> learnAtMostDouble(Baseline.REQUEST_BYTES + name, bytes));
        if (seen.allocatedPerSecond() >= 0) {
            usual.learn("allocated", seen.allocatedPerSecond());
        }
        if (seen.own() >= 0 && seen.others() >= 0) {
            usual.learn("busy", seen.busy());
            usual.learn("urgent", seen.urgent());
            usual.learn(OWN, seen.own());
        }
        if (seen.delay().nanos() >= 0) {
            learnAtMostDouble(DELAY, seen.delay().nanos());
        }
        if (seen.stolen().share() >= 0) {
            usual.learn("stolen", seen.stolen().share());
        }
        Pressure.learn(usual, seen.second());
        // p99Millis() covers the last minute, so calls must have met the target during the whole minute.
        if (++healthySeconds > PERCENTILE_SECONDS) {
            double p99 = meters.served().p99Millis();
            usualP99 = usualP99 < 0 ? p99 : usualP99 + 0.1 * (p99 - usualP99);
        }
    }

    /** Returns how much memory the calls to each method allocate, with the usual values. */
    List<MethodAllocation> allocations() {
        return records.allocations().current(method -> usual.reliableFigure(Baseline.ALLOCATED + method));
    }

    /** Returns a copy of the machine's state with its usual values. */
    Machine withUsual(Machine seen) {
        return seen.usually(
                        usual.figure("allocated"), usual.figure("busy"), usual.figure("urgent"), usual.figure("stolen"))
                .delayed(seen.delay()
                        .usually(usual.reliableFigure(DELAY), usual.reliableFigure(OWN), usual.isSettled(DELAY)));
    }

    /**
     * Updates the usual value of a quantity. A value above twice the usual value counts as twice the usual value. When
     * calls begin to miss the latency target, the length of a queue or the size of a result may grow before the late
     * calls are detected. This increased value must not become the usual value.
     */
    private void learnAtMostDouble(String figure, double value) {
        double usually = usual.figure(figure);
        usual.learn(figure, usually < 0 ? value : Math.min(value, 2 * Math.max(1, usually)));
    }

    /**
     * Updates the usual shares of late and failed calls, and the usual runs of operations, with a delay of
     * {@value #PENDING_SECONDS} seconds. A miss begins only a few seconds after its calls became late or began to fail.
     * If the usual values included these seconds, the next miss of the same method would count as usual, and the
     * additional operations of this miss would count as usual, too.
     */
    private void learnLater(Pending second) {
        pending.addLast(second);
        if (pending.size() > PENDING_SECONDS) {
            Pending oldest = pending.removeFirst();
            MethodMisses.learn(usual, oldest.before, oldest.now);
            usual.runs().learn(oldest.runs);
        }
    }

    /**
     * Remembers which operations calls ran in the last second. Called during the warm-up, while caches are still
     * empty.
     */
    void learnStart(CounterSnapshot before) {
        UsualOperations.learnOfStart(usual, records.good(before.atNanos()));
        UsualOperations.learnOfStart(usual, records.bad(before.atNanos()));
    }

    /**
     * Learns the usual times of rarely called methods that have never met the target, such as long polls and reports.
     * Learns these usual times only from seconds in which no other calls were late. Otherwise, an application that
     * calls such methods from its start would never have usual times, and the diagnosis would report late calls
     * forever.
     *
     * @param isWarm whether the warm-up has ended
     */
    void learnSlowMethods(CounterSnapshot before, CounterSnapshot current, Evidence.Counts counts, boolean isWarm) {
        List<EndedCall> late = records.bad(before.atNanos());
        boolean isRare = late.size() <= MAX_SLOW_SHARE * counts.calls() && counts.refused() == 0;
        if (isRare && late.stream().allMatch(call -> call.failure() == null && hasNeverMetTarget(call, isWarm))) {
            usual.learn(current.methodsSince(before), List.of(), late);
        }
    }

    /**
     * Removes the calls to methods that have never met the target and whose usual times are still unknown, such as long
     * polls. Their long times would hide the cause. Removes nothing if no other calls miss the target. Keeps calls that
     * spend more than half of their time decoding their requests, because this work may slow down other calls.
     *
     * @param hinders whether a call may slow down other calls in another way
     */
    List<EndedCall> withoutSlowMethods(List<EndedCall> bad, Predicate<EndedCall> hinders) {
        List<EndedCall> others = bad.stream()
                .filter(call -> call.failure() != null
                        || hinders.test(call)
                        || usual.of(call.method()) != null
                        || 2 * call.ledger().nanos(Phase.DECODE, call.endedNanos()) > call.tookNanos()
                        || !hasNeverMetTarget(call, false))
                .toList();
        return others.isEmpty() ? bad : others;
    }

    /**
     * Returns whether the method of the given call has never met the target. During the warm-up, usual times may be
     * missing even for methods that have met the target. In this case, the counted calls of the method are checked,
     * too.
     */
    private boolean hasNeverMetTarget(EndedCall call, boolean isWarm) {
        Sums counted = records.sums().getOrDefault(call.method(), Sums.NONE);
        double few = spendsTimeOnOperations(call) ? 0 : FEW_QUICK * counted.calls();
        return usual.hasNeverMetTarget(call.method()) && (isWarm || counted.met() <= few);
    }

    private static boolean spendsTimeOnOperations(EndedCall call) {
        long nanos = call.ledger().named().stream()
                .filter(operation -> operation.kind().isOperation())
                .mapToLong(NamedTimes.Entry::nanos)
                .sum();
        return 2 * nanos > call.tookNanos();
    }
}
