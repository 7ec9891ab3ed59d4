package tern.rpc.diagnosis.excess;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.UsualOwnTimes;
import tern.rpc.diagnosis.failure.ConnectTimeOuts;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.failure.HiddenTimeOuts;
import tern.rpc.diagnosis.failure.LocalRefusals;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.sample.CallSamples;

/**
 * The time by which late or failed calls exceed their usual time, per call and per {@link Part}, that is, per activity
 * or wait. If a failed call was not late, ten times the latency target is added to the activity or wait that failed.
 * Times are in nanoseconds.
 */
public final class ExcessTime {

    private static final int TARGETS_OF_A_FAILURE = 10;
    private static final int MAX_ACCOUNTS = 512;

    /**
     * A failed call counts as if it had taken additional time. The call is assumed to succeed after the removal of a
     * cause if at least this share of the additional time is attributed to the cause.
     */
    private static final double HALF = 0.5;

    /** The kinds of waits that may end because application code gives up and throws an exception. */
    private static final Set<Part.Kind> GIVEN_UP = Set.of(Part.Kind.LOCK, Part.Kind.RESULT, Part.Kind.POOL);

    /**
     * The kinds of work that may end because application code gives up and throws an exception. Work is considered the
     * reason for a failure only if no other reason is known.
     */
    private static final Set<Part.Kind> GIVEN_UP_WORK =
            Set.of(Part.Kind.SQL, Part.Kind.REDIS, Part.Kind.HTTP, Part.Kind.RPC, Part.Kind.SLEEP, Part.Kind.ELSEWHERE);

    /** Work is considered the reason for a failure only if it took at least this multiple of its usual time. */
    private static final double LONGER = 1.5;

    private final Evidence evidence;
    private final Map<String, Integer> badByMethod = new TreeMap<>();

    /**
     * For each failed call, the activity or wait to which its failure is attributed. The result is stored, because
     * inspecting a call's exceptions takes a long time.
     */
    private final Map<EndedCall, Optional<Part>> failures = new IdentityHashMap<>();

    private final Map<EndedCall, Optional<Part>> timeOuts = new IdentityHashMap<>();
    private final Map<EndedCall, Part> hiddenTimeOuts;

    private final UsualOwnTimes ownTimes;

    /** The samples of the threads of late or failed calls. */
    public final CallSamples samples;

    /** The mean time that a late or failed call spends on each activity or wait. */
    public final Times account = new Times();

    /** The mean extra time of a late or failed call by activity or wait, compared with its usual time. */
    public final Times times = new Times();

    /** The part of {@link #times} that was not measured, but added for failed calls. */
    public final Times failed = new Times();

    /** The breakdown of each single call's time. The means were computed from these breakdowns. */
    public final List<Counted> accounts = new ArrayList<>();

    /** One late or failed call, and its time by activity or wait. */
    public record Counted(EndedCall call, Times times) {}

    public ExcessTime(Evidence evidence) {
        this.evidence = evidence;
        this.samples = new CallSamples(
                evidence.bad(), evidence.samples(), evidence.machine().waitingShare());
        this.ownTimes = UsualOwnTimes.of(evidence.bad(), evidence.samples(), evidence.targetNanos());
        this.hiddenTimeOuts = new HiddenTimeOuts(evidence.bad(), evidence.good()).find();
        Map<String, List<EndedCall>> byMethod = new TreeMap<>();
        evidence.bad()
                .forEach(call -> byMethod.computeIfAbsent(call.method(), name -> new ArrayList<>())
                        .add(call));
        int counted = Math.max(1, evidence.bad().size());
        byMethod.forEach((method, calls) -> {
            badByMethod.put(method, calls.size());
            add(method, calls, counted);
        });
    }

    /**
     * Adds one method's late or failed calls to the weighted averages.
     *
     * @param all the number of late or failed calls to all methods
     */
    private void add(String method, List<EndedCall> calls, int all) {
        Times mean = new Times();
        int step = Math.max(1, all / MAX_ACCOUNTS);
        int used = 0;
        for (int i = 0; i < calls.size(); i += step) {
            EndedCall call = calls.get(i);
            Times times = accountOf(call);
            accounts.add(new Counted(call, times));
            mean.addAll(times, 1);
            used++;
        }
        mean.scale(1.0 / used);
        double weight = (double) calls.size() / all;
        account.addAll(mean, weight);
        times.addAll(above(method, mean), weight);
        for (EndedCall call : calls) {
            Part failure = failureOf(call);
            if (failure != null) {
                times.add(failure, (double) TARGETS_OF_A_FAILURE * evidence.targetNanos() / all);
                failed.add(failure, (double) TARGETS_OF_A_FAILURE * evidence.targetNanos() / all);
            }
        }
    }

    /**
     * Returns the activity or wait to which the call's failure is attributed. Returns null if the call did not fail, or
     * if a timeout ended the call because the call took too long.
     */
    @Nullable
    public Part failureOf(EndedCall call) {
        return call.failure() == null
                ? null
                : failures.computeIfAbsent(call, failed -> Optional.ofNullable(readFailure(failed)))
                        .orElse(null);
    }

    private @Nullable Part readFailure(EndedCall call) {
        Part failure = FailurePart.of(call);
        Part pause = PausedFailures.of(call, failure, evidence);
        if (failure == null || pause != null || ConnectTimeOuts.isOne(failure, hiddenTimeOuts.get(call))) {
            return pause == null ? timedOut(call) : pause;
        }
        if (failure.kind() == Part.Kind.FAILURE || failure.kind() == Part.Kind.LIMIT) {
            // A rate limiter refuses a call because of the number of calls, even if the call first waited for a permit.
            Part waited = LocalRefusals.of(failure) == LocalRefusals.Limiter.RATE ? null : longWait(call);
            Part reason = waited != null ? waited : failedOperation(call, failure);
            return reason != null ? reason : hiddenTimeOuts.getOrDefault(call, failure);
        }
        return failure.kind() == Part.Kind.POOL ? pool(failure) : failure;
    }

    /**
     * Returns the activity or wait that a timeout ended, if the call's duration does not show the reason. This is the
     * case if the call failed within the latency target or took no longer than usual. If no operation timed out but the
     * call took longer than usual, returns the activity or wait that took longer.
     */
    private @Nullable Part timedOut(EndedCall call) {
        Part part = timedOutPart(call);
        Times usual = usualOf(call.method());
        boolean isLate = call.tookNanos() > evidence.targetNanos();
        if (part == null || (isLate && !isAsUsual(call, usual))) {
            return null;
        }
        if (usual == null || part.kind() != Part.Kind.TIMEOUT || !isSlower(call, usual)) {
            return part;
        }
        Times longer = above(call.method(), accountOf(call)).only(one -> one.kind() != Part.Kind.UNEXPLAINED);
        return longer.isEmpty() ? part : longer.longestFirst().get(0);
    }

    private static boolean isAsUsual(EndedCall call, @Nullable Times usual) {
        return usual != null && call.tookNanos() <= Baseline.AS_USUAL * usual.sum();
    }

    /**
     * Returns whether the call took longer than the slowest tenth of the usual calls take on average, or at least one
     * and a half times as long as usual.
     */
    private boolean isSlower(EndedCall call, Times usual) {
        Times slow = evidence.usual().ofSlowCalls(call.method());
        boolean isAboveSlow = slow != null
                && call.tookNanos() > slow.sum()
                && call.tookNanos() > Baseline.SLOWER_THAN_USUAL * usual.sum();
        return isAboveSlow || call.tookNanos() >= LONGER * usual.sum();
    }

    /**
     * Returns the time of the given activity or wait in the slowest tenth of the usual calls to the methods that miss
     * the target. If these methods take different times, returns the longest time. Returns -1 if the time is unknown.
     */
    double slowUsual(Predicate<Part> matching) {
        return badByMethod.keySet().stream()
                .map(method -> evidence.usual().ofSlowCalls(method))
                .filter(Objects::nonNull)
                .mapToDouble(slow -> named(slow).sum(matching))
                .max()
                .orElse(-1);
    }

    /** Returns the activity or wait that a timeout ended; null if no timeout ended the call. */
    @Nullable
    public Part timedOutPart(EndedCall call) {
        return timeOuts.computeIfAbsent(
                        call,
                        ended -> PausedFailures.of(ended, null, evidence) != null
                                ? Optional.empty()
                                : Optional.ofNullable(FailurePart.timedOut(ended))
                                        .or(() -> Optional.ofNullable(hiddenTimeOuts.get(ended))))
                .orElse(null);
    }

    /**
     * Returns the call's failed operation; null if no operation failed. Application code often throws its own exception
     * after a failed operation. If the exception shows a programming error, a failed statement or command is not its
     * reason.
     */
    private static @Nullable Part failedOperation(EndedCall call, Part failure) {
        boolean ofStores = failure.kind() == Part.Kind.LIMIT || FailurePart.isOfOwnCode(call);
        return call.ledger().named().stream()
                .filter(entry -> OperationNames.isFailing(entry.name()))
                .filter(entry -> entry.kind() == Phase.HTTP
                        || entry.kind() == Phase.RPC
                        || (ofStores && (entry.kind() == Phase.SQL || entry.kind() == Phase.REDIS)))
                .max(Comparator.comparingLong(NamedTimes.Entry::nanos))
                .map(entry -> FailurePart.ofOperation(entry.kind(), entry.name()))
                .orElse(null);
    }

    /**
     * Returns the wait that ended because the code of a failed call gave up and threw an exception; null if there is
     * none. The wait must have taken at least half of the call's time and at least as long as the latency target.
     */
    private @Nullable Part longWait(EndedCall call) {
        Times times = accountOf(call);
        Part longest = times.isEmpty() ? null : times.longestFirst().get(0);
        boolean gaveUp = longest != null
                && (GIVEN_UP.contains(longest.kind()) || isGivenUpWork(call, longest, times))
                && times.of(longest) >= evidence.targetNanos()
                && 2 * times.of(longest) >= call.tookNanos();
        return gaveUp ? longest : null;
    }

    private boolean isGivenUpWork(EndedCall call, Part work, Times times) {
        Times usual = usualOf(call.method());
        return GIVEN_UP_WORK.contains(work.kind())
                && FailurePart.isOfOwnCode(call)
                && (usual == null || times.of(work) >= LONGER * usual.of(work));
    }

    private Times accountOf(EndedCall call) {
        return named(Account.of(call, samples.of(call.ledger()), samples.of(call.method()), evidence.pauses()));
    }

    /**
     * Gives each wait for a pool the name of the pool. A wait that ended with a failure may have only a general name.
     */
    private Times named(Times times) {
        Times named = new Times();
        for (Part part : times.longestFirst()) {
            named.add(part.kind() == Part.Kind.POOL ? pool(part) : part, times.of(part));
        }
        return named;
    }

    private Part pool(Part wait) {
        ObservedPool pool = ObservedPool.find(evidence.pools(), wait);
        return pool == null ? wait : new Part(Part.Kind.POOL, pool.now().name());
    }

    /**
     * Returns the usual time of each activity and wait of the method's calls. If the usual times have not been learned
     * yet, returns the mean over the calls in the observed period that met the latency target.
     */
    @Nullable
    public Times usualOf(String method) {
        Times known = evidence.usual().of(method);
        if (known != null) {
            return named(known);
        }
        Times mean = new Times();
        int count = 0;
        for (EndedCall call : evidence.good()) {
            if (call.method().equals(method)) {
                mean.addAll(named(Account.of(call, evidence.pauses())), 1);
                count++;
            }
        }
        if (count == 0) {
            return null;
        }
        mean.scale(1.0 / count);
        return mean;
    }

    /** Returns the time above the usual time of the method's calls, by activity or wait. */
    private Times above(String method, Times mean) {
        Times usual = usualOf(method);
        if (usual == null) {
            return mean;
        }
        Times excess = ownTimes.above(method, mean, usual.sum(Baseline::isOwn));
        for (Part part : mean.longestFirst()) {
            if (!Baseline.isOwn(part)) {
                excess.add(part, mean.of(part) - usual.of(part));
            }
        }
        return excess;
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
    List<EndedCall> good() {
        return evidence.good();
    }

    /**
     * Returns the calls that {@link #good} returns, without the calls that started before calls began to miss the
     * target.
     */
    public List<EndedCall> goodDuringMiss() {
        // The latest end of a late call is about the current time, because at least one late call has just ended or is
        // still running.
        long now =
                evidence.bad().stream().mapToLong(EndedCall::endedNanos).max().orElse(0);
        return good().stream()
                .filter(call -> call.startedNanos() - (now - evidence.missedNanos()) >= 0)
                .toList();
    }

    long targetNanos() {
        return evidence.targetNanos();
    }

    PunctualMethods punctualMethods() {
        return new PunctualMethods(evidence, this);
    }

    /** Returns the number of late or failed calls by method, in alphabetical order of the methods. */
    public Map<String, Integer> badByMethod() {
        return new LinkedHashMap<>(badByMethod);
    }

    /**
     * Returns the mean extra time of late or failed calls by activity or wait. Considers only calls that spent time on
     * an activity or wait that the predicate accepts. The result does not contain these accepted activities and waits.
     */
    public Times ofCallsWith(Predicate<Part> wanted) {
        Times sum = new Times();
        int count = 0;
        for (Counted counted : accounts) {
            if (counted.times().sum(wanted) > 0) {
                sum.addAll(above(counted.call().method(), counted.times()), 1);
                count++;
            }
        }
        sum.scale(1.0 / Math.max(1, count));
        return sum.only(wanted.negate());
    }

    /**
     * Finds the methods with at least one late or failed call that spent time on the given activity or wait. Returns
     * the mean extra time of all late or failed calls to these methods, by activity or wait.
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
                sum.addAll(above(method, counted.times()), 1);
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
     * Returns the mean extra time of admitted calls, by activity or wait. Considers only methods with at least one call
     * that was refused for the given reason.
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
            admitted.forEach(call -> mean.addAll(accountOf(call), 1.0 / admitted.size()));
            sum.addAll(above(method, mean), admitted.size());
            all += admitted.size();
        }
        sum.scale(1.0 / Math.max(1, all));
        return sum;
    }

    /**
     * Returns the operation of the given call that exceeded its usual time by the most, if the additional time is at
     * least half of the latency target; otherwise null.
     */
    @Nullable
    public Part slowOperation(EndedCall call) {
        Times longer = above(call.method(), accountOf(call))
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
     * Returns the time by which the given activity or wait takes longer in the slowest tenth of the usual calls than in
     * the mean of all usual calls. Even without a fault, slow calls spend more than the mean time on an activity with
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
                double more = named(slow).sum(compared) - named(usual).sum(compared);
                sum += method.getValue() * Math.max(0, more) * shareOfOwn;
            }
        }
        return all == 0 ? 0 : sum / all;
    }

    /**
     * Returns the share of late or failed calls that would meet the latency target if a given cause were removed.
     *
     * @param share returns the share of the extra time of an activity or wait that is attributed to the cause
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
}
