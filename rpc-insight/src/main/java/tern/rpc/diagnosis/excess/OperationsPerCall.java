package tern.rpc.diagnosis.excess;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.CallRecords;
import tern.rpc.diagnosis.calls.UsualOperations;
import tern.rpc.diagnosis.calls.UsualRuns;

/** Computes the current and the usual number of operations per call. */
final class OperationsPerCall {

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;

    OperationsPerCall(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
    }

    /**
     * The usual operations that share one name.
     *
     * @param count the usual number of operations per call; -1 if unknown
     * @param eachNanos the usual time of one operation; -1 if unknown
     */
    record Usual(double count, double eachNanos) {

        static final Usual UNKNOWN = new Usual(-1, -1);
    }

    /** Returns the methods whose late or failed calls run the operation, each with the number of these calls. */
    Map<String, Integer> methodsThatRun(Phase phase, String name) {
        Map<String, Integer> methods = excess.badByMethod();
        methods.keySet()
                .removeIf(method ->
                        ofMethod(evidence.bad(), method).stream().noneMatch(call -> count(call, phase, name) > 0));
        return methods;
    }

    /**
     * Returns the methods whose late or failed calls run the operation although normal calls to these methods never run
     * it, each with the number of these calls.
     */
    Map<String, Integer> newMethods(Kind kind, Phase phase, String name) {
        Map<String, Integer> methods = new TreeMap<>(methodsThatRun(phase, name));
        methods.entrySet()
                .removeIf(method -> usual(kind, phase, name, Map.of(method.getKey(), method.getValue()))
                                .count()
                        != 0);
        return methods;
    }

    Usual usual(Kind kind, Phase phase, String name) {
        return usual(kind, phase, name, excess.badByMethod());
    }

    /** @param methods the methods to consider, with the numbers of their late or failed calls */
    Usual usual(Kind kind, Phase phase, String name, Map<String, Integer> methods) {
        Usual known = usualRuns(phase, name, methods);
        if (known != null) {
            return known;
        }
        if (name.isEmpty()) {
            return new Usual(operations.usualCount(phase, methods), operations.usualEach(phase));
        }
        double count = 0;
        double nanos = 0;
        int calls = 0;
        for (Map.Entry<String, Integer> method : methods.entrySet()) {
            Times usual = evidence.usual().of(method.getKey());
            if (usual == null) {
                return Usual.UNKNOWN;
            }
            calls += method.getValue();
            for (Part part : usual.longestFirst()) {
                double each = part.kind() == kind && OperationNames.isNamed(part.name(), name)
                        ? operations.usualNamed(phase, part.name())
                        : 0;
                if (each > 0) {
                    count += method.getValue() * usual.of(part) / each;
                    nanos += method.getValue() * usual.of(part);
                }
            }
        }
        double each = count > 0 ? nanos / count : operations.usualNamed(phase, name);
        return calls == 0 ? Usual.UNKNOWN : new Usual(count / calls, each);
    }

    /**
     * Returns the usual runs of the operation in calls to the given methods. Methods whose usual runs are unknown are
     * ignored, unless they receive a large share of the calls. In this case, returns null.
     */
    private @Nullable Usual usualRuns(Phase phase, String name, Map<String, Integer> methods) {
        UsualRuns runs = evidence.usual().runs();
        double count = 0;
        double nanos = 0;
        int calls = 0;
        int unknown = 0;
        for (Map.Entry<String, Integer> method : methods.entrySet()) {
            if (!runs.isKnown(method.getKey())) {
                unknown += method.getValue();
                continue;
            }
            UsualRuns.Usual usual = runs.of(method.getKey(), phase, name);
            calls += method.getValue();
            count += method.getValue() * usual.count();
            nanos += method.getValue() * usual.count() * Math.max(0, usual.eachNanos());
        }
        double others = name.isEmpty() ? operations.usualEach(phase) : operations.usualNamed(phase, name);
        return calls == 0 || unknown > UsualOperations.MAX_UNKNOWN * (calls + unknown)
                ? null
                : new Usual(count / calls, count > 0 ? nanos / count : others);
    }

    /**
     * Returns the mean number of operations per call, over all calls to the methods that miss the latency target. The
     * mean over late calls alone would be wrong, because calls that run a slow operation are late more often than other
     * calls.
     */
    double now(Phase phase, String name) {
        return now(phase, name, excess.badByMethod());
    }

    /** @param methods the methods to consider, with the numbers of their late or failed calls */
    double now(Phase phase, String name, Map<String, Integer> methods) {
        double sum = 0;
        int calls = 0;
        for (Map.Entry<String, Integer> method : methods.entrySet()) {
            List<EndedCall> bad = ofMethod(evidence.bad(), method.getKey());
            List<EndedCall> good = ofMethod(evidence.good(), method.getKey());
            double share = good.isEmpty() ? 1 : shareOfBad(bad.size(), good.size());
            ToDoubleFunction<EndedCall> count = call -> count(call, phase, name);
            double ofBad = bad.stream().mapToDouble(count).average().orElse(0);
            double ofGood = good.stream().mapToDouble(count).average().orElse(0);
            sum += method.getValue() * (share * ofBad + (1 - share) * ofGood);
            calls += method.getValue();
        }
        return calls == 0 ? 0 : sum / calls;
    }

    /**
     * Returns the mean time of an operation over all calls to the given methods; 0 if no recorded call runs it. The
     * mean over late calls alone would be too long, because the slow runs make calls late.
     */
    double each(Phase phase, String name, Map<String, Integer> methods) {
        double nanos = 0;
        double count = 0;
        for (Map.Entry<String, Integer> method : methods.entrySet()) {
            List<EndedCall> bad = ofMethod(evidence.bad(), method.getKey());
            List<EndedCall> good = ofMethod(excess.goodDuringMiss(), method.getKey());
            double share = good.isEmpty() ? 1 : shareOfBad(bad.size(), good.size());
            double ofBad = method.getValue() * share / Math.max(1, bad.size());
            double ofGood = method.getValue() * (1 - share) / Math.max(1, good.size());
            count += ofBad
                            * bad.stream()
                                    .mapToDouble(call -> count(call, phase, name))
                                    .sum()
                    + ofGood
                            * good.stream()
                                    .mapToDouble(call -> count(call, phase, name))
                                    .sum();
            nanos += ofBad
                            * bad.stream()
                                    .mapToDouble(call -> nanos(call, phase, name))
                                    .sum()
                    + ofGood
                            * good.stream()
                                    .mapToDouble(call -> nanos(call, phase, name))
                                    .sum();
        }
        return count <= 0 ? 0 : nanos / count;
    }

    /** Returns the number of recorded calls to the given methods. */
    long recorded(Map<String, Integer> methods) {
        return methods.keySet().stream()
                .mapToLong(method -> ofMethod(evidence.bad(), method).size()
                        + ofMethod(evidence.good(), method).size())
                .sum();
    }

    /**
     * Returns the share of calls that satisfy the condition, among all calls that satisfy the condition or run the
     * given operations. Only late or failed calls are tested; calls that met the target count as not satisfying the
     * condition.
     */
    double share(Phase phase, String name, Predicate<EndedCall> condition) {
        double matching = 0;
        double all = 0;
        for (Map.Entry<String, Integer> method : excess.badByMethod().entrySet()) {
            List<EndedCall> bad = ofMethod(evidence.bad(), method.getKey());
            List<EndedCall> good = ofMethod(excess.goodDuringMiss(), method.getKey());
            Predicate<EndedCall> runs = call -> count(call, phase, name) > 0;
            double share = good.isEmpty() ? 1 : shareOfBad(bad.size(), good.size());
            double ofBad = share / bad.size();
            double ofGood = (1 - share) / Math.max(1, good.size());
            double ended = ofBad * bad.stream().filter(condition).count();
            double others =
                    ofBad * bad.stream().filter(condition.negate().and(runs)).count()
                            + ofGood * good.stream().filter(runs).count();
            double calls = method.getValue() / share;
            matching += calls * ended;
            all += calls * (ended + others);
        }
        return all == 0 ? 0 : matching / all;
    }

    /** Estimates the share of late or failed calls from the numbers of recorded calls. */
    private double shareOfBad(int bad, int good) {
        double goodCalls = (double) EndedCall.ONE_IN * good;
        double recorded = bad / (bad + goodCalls);
        if (bad < CallRecords.BAD_CALLS) {
            return recorded;
        }
        // The ring buffer of late calls is full, so there may have been more late calls than were recorded.
        Evidence.Counts calls = evidence.calls();
        double overall = (double) Math.max(calls.late(), calls.failed()) / Math.max(1, calls.calls());
        return good < CallRecords.GOOD_CALLS ? Math.max(recorded, overall) : Math.min(recorded, overall);
    }

    private static List<EndedCall> ofMethod(List<EndedCall> calls, String method) {
        return calls.stream().filter(call -> call.method().equals(method)).toList();
    }

    private static double count(EndedCall call, Phase phase, String name) {
        if (name.isEmpty()) {
            return call.ledger().count(phase);
        }
        double count = 0;
        for (NamedTimes.Entry entry : call.ledger().named()) {
            if (entry.kind() == phase && OperationNames.isNamed(entry.name(), name)) {
                count += entry.count();
            }
        }
        return count;
    }

    private static double nanos(EndedCall call, Phase phase, String name) {
        double nanos = 0;
        for (NamedTimes.Entry entry : call.ledger().named()) {
            if (entry.kind() == phase && OperationNames.isNamed(entry.name(), name)) {
                nanos += entry.nanos();
            }
        }
        return nanos;
    }
}
