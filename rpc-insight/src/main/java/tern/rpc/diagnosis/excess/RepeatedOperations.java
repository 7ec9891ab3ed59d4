package tern.rpc.diagnosis.excess;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.calls.UsualOperations;

/** Finds the operations that late or failed calls repeat: in a polling loop, after a failure, or after a timeout. */
public final class RepeatedOperations {

    /**
     * Operations with the same name count as the attempts of a polling loop if calls run at least {@value} of them on
     * average.
     */
    private static final int MIN_ATTEMPTS = 5;

    /**
     * If calls run more operations of the same kind than usual, {@value} operations with the same name per call are
     * enough to count as attempts.
     */
    private static final int MIN_ADDITIONAL_ATTEMPTS = 2;

    /**
     * If no sample shows the loop, because a task runs it, operations with the same name count as attempts only if
     * calls run at least {@value} of them on average.
     */
    private static final int MIN_ATTEMPTS_OF_TASKS = 10;

    /** The attempts of a task's loop are at least {@value} of all operations of the calls. */
    private static final double MOSTLY = 0.6;

    /** Calls run at least {@value} times as many operations of the polled kind as usual. */
    private static final double MANY_MORE = 3;

    private static final double HALF = 0.5;

    /** The minimum and the maximum mean time between two attempts. */
    private static final double SHORTEST_PACE_NANOS = 2e6;

    private static final double LONGEST_PACE_NANOS = 2e9;

    private final ExcessTime excess;
    private final Operations operations;

    public RepeatedOperations(ExcessTime excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
    }

    /**
     * An operation that code repeats, with pauses, until another thread or process has done something.
     *
     * @param attempts the mean number of attempts per call
     */
    public record Polled(Phase phase, String name, double attempts) {}

    /**
     * Returns the operation that the code repeats between its sleeps; null if there is none. The operation runs in the
     * method that sleeps, in code called by that method, or in code called by that method's caller.
     */
    @Nullable
    public Polled polledIn(Part sleep) {
        Map<Map.Entry<Phase, String>, Integer> counts = new HashMap<>();
        List<EndedCall> sleeping = new ArrayList<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            if (counted.times().of(sleep) > 0) {
                sleeping.add(counted.call());
                for (NamedTimes.Entry entry : counted.call().ledger().named()) {
                    if (UsualOperations.COUNTED.contains(entry.kind())
                            && !entry.name().equals(NamedTimes.OTHERS)) {
                        counts.merge(Map.entry(entry.kind(), entry.name()), entry.count(), Integer::sum);
                    }
                }
            }
        }
        if (sleeping.isEmpty()) {
            return polledInTasks(part -> part.kind() == Kind.RESULT || part.kind() == Kind.ELSEWHERE);
        }
        int all = sleeping.size();
        return counts.entrySet().stream()
                .filter(entry -> areAttempts(entry.getKey().getKey(), entry.getValue(), sleeping))
                .filter(entry -> {
                    Phase phase = entry.getKey().getKey();
                    String place = operations.placeOf(phase, entry.getKey().getValue());
                    boolean areMany = entry.getValue() >= MIN_ATTEMPTS * all;
                    return isWithin(place, sleep.name())
                            || (areMany && excess.samples.isNear(sleep, place))
                            || excess.samples.isRepeatedBetween(sleep, phase);
                })
                .max(Map.Entry.comparingByValue())
                .map(entry ->
                        new Polled(entry.getKey().getKey(), entry.getKey().getValue(), (double) entry.getValue() / all))
                .orElse(null);
    }

    /**
     * Returns the operation that the tasks of calls repeat with pauses while the calls wait for the tasks; null if
     * there is none. No sample has to show the tasks: the ledgers of the calls contain many more operations than usual,
     * nearly all of them have one name, and most of the wait passes between them.
     *
     * @param waits whether the given activity or wait is the wait for the tasks
     */
    @Nullable
    public Polled polledInTasks(Predicate<Part> waits) {
        Map<Map.Entry<Phase, String>, long[]> sums = new HashMap<>(); // number and time of the operations
        Map<String, Integer> methods = new HashMap<>();
        double waited = 0;
        long all = 0;
        int calls = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            double ofCall = counted.times().sum(waits);
            if (ofCall <= 0) {
                continue;
            }
            waited += ofCall;
            calls++;
            methods.merge(counted.call().method(), 1, Integer::sum);
            for (NamedTimes.Entry entry : counted.call().ledger().named()) {
                if (UsualOperations.COUNTED.contains(entry.kind()) && entry.kind() != Phase.LOGGING) {
                    long[] sum = sums.computeIfAbsent(Map.entry(entry.kind(), entry.name()), unknown -> new long[2]);
                    sum[0] += entry.count();
                    sum[1] += entry.nanos();
                    all += entry.count();
                }
            }
        }
        for (Map.Entry<Map.Entry<Phase, String>, long[]> entry : sums.entrySet()) {
            Phase phase = entry.getKey().getKey();
            long attempts = entry.getValue()[0];
            double pace = waited / Math.max(1, attempts);
            double usually = operations.usualCount(phase, methods);
            boolean isPolled = !entry.getKey().getValue().equals(NamedTimes.OTHERS)
                    && attempts >= (long) MIN_ATTEMPTS_OF_TASKS * calls
                    && attempts >= MOSTLY * all
                    && (usually < 0 || attempts >= MANY_MORE * usually * calls)
                    && entry.getValue()[1] <= HALF * waited
                    && pace >= SHORTEST_PACE_NANOS
                    && pace <= LONGEST_PACE_NANOS;
            if (isPolled) {
                return new Polled(phase, entry.getKey().getValue(), (double) attempts / calls);
            }
        }
        return null;
    }

    /**
     * Returns whether operations with the same name may be the attempts of a polling loop. If there are many such
     * operations, they may be attempts. If there are only a few, calls must also run more operations of this kind than
     * usual, and there must be at least half as many additional operations as attempts.
     *
     * @param attempts the number of operations in all given calls
     */
    private boolean areAttempts(Phase phase, int attempts, List<EndedCall> calls) {
        if (attempts >= MIN_ATTEMPTS * calls.size()) {
            return true;
        }
        Map<String, Integer> methods = new HashMap<>();
        int all = 0;
        for (EndedCall call : calls) {
            methods.merge(call.method(), 1, Integer::sum);
            all += call.ledger().count(phase);
        }
        double usually = operations.usualCount(phase, methods);
        double additional = all - usually * calls.size();
        return usually >= 0
                && attempts >= MIN_ADDITIONAL_ATTEMPTS * calls.size()
                && additional >= Math.max(calls.size(), attempts / 2.0);
    }

    private static boolean isWithin(@Nullable String place, String method) {
        return place != null && place.startsWith(method + ":");
    }

    /** A failed operation. Its name contains the failure. */
    public record Failed(Phase phase, String name) {}

    /**
     * Returns the operation that failed most often in the calls that spent time on the given activity or wait; null if
     * no operation failed in at least half of these calls. For statements that the database ended because of deadlocks,
     * a smaller share is enough. An operation has failed if it ended with an exception other
     * than a timeout, or with status 429 or 5xx.
     */
    @Nullable
    public Failed failedIn(Part part) {
        Map<String, Integer> failing = new TreeMap<>();
        Map<String, Phase> phases = new HashMap<>();
        int calls = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            if (counted.times().of(part) > 0) {
                calls++;
                for (NamedTimes.Entry entry : counted.call().ledger().named()) {
                    if (mayBeRetried(entry.kind()) && OperationNames.isFailing(entry.name())) {
                        failing.merge(entry.name(), 1, Integer::sum);
                        phases.put(entry.name(), entry.kind());
                    }
                }
            }
        }
        int all = calls;
        return failing.entrySet().stream()
                .filter(entry -> 2 * entry.getValue() >= all
                        || (Deadlocks.isEnded(entry.getKey()) && Deadlocks.areEnough(entry.getValue(), all)))
                .max(Map.Entry.comparingByValue())
                .map(entry -> new Failed(phases.getOrDefault(entry.getKey(), Phase.HTTP), entry.getKey()))
                .orElse(null);
    }

    private static boolean mayBeRetried(Phase phase) {
        return phase == Phase.SQL || phase == Phase.REDIS || phase == Phase.HTTP || phase == Phase.RPC;
    }

    /**
     * Considers the calls that have the given pauses. Returns the operation that they retried after each timeout until
     * the last timeout made the call fail; null if fewer than half of them did so.
     */
    @Nullable
    public Part timedOutIn(Part part) {
        Map<Part, Integer> repeated = new HashMap<>();
        int calls = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            if (counted.times().of(part) > 0) {
                calls++;
                Part operation = excess.timedOutPart(counted.call());
                Phase phase = operation == null ? null : Operations.phase(operation.kind());
                if (operation != null
                        && phase != null
                        && attempts(counted.call(), phase, operation.name()).count() > 1) {
                    repeated.merge(operation, 1, Integer::sum);
                }
            }
        }
        int all = calls;
        return repeated.entrySet().stream()
                .filter(entry -> 2 * entry.getValue() >= all)
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /** Returns the operations with the given name in a call that a timeout ended. */
    public static Operations.Sum attempts(EndedCall call, Phase phase, String name) {
        Operations.Sum ended = sum(call.ledger().named(), phase, name);
        return ended.count() > 0 ? ended : sum(call.ledger().unfinished(), phase, name);
    }

    private static Operations.Sum sum(List<NamedTimes.Entry> entries, Phase phase, String name) {
        int count = 0;
        double nanos = 0;
        for (NamedTimes.Entry entry : entries) {
            boolean isNamed = OperationNames.isNamed(OperationNames.withoutStatus(entry.name()), name);
            if (entry.kind() == phase && (name.isEmpty() || isNamed)) {
                count += Math.max(1, entry.count());
                nanos += entry.nanos();
            }
        }
        return new Operations.Sum(count, count == 0 ? 0 : nanos / count);
    }
}
