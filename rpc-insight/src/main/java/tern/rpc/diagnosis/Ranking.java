package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Part.Kind;
import tern.rpc.pool.PoolKind;

/**
 * Ranks the causes of a miss by the time that they cost late or failed calls. The time of a wait is assigned to the
 * work for which the call waited (the method of wPerf): the wait for a worker to the work of the workers, the wait for
 * a connection to the work of its holders, the wait for a lock to an operation of its owner, and the wait for a result
 * to the tasks of the executor. A part that does not wait for other work is a cause. docs/diagnosis.md describes the
 * rules.
 */
final class Ranking {

    /** A part below this share of the extra time is not reported. */
    private static final double MIN_SHARE = 0.05;

    /** A part below this share of the latency target is not reported. */
    private static final double MIN_OF_TARGET = 0.1;

    private static final int MAX_CAUSES = 5;
    private static final double REFUSED_TARGETS = 10;

    /** The share of the extra time that the causes must explain with statistical certainty. */
    private static final double MIN_CERTAIN = 0.3;

    /**
     * If the certain times of two causes differ by less than this share, the cause whose removal saves more calls is
     * ranked first.
     */
    private static final double CLOSE = 0.2;

    private static final double THROTTLED = 0.05;

    /** The mean wait for a pool is considered long if it is at least this share of the latency target. */
    private static final double MUCH_WAIT = 0.3;

    /** Operations of one kind are considered slower if they take at least this share of the extra time. */
    private static final double NOTABLE = 0.1;

    /** A Redis command that takes this time makes other commands wait noticeably. */
    private static final double STOPPED_NANOS = 10e6;

    /** The number of calls is considered a burst if it is at least this many times the usual number. */
    private static final double BURST = 4;

    /**
     * If the number of calls is at least this multiple of the usual number, the calls themselves are the cause even
     * if one part takes most of the time, because the calls overload that part.
     */
    private static final double LARGE_BURST = 8;

    private static final double OWNERS_OPERATION = 0.05;

    /** The reasons for refusals by limits that are not the number of workers. */
    private static final Set<String> LIMITS = Set.of("method", "connection", "unread");

    /** The prefix of the refusal reason if the application itself refused a web request, as in {@code status 503}. */
    static final String STATUS = "status ";

    /** The beginning of the text of most symptoms. */
    private static final String WAIT_FOR = "calls wait for ";

    private final Evidence evidence;
    private final Excess excess;
    private final Operations operations;
    private final Map<String, PoolVerdict> pools = new HashMap<>();
    private final Times leaves = new Times();
    private final Map<Part, List<Symptom>> symptoms = new HashMap<>();

    Ranking(Evidence evidence, long now) {
        this.evidence = evidence;
        this.excess = new Excess(evidence);
        this.operations = new Operations(excess, evidence.usual());
        double rest =
                excess.account.sum(part -> !isWait(part) && !Usual.isPause(part) && part.kind() != Kind.RUN_QUEUE);
        for (PoolLook pool : evidence.pools()) {
            pools.put(
                    pool.now().name(),
                    PoolVerdict.of(pool, evidence.seconds(), now, rest > evidence.targetNanos(), isWaitedFor(pool)));
        }
    }

    private boolean isWaitedFor(PoolLook pool) {
        double waited = excess.account.of(new Part(Kind.POOL, pool.now().name()));
        return waited > MUCH_WAIT * evidence.targetNanos();
    }

    Excess excess() {
        return excess;
    }

    /** Returns the causes, most expensive first. The list has at least one element. */
    List<Cause> causes() {
        leaves.addAll(excess.times, 1);
        addRefused();
        passOnResults();
        mergeOperations(passOnRedis());
        nameRunningOperations();
        passOnLocks();
        passOnPools();
        passOnQueue();
        passOnRunQueue();
        passOnToCallers();
        passOnToProcessors();
        CauseText text = new CauseText(evidence, excess, pools, symptoms);
        double all = leaves.sum();
        double least = Math.max(all * MIN_SHARE, Math.min(all, evidence.targetNanos() * MIN_OF_TARGET));
        List<Part> ranked = ranked();
        List<Cause> causes = new ArrayList<>();
        Set<String> titles = new HashSet<>(); // Waits in several code lines may be for the same executor.
        for (Part part : ranked) {
            if (causes.size() < MAX_CAUSES && (leaves.of(part) >= least || causes.isEmpty())) {
                Cause cause = text.cause(part, leaves.of(part), all, certain(part));
                if (titles.add(DiagnosisText.title(cause))) {
                    causes.add(cause);
                }
            }
        }
        double certain = ranked.stream().mapToDouble(this::certain).sum();
        if (!causes.isEmpty() && !ranked.contains(Account.OWN) && certain < MIN_CERTAIN * all) {
            // There are too few samples to be certain of the causes found so far.
            causes.add(text.cause(Account.OWN, all - certain, all, 0));
        }
        if (causes.isEmpty()) {
            causes.add(text.cause(Account.OWN, 0, 0, 0));
        }
        return causes;
    }

    /**
     * Returns the lower bound on the time spent on a part. The time of a phase is measured exactly. If the time comes
     * from samples, the statistical error is subtracted.
     */
    private double certain(Part part) {
        double nanos = leaves.of(part);
        int looks = Usual.isOwn(part) ? excess.samples.looks(part) : 0;
        if (!Usual.isOwn(part) || part.kind() == Kind.RUN_QUEUE || looks == 0) {
            return nanos;
        }
        int all = Math.max(looks, excess.samples.ownLooks());
        return nanos * MissWatch.lowerBound(looks, all) * all / looks;
    }

    /**
     * The certain time of a part, minus the time that usual slow calls spend on it too. An operation whose time
     * varies is long in late calls even if the operation became no slower.
     */
    private double weight(Part part) {
        return Math.max(0, certain(part) - excess.selected(part, only(part)));
    }

    /**
     * The parts sorted by their weights. Parts with close weights are sorted by the number of calls that removing the
     * part would save.
     */
    private List<Part> ranked() {
        List<Part> parts = new ArrayList<>(leaves.longestFirst());
        parts.sort(Comparator.comparingDouble((Part part) -> -weight(part))
                .thenComparing(part -> part.kind().ordinal())
                .thenComparing(Part::name));
        for (int i = 0; i + 1 < parts.size(); i++) {
            Part one = parts.get(i);
            Part next = parts.get(i + 1);
            boolean close = weight(next) >= (1 - CLOSE) * weight(one);
            if (close && excess.saves(only(next)) > excess.saves(only(one))) {
                parts.set(i, next);
                parts.set(i + 1, one);
            }
        }
        return parts;
    }

    /**
     * Adds ten times the latency target for each refused call. The time is assigned to the wait for a worker, to
     * another limit, or to the application if it refused the call itself.
     */
    private void addRefused() {
        double cost =
                REFUSED_TARGETS * evidence.targetNanos() / evidence.calls().bad();
        evidence.refused().forEach((reason, count) -> {
            boolean byWorkers = !LIMITS.contains(reason) && !reason.startsWith(STATUS);
            leaves.add(byWorkers ? Part.of(Kind.QUEUE) : new Part(Kind.LIMIT, reason), count * cost);
        });
    }

    /** Assigns the wait for results to the work of the executor's tasks. */
    private void passOnResults() {
        for (Part part : leaves.longestFirst()) {
            String name = part.kind() == Kind.RESULT ? evidence.tasks().executorOf(excess.samples.lineOf(part)) : null;
            TaskWatch.Executor executor = name == null ? null : evidence.tasks().executor(name);
            Part waiting = executor == null ? null : executor.waiting();
            if (waiting != null) {
                leaves.add(new Part(Kind.RESULT, CodeText.TASKS + name + " in " + waiting.name()), leaves.remove(part));
            } else if (executor != null) {
                pour(
                        part,
                        executor.parts.only(done -> done.kind() != Kind.RESULT),
                        String.format(
                                Locale.ROOT,
                                "%s waits for tasks of %s, %.0f %% of its threads busy",
                                part.name(),
                                name,
                                100.0 * executor.busy / Math.max(1, executor.looks)));
            }
        }
    }

    /** Returns whether the command stops Redis. One that is usually short is itself a victim of a slow server. */
    private boolean stopsRedis(Part part) {
        if (part.kind() != Kind.REDIS || !StoreText.stopsServer(part.name())) {
            return false;
        }
        double usually = operations.usualNamed(Phase.REDIS, part.name());
        return operations.of(Phase.REDIS, part.name()).eachNanos() >= STOPPED_NANOS
                && (usually < 0 || usually >= STOPPED_NANOS);
    }

    /**
     * Assigns the time of Redis commands, and the wait for connections to Redis, to a command that stops the server
     * while it runs. Redis executes one command after another.
     *
     * @return whether there is such a command
     */
    private boolean passOnRedis() {
        Part command = leaves.longestFirst().stream()
                .filter(this::stopsRedis)
                .findFirst()
                .orElse(null);
        if (command == null) {
            return false;
        }
        for (Part part : leaves.longestFirst()) {
            PoolVerdict verdict = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
            boolean waits = verdict != null && verdict.pool().now().kind() == PoolKind.REDIS && !verdict.isHeld();
            if (waits || (part.kind() == Kind.REDIS && !part.equals(command) && !StoreText.stopsServer(part.name()))) {
                pour(
                        part,
                        leaves.only(command::equals),
                        WAIT_FOR
                                + (waits
                                        ? "a connection of \"" + part.name() + "\""
                                        : part.name().isEmpty() ? "other commands" : part.name()));
            }
        }
        return true;
    }

    /**
     * Merges the operations of one kind in two cases: all of them became slower, which points to their server as the
     * cause; or there are many short operations and none takes most of the time.
     *
     * @param redisStands whether one command stops Redis and already has the time of the other commands
     */
    private void mergeOperations(boolean redisStands) {
        for (Kind kind : List.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC)) {
            if (kind == Kind.REDIS && redisStands) {
                continue;
            }
            double sum = leaves.sum(kind);
            boolean oneOfMany =
                    leaves.longestFirst().stream().anyMatch(part -> part.kind() == kind && leaves.of(part) > sum / 2);
            if (operations.allSlower(kind).isEmpty() && (oneOfMany || !operations.areMany(kind))) {
                continue;
            }
            double all = 0;
            for (Part part : leaves.longestFirst()) {
                if (part.kind() == kind) {
                    all += leaves.remove(part);
                }
            }
            leaves.add(Part.of(kind), all);
        }
    }

    /** Assigns the wait for a lock to the operation that the lock's owner runs, if this operation became slower. */
    private void passOnLocks() {
        for (Part part : leaves.longestFirst()) {
            Phase phase = part.kind() == Kind.LOCK ? excess.samples.ownersIn(part) : null;
            Kind kind = phase == null ? null : Account.part(phase, "").kind();
            if (kind == null) {
                continue;
            }
            Times operation = excess.ofMethodsWith(part).only(other -> other.kind() == kind);
            if (operation.sum() >= OWNERS_OPERATION * evidence.targetNanos()) {
                Times known = leaves.only(other -> other.equals(Part.of(kind)) || operation.of(other) > 0);
                pour(part, known.isEmpty() ? operation : known, WAIT_FOR + part.name());
            }
        }
    }

    /**
     * Gives unnamed operations the name of the slowest operation of the same kind. The operation that a running call
     * executes gets its name only when it ends.
     */
    private void nameRunningOperations() {
        for (Kind kind : List.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC)) {
            Times named =
                    leaves.only(part -> part.kind() == kind && !part.name().isEmpty());
            Part slowest = named.isEmpty() ? null : named.longestFirst().get(0);
            if (slowest != null && named.of(slowest) > named.sum() / 2) {
                leaves.add(slowest, leaves.remove(Part.of(kind)));
            }
        }
    }

    /**
     * Assigns the wait for connections to the operations that the connections' holders run, if calls hold connections
     * for longer than usual.
     */
    private void passOnPools() {
        for (Part part : leaves.longestFirst()) {
            PoolVerdict verdict = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
            if (verdict == null
                    || verdict.reason() != PoolVerdict.Reason.SLOW_TO_USE
                    || verdict.pool().now().kind() == PoolKind.EXECUTOR) { // its tasks occupy it, not these calls
                continue;
            }
            Times used = leaves.only(other -> isLeaf(other) && other.kind() != Kind.FAILURE);
            Times byHolders = excess.ofCallsWith(other -> other.kind() == Kind.POOL || other.kind() == Kind.QUEUE)
                    .only(Ranking::isLeaf);
            Times done = used.only(other -> byHolders.of(other) > 0);
            Times work = done.isEmpty() ? byHolders : done;
            boolean lends = verdict.pool().now().kind() != PoolKind.JDBC; // holders of JDBC connections are known
            if (lends && work.only(other -> other.kind() != Kind.UNEXPLAINED).isEmpty()) {
                pools.put(verdict.name(), verdict.heldByOthers());
                continue;
            }
            pour(part, work, WAIT_FOR + "a connection of \"" + part.name() + "\"");
        }
    }

    /** Assigns the wait for a worker to the work that occupies the workers. */
    private void passOnQueue() {
        Times done = leaves.only(part -> isLeaf(part) || part.kind() == Kind.POOL);
        double queued = leaves.of(Part.of(Kind.QUEUE));
        if (queued > 0 && done.sum() >= 0.1 * evidence.targetNanos()) {
            pour(Part.of(Kind.QUEUE), done, WAIT_FOR + "a worker");
        }
    }

    /**
     * If the number of calls is a multiple of the usual number and everything is slower, the number of calls is the
     * cause. A part that alone takes most of the time stays a cause, unless the burst is large.
     */
    private void passOnToCallers() {
        double usually = evidence.usual().figure("calls");
        double perSecond = (evidence.calls().calls() + evidence.calls().refused()) / evidence.seconds();
        double all = leaves.sum();
        boolean one = leaves.longestFirst().stream().anyMatch(part -> leaves.of(part) > all / 2);
        if (usually <= 0 || perSecond < (one ? LARGE_BURST : BURST) * usually) {
            return;
        }
        Times slower = leaves.only(part -> Operations.phase(part.kind()) != null
                || part.kind() == Kind.RUN_QUEUE
                || part.kind() == Kind.RESULT
                || part.kind() == Kind.POOL
                || part.kind() == Kind.UNEXPLAINED);
        for (Part part : slower.longestFirst()) {
            leaves.add(Part.of(Kind.QUEUE), leaves.remove(part));
        }
    }

    /**
     * Makes the processors the cause if they are full and operations of several kinds are slower: then the calls'
     * threads, the event loops and perhaps the servers on this machine wait for processors. A part that takes most of
     * the extra time remains the cause, and so does code that computes for longer than calls wait.
     */
    private void passOnToProcessors() {
        Machine machine = evidence.machine();
        Part processors = machine.throttled() > THROTTLED ? Part.of(Kind.THROTTLED) : Part.of(Kind.RUN_QUEUE);
        double all = leaves.sum();
        long kinds = Stream.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC)
                .filter(kind -> leaves.sum(kind) > NOTABLE * all)
                .count();
        Times waiting = leaves.only(part -> Operations.phase(part.kind()) != null || part.kind() == Kind.UNEXPLAINED);
        boolean one = leaves.longestFirst().stream()
                .anyMatch(part -> !part.equals(processors)
                        && (leaves.of(part) > all / 2
                                || (part.kind() == Kind.COMPUTING && leaves.of(part) > waiting.sum())));
        if (one || kinds < 2 || !(machine.isFull() || machine.throttled() > THROTTLED)) {
            return;
        }
        for (Part part : waiting.longestFirst()) {
            leaves.add(processors, leaves.remove(part));
        }
    }

    /** Assigns the wait for a processor to the container's quota, if the quota throttles the process. */
    private void passOnRunQueue() {
        Part part = Part.of(Kind.RUN_QUEUE);
        if (leaves.of(part) > 0 && evidence.machine().throttled() > THROTTLED) {
            leaves.add(Part.of(Kind.THROTTLED), leaves.remove(part));
        }
    }

    private void pour(Part from, Times into, @Nullable String symptom) {
        double sum = into.sum();
        if (sum <= 0) {
            return;
        }
        double waited = leaves.remove(from);
        for (Part part : into.longestFirst()) {
            leaves.add(part, waited * into.of(part) / sum);
            if (symptom != null && into.of(part) >= 0.2 * sum) {
                symptoms.computeIfAbsent(part, name -> new ArrayList<>()).add(new Symptom(from, symptom, waited));
            }
        }
    }

    private static boolean isLeaf(Part part) {
        return part.kind() != Kind.QUEUE && part.kind() != Kind.POOL;
    }

    private static boolean isWait(Part part) {
        return !isLeaf(part);
    }

    /**
     * Returns a predicate for the parts that a cause represents: the part itself, or all operations of its kind if
     * they were merged.
     */
    static Predicate<Part> only(Part cause) {
        boolean joined = cause.name().isEmpty() && Operations.phase(cause.kind()) != null;
        return joined ? part -> part.kind() == cause.kind() : cause::equals;
    }
}
