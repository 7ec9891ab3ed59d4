package tern.rpc.diagnosis.excess;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.sample.CallSamples;

/**
 * The extra time of late or failed calls beyond their usual time, per call and per {@link Part} (activity or wait). If
 * a failed call was not late, ten times the latency target is added to the activity or wait that failed. Times are in
 * nanoseconds.
 */
public final class ExcessTime {

    private static final int TARGETS_OF_A_FAILURE = 10;
    private static final int MAX_ACCOUNTS = 512;

    /**
     * Time is added to failed calls, so that they count like late calls. If a cause explains at least {@value} of the
     * added time, the call is assumed to succeed once the cause is removed.
     */
    private static final double HALF = 0.5;

    private final Evidence evidence;
    private final Map<String, Integer> badByMethod = new TreeMap<>();

    private final CallTimes calls;
    private final FailureReasons failures;

    /** The samples of the threads of late or failed calls. */
    public final CallSamples samples;

    /** The mean time that a late or failed call spends on each activity or wait. */
    public final Times account = new Times();

    /** The mean time by which a late or failed call exceeds its usual time, by activity or wait. */
    public final Times times = new Times();

    /** The part of {@link #times} that was not measured, but added for failed calls. */
    public final Times failed = new Times();

    /** The late or failed calls with their times by activity or wait. The mean times are computed from these calls. */
    public final List<Counted> accounts = new ArrayList<>();

    /** One late or failed call, and its time by activity or wait. */
    public record Counted(EndedCall call, Times times) {}

    public ExcessTime(Evidence evidence) {
        this.evidence = evidence;
        this.samples = new CallSamples(
                evidence.bad(), evidence.samples(), evidence.machine().waitingShare());
        this.calls = new CallTimes(evidence, samples);
        this.failures = new FailureReasons(evidence, calls);
        Map<String, List<EndedCall>> byMethod = new TreeMap<>();
        evidence.bad()
                .forEach(call -> byMethod.computeIfAbsent(call.method(), name -> new ArrayList<>())
                        .add(call));
        int counted = Math.max(1, evidence.bad().size());
        byMethod.forEach((method, bad) -> {
            badByMethod.put(method, bad.size());
            add(method, bad, counted);
        });
    }

    /**
     * Adds the times of one method's late or failed calls to the mean times of all late or failed calls.
     *
     * @param all the number of late or failed calls to all methods
     */
    private void add(String method, List<EndedCall> bad, int all) {
        Times mean = new Times();
        int step = Math.max(1, all / MAX_ACCOUNTS);
        int used = 0;
        for (int i = 0; i < bad.size(); i += step) {
            EndedCall call = bad.get(i);
            Times times = calls.accountOf(call);
            accounts.add(new Counted(call, times));
            mean.addAll(times, 1);
            used++;
        }
        mean.scale(1.0 / used);
        double weight = (double) bad.size() / all;
        account.addAll(mean, weight);
        times.addAll(calls.above(method, mean), weight);
        for (EndedCall call : bad) {
            Part failure = failureOf(call);
            if (failure != null) {
                times.add(failure, (double) TARGETS_OF_A_FAILURE * evidence.targetNanos() / all);
                failed.add(failure, (double) TARGETS_OF_A_FAILURE * evidence.targetNanos() / all);
            }
        }
    }

    /**
     * Returns the activity or wait that explains the call's failure. Returns null if the call did not fail, or if a
     * timeout ended the call because the call took too long.
     */
    @Nullable
    public Part failureOf(EndedCall call) {
        return failures.of(call);
    }

    /** Returns the activity or wait that a timeout ended; null if no timeout ended the call. */
    @Nullable
    public Part timedOutPart(EndedCall call) {
        return failures.timedOutPart(call);
    }

    /**
     * Returns the usual time of each activity and wait of the method's calls. If the usual times have not been learned
     * yet, returns the mean over the calls in the observed period that met the latency target.
     */
    @Nullable
    public Times usualOf(String method) {
        return calls.usualOf(method);
    }

    /**
     * Returns the time of the given activity or wait in the slowest tenth of the normal calls to the methods that miss
     * the target. If these methods take different times, returns the longest time. Returns -1 if the time is unknown.
     */
    double slowUsual(Predicate<Part> matching) {
        return badByMethod.keySet().stream()
                .map(method -> evidence.usual().ofSlowCalls(method))
                .filter(Objects::nonNull)
                .mapToDouble(slow -> calls.named(slow).sum(matching))
                .max()
                .orElse(-1);
    }

    /**
     * Returns true if most of the time of the given activity or wait was not measured but added for failures such as
     * timeouts. If so, the activity or wait did not become slower.
     */
    public boolean isMostlyFailure(Part part) {
        double nanos = times.sum(Operations.only(part));
        return nanos > 0 && 2 * failed.sum(Operations.only(part)) > nanos;
    }

    /** Returns the recorded calls in the observed period that met the latency target. */
    public List<EndedCall> good() {
        return evidence.good();
    }

    /**
     * Returns the calls that {@link #good} returns, without the calls that started before calls began to miss the
     * target.
     */
    public List<EndedCall> goodDuringMiss() {
        long began = beginOfMiss();
        return good().stream().filter(call -> call.startedNanos() - began >= 0).toList();
    }

    /** Returns some of the recorded calls that met the target and ended before calls began to miss the target. */
    List<EndedCall> goodBeforeMiss() {
        long began = beginOfMiss();
        return evidence.earlierGood().stream()
                .filter(call -> call.endedNanos() - began < 0)
                .toList();
    }

    private long beginOfMiss() {
        // The latest end of a late call is used as the current time, because at least one late call has just ended or
        // is still running.
        long now =
                evidence.bad().stream().mapToLong(EndedCall::endedNanos).max().orElse(0);
        return now - evidence.missedNanos();
    }

    public long targetNanos() {
        return evidence.targetNanos();
    }

    /** Returns whether a property sets a time limit that may have ended an operation of the given time. */
    public boolean isOfTimeLimit(Phase phase, double nanos) {
        return evidence.limits().stream().anyMatch(limit -> limit.mayEnd(phase, nanos));
    }

    PunctualMethods punctualMethods() {
        return new PunctualMethods(evidence, this);
    }

    /** Returns the number of late or failed calls by method, in alphabetical order of the methods. */
    public Map<String, Integer> badByMethod() {
        return new LinkedHashMap<>(badByMethod);
    }

    /**
     * Selects the late or failed calls that spent time on an activity or wait accepted by the predicate. Returns, for
     * each other activity and wait, the mean time by which the selected calls exceed their usual time.
     */
    public Times ofCallsWith(Predicate<Part> wanted) {
        Times sum = new Times();
        int count = 0;
        for (Counted counted : accounts) {
            if (counted.times().sum(wanted) > 0) {
                sum.addAll(calls.above(counted.call().method(), counted.times()), 1);
                count++;
            }
        }
        sum.scale(1.0 / Math.max(1, count));
        return sum.only(wanted.negate());
    }

    /**
     * Finds the methods with at least one late or failed call that spent time on the given activity or wait. Returns
     * the mean time by which all late or failed calls to these methods exceed their usual time, by activity or wait.
     */
    public Times ofMethodsWith(Part part) {
        Set<String> methods = new TreeSet<>();
        for (Counted counted : accounts) {
            if (counted.times().of(part) > 0) {
                methods.add(counted.call().method());
            }
        }
        Times sum = new Times();
        int count = 0;
        for (Counted counted : accounts) {
            String method = counted.call().method();
            if (methods.contains(method)) {
                sum.addAll(calls.above(method, counted.times()), 1);
                count++;
            }
        }
        sum.scale(1.0 / Math.max(1, count));
        return sum;
    }

    /** Returns the methods with at least one call that failed for the given reason. */
    public Set<String> methodsFailingFor(Part reason) {
        Set<String> methods = new TreeSet<>();
        for (EndedCall call : evidence.bad()) {
            if (reason.equals(failureOf(call))) {
                methods.add(call.method());
            }
        }
        return methods;
    }

    /**
     * Considers the methods with at least one call that was refused for the given reason. Returns the mean time by
     * which the calls that were not refused exceed their usual time, by activity or wait.
     */
    public Times ofAdmitted(Part refusal) {
        Times sum = new Times();
        int all = 0;
        for (String method : methodsFailingFor(refusal)) {
            List<EndedCall> admitted = Stream.of(evidence.bad(), evidence.good())
                    .flatMap(List::stream)
                    .filter(call -> call.method().equals(method) && !refusal.equals(failureOf(call)))
                    .toList();
            Times mean = new Times();
            admitted.forEach(call -> mean.addAll(calls.accountOf(call), 1.0 / admitted.size()));
            sum.addAll(calls.above(method, mean), admitted.size());
            all += admitted.size();
        }
        sum.scale(1.0 / Math.max(1, all));
        return sum;
    }

    /**
     * Returns the operation of the given call whose time exceeds its usual time the most, if the difference is at least
     * half of the latency target; otherwise null.
     */
    @Nullable
    public Part slowOperation(EndedCall call) {
        Times longer = calls.above(call.method(), calls.accountOf(call))
                .only(part -> part.kind() != Part.Kind.LOG && Operations.phase(part.kind()) != null);
        Part longest = longer.isEmpty() ? null : longer.longestFirst().get(0);
        return longest != null && longer.of(longest) >= HALF * evidence.targetNanos() ? longest : null;
    }

    /** Returns the mean time that the late or failed calls to a method spent on the given activity or wait. */
    public double meanOf(String method, Part part) {
        double sum = 0;
        int count = 0;
        for (Counted counted : accounts) {
            if (counted.call().method().equals(method)) {
                sum += counted.times().of(part);
                count++;
            }
        }
        return sum / Math.max(1, count);
    }

    /**
     * Returns the mean times of the late or failed calls that spent time on the given activity or wait. If there are no
     * such calls, returns the mean times of all late or failed calls.
     */
    public Times accountOfCallsWith(Part part) {
        Times sum = new Times();
        int count = 0;
        for (Counted counted : accounts) {
            if (counted.times().of(part) > 0) {
                sum.addAll(counted.times(), 1);
                count++;
            }
        }
        sum.scale(1.0 / Math.max(1, count));
        return count == 0 ? account : sum;
    }

    /**
     * Returns how much longer the given activity or wait takes in the slowest tenth of the normal calls than in all
     * normal calls on average. Even without a fault, slow calls spend more than the mean time on an activity with
     * varying duration. A comparison of late calls with the mean would therefore overstate the effect of a fault by the
     * returned time.
     */
    public double selected(Part part, Predicate<Part> matching) {
        double own = times.sum(Baseline::isOwn);
        double shareOfOwn = !Baseline.isOwn(part) || own <= 0 ? 1 : times.of(part) / own;
        Predicate<Part> compared = Baseline.isOwn(part) ? Baseline::isOwn : matching;
        double sum = 0;
        int all = 0;
        for (Map.Entry<String, Integer> method : badByMethod.entrySet()) {
            Times usual = evidence.usual().of(method.getKey());
            Times slow = evidence.usual().ofSlowCalls(method.getKey());
            all += method.getValue();
            if (usual != null && slow != null) {
                double more =
                        calls.named(slow).sum(compared) - calls.named(usual).sum(compared);
                sum += method.getValue() * Math.max(0, more) * shareOfOwn;
            }
        }
        return all == 0 ? 0 : sum / all;
    }

    /** Returns the ledgers of the late or failed calls. */
    List<CallLedger> ledgers() {
        return accounts.stream().map(counted -> counted.call().ledger()).toList();
    }

    /**
     * Returns the share of late or failed calls that would meet the latency target if a given cause were removed.
     *
     * @param share returns how much of the given activity or wait is attributed to the cause, from 0 to 1
     */
    public double saves(ToDoubleFunction<Part> share) {
        int saved = 0;
        for (Counted counted : accounts) {
            double without = (double) counted.call().tookNanos();
            for (Part part : counted.times().longestFirst()) {
                without -= share.applyAsDouble(part) * counted.times().of(part);
            }
            Part failure = failureOf(counted.call());
            if (without <= evidence.targetNanos() && (failure == null || share.applyAsDouble(failure) >= HALF)) {
                saved++;
            }
        }
        return accounts.isEmpty() ? 0 : (double) saved / accounts.size();
    }

    /**
     * Returns the share of late or failed calls that are late and spend more than half of their time on a given cause.
     *
     * @param share returns how much of the given activity or wait is attributed to the cause, from 0 to 1
     */
    public double dominates(ToDoubleFunction<Part> share) {
        int dominated = 0;
        for (Counted counted : accounts) {
            double ofCause = 0;
            for (Part part : counted.times().longestFirst()) {
                ofCause += share.applyAsDouble(part) * counted.times().of(part);
            }
            long took = counted.call().tookNanos();
            dominated += took > evidence.targetNanos() && 2 * ofCause > took ? 1 : 0;
        }
        return accounts.isEmpty() ? 0 : (double) dominated / accounts.size();
    }
}
