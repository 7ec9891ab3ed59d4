package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.CallTrace;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.MissWatch;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.excess.UnchangedOperations;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.rule.SymptomRules;
import tern.rpc.diagnosis.rule.WorkerRules;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.text.CauseText;
import tern.rpc.diagnosis.text.CausedLeaks;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.PoolKind;

/**
 * Ranks the causes of late and failed calls by the time that each cause costs these calls. As in the profiler wPerf,
 * the time of a wait is attributed to the awaited work. For example, the wait for a worker is attributed to the work
 * that occupies the workers, and the wait for a connection to the work of the calls that hold the connections. The wait
 * for a lock is attributed to the operation that its owner runs, and the wait for a result to the executor's tasks.
 * Every activity or wait that is not a wait for other work counts as a cause. docs/causes.md lists the rules.
 */
final class Ranking {

    /**
     * A cause that takes less than {@value} of the extra time (the time above the usual time of the calls) is usually
     * not reported. The exception is a cause that takes most of the time of at least {@link #MIN_CALLS} of the late and
     * failed calls. Without this exception, the very long calls of one method would hide the cause of calls to other
     * methods.
     */
    private static final double MIN_SHARE = 0.05;

    private static final double MIN_CALLS = 0.1;

    /** A cause is not reported if it takes less than {@value} of the latency target. */
    private static final double MIN_OF_TARGET = 0.1;

    private static final int MAX_CAUSES = 5;
    private static final double REFUSED_TARGETS = 10;

    /**
     * If the lower bounds on the times of all causes add up to less than {@value} of the calls' extra time (above their
     * usual time), the remaining time is reported as unexplained.
     */
    private static final double MIN_CERTAIN = 0.3;

    /**
     * If the weights ({@link #weight}) of two adjacent causes differ by less than {@value}, the cause whose removal
     * would let more calls meet the target is ranked first.
     */
    private static final double CLOSE = 0.2;

    /** The wait for a pool counts as long if a call waits for more than {@value} of the latency target on average. */
    private static final double MUCH_WAIT = 0.3;

    /** A symptom, such as a wait for a pool, is not reported if it takes less than {@value} of the latency target. */
    private static final double LEAST_SYMPTOM = 0.01;

    /**
     * The garbage collector is assumed to slow down all operations if it stops the process for at least {@value} of the
     * time.
     */
    private static final double MOSTLY_STOPPED = 0.3;

    /**
     * An operation that takes less than {@value} of the calls' extra time (above their usual time) may be slow only
     * because the process is paused.
     */
    private static final double SMALL = 0.2;

    /** A cause counts as small if it takes less than {@value} of the calls' extra time (above their usual time). */
    private static final double LITTLE = 0.25;

    /** The number of standard deviations that are subtracted to compare times from samples with measured times. */
    private static final double LIKELY = 1;

    private static final Set<Kind> OPERATIONS = EnumSet.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC);

    /**
     * The diagnosis decides what a connection pool is doing only if there are at least {@value} samples of waiting
     * calls.
     */
    private static final int MIN_POOL_LOOKS = 4;

    /**
     * Calls that are received within this time count as simultaneous. A server takes about this long to read a burst of
     * requests.
     */
    private static final double AT_ONCE_NANOS = 5e6;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final OperationCounts counts;
    private final UnchangedOperations unchanged;
    private final Map<String, PoolVerdict> pools = new HashMap<>();
    private final TimesByCause byCause;
    // the time that was not measured, but added for failed and refused calls
    private final Times failures = new Times();
    // for each operation, whether calls run it more often than usual
    private final Map<Part, Boolean> more = new HashMap<>();

    Ranking(Evidence evidence, long now) {
        this.evidence = evidence;
        this.excess = new ExcessTime(evidence);
        this.operations = new Operations(excess, evidence.usual(), evidence.answers());
        this.counts = new OperationCounts(evidence, excess, operations);
        this.unchanged = new UnchangedOperations(evidence, excess, operations);
        this.byCause = new TimesByCause(LEAST_SYMPTOM * evidence.targetNanos());
        double rest = excess.account.sum(part -> !isWait(part)
                && !Baseline.isPause(part)
                && part.kind() != Kind.RUN_QUEUE
                && part.kind() != Kind.CARRIER);
        for (ObservedPool pool : evidence.pools()) {
            PoolVerdict verdict = PoolVerdict.of(
                    pool,
                    evidence.seconds(),
                    now,
                    nested(pool),
                    rest > evidence.targetNanos(),
                    isWaitedFor(pool),
                    burst(pool));
            boolean checks = verdict.reason() == PoolVerdict.Reason.OPENING && checksConnections(pool);
            boolean opens = verdict.reason() == PoolVerdict.Reason.LEAKED && opensConnections(pool);
            pools.put(pool.now().name(), checks ? verdict.checking() : opens ? verdict.opening() : verdict);
        }
    }

    /**
     * Returns whether at least half of the samples of calls waiting for a connection show that the pool checks a
     * connection.
     */
    private boolean checksConnections(ObservedPool pool) {
        Part wait = new Part(Kind.POOL, pool.now().name());
        int looks = 0;
        int checks = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            if (samples != null && counted.times().of(wait) > 0) {
                looks += samples.poolLooks;
                checks += samples.checkLooks;
            }
        }
        return looks >= MIN_POOL_LOOKS && 2 * checks >= looks;
    }

    /**
     * Returns whether at least as many samples show a call opening a pooled connection as show an HTTP exchange or
     * Redis command. A call that opens a connection already occupies one of the pool's connections, although the pool
     * has not recorded a use yet.
     */
    private boolean opensConnections(ObservedPool pool) {
        Phase uses = pool.now().kind() == PoolKind.REDIS ? Phase.REDIS : Phase.HTTP;
        Part wait = new Part(Kind.POOL, pool.now().name());
        int opens = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            opens += samples != null && counted.times().of(wait) > 0 ? samples.openLooks : 0;
        }
        long used = excess.samples.all().stream()
                .filter(sample -> sample.phase() == uses)
                .count();
        return opens >= MIN_POOL_LOOKS && opens >= used;
    }

    /** Returns the holders whose calls, in their last sample, waited for a second connection. */
    private List<Holder> nested(ObservedPool pool) {
        List<Holder> nested = new ArrayList<>();
        for (Holder holder : pool.holders()) {
            SampledCall samples = evidence.samples().get(holder.call());
            if (samples != null && !samples.list.isEmpty()) {
                Sample last = samples.list.get(samples.list.size() - 1);
                if (last.phase() == Phase.JDBC_CONNECTION && last.atNanos() - holder.sinceNanos() > 0) {
                    nested.add(holder);
                }
            }
        }
        return nested;
    }

    private boolean isWaitedFor(ObservedPool pool) {
        double waited = excess.account.of(new Part(Kind.POOL, pool.now().name()));
        return waited > MUCH_WAIT * evidence.targetNanos();
    }

    /**
     * Returns the size of a burst: the number of calls that use the pool and were received almost simultaneously, if
     * they need more connections than the pool has. Returns 0 if there is no such burst, or if this is unknown.
     */
    private int burst(ObservedPool pool) {
        int kind = CallTrace.indexOf(pool.now().kind());
        long pools = evidence.pools().stream()
                .filter(other -> other.now().kind() == pool.now().kind())
                .count();
        if (kind < 0 || pools > 1 || pool.holdNanos() <= 0) {
            return 0;
        }
        int size = pool.now().effectiveMax();
        double within = Math.max(pool.holdNanos(), AT_ONCE_NANOS);
        int burst = CallTrace.largestBurst(evidence.trace(), kind, within, Math.max(1, size / 2));
        return burst > size * within / pool.holdNanos() ? burst : 0;
    }

    ExcessTime excess() {
        return excess;
    }

    /** Returns the causes, most expensive first. The list has at least one element. */
    List<Cause> causes() {
        byCause.addAll(excess.times);
        failures.addAll(excess.failed, 1);
        addRefused();
        new SymptomRules(evidence, excess, operations, pools, byCause).apply();
        CauseText text = new CauseText(evidence, excess, pools, byCause.symptoms());
        double all = byCause.sum();
        double threshold = Math.max(all * MIN_SHARE, Math.min(all, evidence.targetNanos() * MIN_OF_TARGET));
        List<Part> ranked = ranked();
        List<Cause> causes = new ArrayList<>();
        // Two causes with the same title are listed only once: an executor may be the cause of several waits.
        Set<String> titles = new HashSet<>();
        for (Part part : ranked) {
            if (causes.isEmpty()
                    || (causes.size() < MAX_CAUSES
                            && (byCause.of(part) >= threshold || isOfManyCalls(part))
                            && !isUsual(part, threshold)
                            && !isStretched(part, ranked.get(0), all))) {
                Cause cause = text.cause(part, byCause.of(part), all, saves(part), ofFailures(part), certain(part));
                if (titles.add(DiagnosisText.title(cause))) {
                    causes.add(cause);
                }
            }
        }
        double certain = ranked.stream().mapToDouble(this::certain).sum();
        if (!causes.isEmpty() && !ranked.contains(Account.OWN) && certain < MIN_CERTAIN * all) {
            // If there are too few samples to be certain of any cause, the remaining time is listed as unexplained.
            causes.add(text.cause(Account.OWN, all - certain, all, saves(Account.OWN), 0, 0));
        }
        if (causes.isEmpty()) {
            causes.add(text.cause(Account.OWN, 0, 0, 0, 0, 0));
        }
        return causes;
    }

    private boolean isOfManyCalls(Part cause) {
        return excess.dominates(measured -> byCause.share(measured, cause)) >= MIN_CALLS;
    }

    /**
     * Returns true if the given operation takes its usual time and calls run it about as often as usual. Such an
     * operation often appears in late calls only because long calls contain more work.
     *
     * @param threshold the minimum time of a cause
     */
    private boolean isUsual(Part part, double threshold) {
        if (unchanged.isAsOften(part)) {
            return true;
        }
        boolean isNamed = !part.name().isEmpty() && !part.name().startsWith(StackReader.CALLED);
        return isNamed
                && OPERATIONS.contains(part.kind())
                && OperationNames.storeOfAll(part) == null
                && !OperationNames.isFailing(part.name())
                && !excess.isMostlyFailure(part)
                && !byCause.symptoms().containsKey(part)
                && weight(part) < threshold
                && !operations.isSlower(part)
                && !counts.areMany(part.kind(), part.name())
                && !counts.areMore(part)
                && !counts.areNew(part);
    }

    /**
     * Returns true if pauses of the garbage collector are the first cause, and the given operation takes only a small
     * part of the calls' extra time (above their usual time). Operations then end late because the stopped process
     * cannot receive their answers.
     */
    private boolean isStretched(Part part, Part first, double all) {
        return first.kind() == Kind.COLLECTOR
                && evidence.machine().collecting() >= MOSTLY_STOPPED
                && OPERATIONS.contains(part.kind())
                && byCause.of(part) < SMALL * all;
    }

    /**
     * Returns a lower bound on the extra time of late or failed calls (above their usual time) that is attributed to
     * the given activity or wait. The time of a phase is measured exactly. For a time that comes from samples, the
     * statistical error is subtracted.
     */
    private double certain(Part part) {
        return lowerBound(part, MissWatch.Z);
    }

    /** @param z the number of standard deviations to subtract from a time that comes from samples */
    private double lowerBound(Part part, double z) {
        double nanos = byCause.of(part);
        int looks = Baseline.isOwn(part) ? excess.samples.looks(part) : 0;
        if (!Baseline.isOwn(part) || part.kind() == Kind.RUN_QUEUE || looks == 0) {
            return nanos;
        }
        int all = Math.max(looks, excess.samples.ownLooks());
        return nanos * MissWatch.lowerBound(looks, all, z) * all / looks;
    }

    /**
     * Returns the estimated extra time (above the usual time) of the given activity or wait, by which causes are
     * ranked. Two values are subtracted. One standard deviation is subtracted from a time that comes from samples, so
     * that one or two samples do not outweigh a measured time. The time by which the slowest tenth of the normal calls
     * exceeds the mean is subtracted, because an operation with varying duration would otherwise seem slower in late
     * calls even if it did not change. The second value is not subtracted for an operation that calls run more often
     * than usual. The number of its runs is counted over all calls, and the slowest normal calls may be slow only
     * because they run the operation.
     */
    private double weight(Part part) {
        double selected =
                more.computeIfAbsent(part, counts::areMore) ? 0 : excess.selected(part, Operations.only(part));
        return Math.max(0, lowerBound(part, LIKELY) - selected);
    }

    /**
     * Returns the causes sorted by weight, then by the lower bound on their time. If two adjacent causes have similar
     * weights, the cause whose removal would let more calls meet the target comes first.
     */
    private List<Part> ranked() {
        List<Part> parts = new ArrayList<>(byCause.longestFirst());
        parts.sort(Comparator.comparingDouble((Part part) -> -weight(part))
                .thenComparing(Comparator.comparingDouble(this::certain).reversed())
                .thenComparing(part -> part.kind().ordinal())
                .thenComparing(Part::name));
        for (int i = 0; i + 1 < parts.size(); i++) {
            Part one = parts.get(i);
            Part next = parts.get(i + 1);
            boolean close = weight(next) >= (1 - CLOSE) * weight(one);
            if (close && saves(next) > saves(one)) {
                parts.set(i, next);
                parts.set(i + 1, one);
            }
        }
        putSampledBeforeUnexplained(parts);
        putMostBeforeLittle(parts);
        putFaultBeforeItsLeak(parts);
        new SilentFirst(byCause, operations).sort(parts);
        putUnchangedLast(parts);
        return parts;
    }

    /**
     * If the unexplained time comes first only because few samples show the calls' own work, puts the longest sampled
     * work first. Its time must be at least as long as the unexplained time.
     */
    private void putSampledBeforeUnexplained(List<Part> parts) {
        if (parts.isEmpty() || !parts.get(0).equals(Account.OWN)) {
            return;
        }
        parts.stream()
                .filter(part -> !part.equals(Account.OWN) && Baseline.isOwn(part))
                .filter(part -> excess.samples.looks(part) > 0 && weight(part) > 0)
                .filter(part -> byCause.of(part) >= byCause.of(Account.OWN))
                .max(Comparator.comparingDouble(byCause::of))
                .ifPresent(part -> {
                    parts.remove(part);
                    parts.add(0, part);
                });
    }

    /**
     * If the first cause takes only a small part of the calls' extra time (above their usual time), and another cause
     * takes most of it, puts the other cause first, even if only few samples show it.
     */
    private void putMostBeforeLittle(List<Part> parts) {
        if (parts.isEmpty() || byCause.of(parts.get(0)) >= LITTLE * byCause.sum()) {
            return;
        }
        parts.stream()
                .filter(part -> !part.equals(Account.OWN) && 2 * byCause.of(part) > byCause.sum() && weight(part) > 0)
                .findFirst()
                .ifPresent(part -> {
                    parts.remove(part);
                    parts.add(0, part);
                });
    }

    /** Puts operations that calls run as often as usual, and that take their usual time, behind all other causes. */
    private void putUnchangedLast(List<Part> parts) {
        List<Part> same = parts.stream().filter(unchanged::isAsOften).toList();
        parts.removeAll(same);
        parts.addAll(same);
    }

    /**
     * If calls wait most for permits or connections that other calls lost because of another fault, puts this fault
     * first. Returning the lost permits or connections would not be enough, because the fault would make calls lose
     * more of them.
     */
    private void putFaultBeforeItsLeak(List<Part> parts) {
        Part fault = parts.isEmpty() ? null : new CausedLeaks(evidence, excess, pools, byCause).fault(parts.get(0));
        if (fault != null && parts.remove(fault)) {
            parts.add(0, fault);
        }
    }

    /**
     * Returns the share of late or failed calls that would meet the target without the given cause and its symptoms.
     */
    private double saves(Part cause) {
        return excess.saves(measured -> byCause.share(measured, cause));
    }

    /**
     * Returns the share of the failed and refused calls that failed or were refused because of the given cause. Returns
     * 0 if most of the cause's time was measured.
     */
    private double ofFailures(Part cause) {
        double ofCause = failures.longestFirst().stream()
                .mapToDouble(part -> failures.of(part) * byCause.share(part, cause))
                .sum();
        return 2 * ofCause > byCause.of(cause) ? Math.min(1, ofCause / failures.sum()) : 0;
    }

    /**
     * Adds time for the refused calls to the extra time of the late and failed calls (above their usual time). Each
     * refused call counts as ten times the latency target. The added time is attributed to the reason for the refusal:
     * a lack of free workers, another limit, or the application itself.
     */
    private void addRefused() {
        double cost =
                REFUSED_TARGETS * evidence.targetNanos() / evidence.calls().bad();
        evidence.refused().forEach((reason, count) -> {
            Part part = WorkerRules.causeOf(reason, evidence);
            byCause.add(part, count * cost);
            failures.add(part, count * cost);
        });
    }

    private static boolean isWait(Part part) {
        return !TimesByCause.isLeaf(part);
    }
}
