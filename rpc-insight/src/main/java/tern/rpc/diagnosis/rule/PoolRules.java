package tern.rpc.diagnosis.rule;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.FillingOperations;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.RunningOperations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.pool.ConnectionUse;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.pool.PoolSizes;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/**
 * Attributes the time that calls wait for connections to the work of the calls or threads that hold the connections.
 */
final class PoolRules extends Rule {

    /**
     * Calls that wait for the results of tasks may also do other work. If the other work takes at least {@value} of the
     * wait for results, only the other work can explain the full pool.
     */
    private static final double MIN_OTHER_WORK = 0.1;

    /**
     * The work that calls do longer than usual while they hold connections can be the cause of a wait for the pool only
     * if this work takes at least {@value} of the wait.
     */
    private static final double MIN_WORK = 0.05;

    /**
     * The work that calls do longer than usual can be the cause of a full pool only if it takes at least {@value} of
     * the time for which calls hold connections.
     */
    private static final double MIN_EXPLAINED = 0.2;

    /**
     * A server can be the cause of slowly opened connections only if its operations take at least {@value} of the wait
     * for a connection.
     */
    private static final double MIN_OF_SERVER = 0.25;

    /**
     * If timeouts end at least {@value} operations on a server, they explain why its pool opens connections.
     */
    private static final int MIN_TIMED_OUT = 3;

    /**
     * A smaller pool size can be the cause of late calls only if the calls became late within a minute after the pool
     * became smaller.
     */
    private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final double HALF = 0.5;

    /** The share of failed calls counts as high if it exceeds one in {@value}. */
    private static final int MANY_FAILED = 10;

    private final OperationCounts counts;

    PoolRules(Rule other, OperationCounts counts) {
        super(other);
        this.counts = counts;
    }

    /**
     * Attributes the wait for connections to the work of the calls that hold the connections, if they hold connections
     * for longer than usual or run an operation much more often than usual.
     */
    void apply() {
        for (Part part : byCause.longestFirst()) {
            PoolVerdict verdict = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
            // An executor's threads are occupied by the executor's tasks. The calls waiting for the executor do not
            // occupy them.
            if (verdict == null || verdict.pool().now().kind() == PoolKind.EXECUTOR) {
                continue;
            }
            Kind operation = operationOf(verdict);
            boolean slow = verdict.reason() == PoolVerdict.Reason.SLOW_TO_USE;
            boolean full = slow || verdict.reason() == PoolVerdict.Reason.TOO_SMALL || isStuck(verdict);
            // The mean time for which connections are used includes only completed uses. They may be as short as usual
            // while other calls hang and keep their connections.
            Phase used = operation == null ? Phase.SQL : Operations.phase(operation);
            boolean hangs = full
                    && used != null
                    && new RunningOperations(excess, operations, byCause)
                            .occupy(verdict.pool().now().effectiveMax(), used);
            if (full && isOccupiedOutside(verdict, operation)) {
                pools.put(verdict.name(), isLeaked(verdict, operation) ? verdict.leaked() : verdict.heldByOthers());
                continue;
            }
            Part more = full
                    ? new FillingOperations(evidence, excess, operations, counts)
                            .of(verdict.pool(), byCause.only(TimesByCause::isLeaf))
                    : null;
            if (more != null) {
                byCause.pour(part, byCause.only(more::equals), TimesByCause.WAIT_FOR + verdict.resource());
                continue;
            }
            if (verdict.reason() == PoolVerdict.Reason.OPENING) {
                byCause.pour(part, ofSlowServer(part, verdict), TimesByCause.WAIT_FOR + verdict.resource());
                continue;
            }
            if (!slow && !hangs) {
                continue;
            }
            // If calls hang in their operations, often none of the hanging calls has waited for a connection. Therefore
            // the work comes from the causes of the operations, and not from the calls that waited.
            Times work = operation != null && hangs
                    ? byCause.causesOf(measured -> measured.kind() == operation).only(PoolRules::mayHold)
                    : workOfHolders().only(other -> operation == null || other.kind() != Kind.ELSEWHERE);
            if (operation != null
                    && work.only(other -> other.kind() != Kind.UNEXPLAINED).isEmpty()) {
                pools.put(verdict.name(), verdict.heldByOthers());
                continue;
            }
            // If connections are held for as long as usual, the pool is too small, and the work of the calls is not the
            // reason.
            boolean isTooSmall = areAsUsual(verdict, operation, work)
                    || (verdict.isShortOfPlaces()
                            && (verdict.isHeldAsUsual() || work.sum() < MIN_WORK * byCause.of(part)));
            if (isTooSmall && !hangs) {
                pools.put(verdict.name(), verdict.tooSmall());
                continue;
            }
            ConnectionUse use = verdict.pool().use();
            boolean isUseKnown = use != null && use.isKnown();
            // The calls that hold connections may do different work from the calls waiting for one. If the work of the
            // holders is known, the causes of all calls are considered.
            work = PausedWork.of(
                    isUseKnown ? byCause.only(PoolRules::mayHold) : work,
                    excess.account,
                    other -> !TimesByCause.isLeaf(other));
            if (use != null && isUseKnown) {
                work = new HeldWork(excess, byCause, PoolRules::mayHold)
                        .weighted(part, use, work.only(Baseline::isPause), this::isNew);
                if (work.sum() < MIN_EXPLAINED) {
                    pools.put(verdict.name(), verdict.tooSmall());
                    continue;
                }
            }
            if (operation != null && !hangs && work.sum(operation) <= 0 && work.sum() < MIN_WORK * byCause.of(part)) {
                // The operations take their usual time, and the other work of the calls is too short to explain the
                // wait, so the pool is too small.
                pools.put(verdict.name(), verdict.tooSmall());
                continue;
            }
            Times causes = lent(work, operation);
            double ofSize = hangs || causes.isEmpty() ? 0 : shareOfSize(verdict);
            if (ofSize > 0) {
                pools.put(verdict.name(), verdict.tooSmall());
                causes.scale((1 - ofSize) / causes.sum());
                causes.add(part, ofSize);
            }
            byCause.pour(part, causes, TimesByCause.WAIT_FOR + verdict.resource());
        }
    }

    /**
     * Returns the share of the wait that is due to a smaller pool size. The pool must have become smaller at about the
     * time when calls began to miss the target. In addition, its connections are held for longer than usual. The load
     * of a pool is proportional to the time for which connections are held, and inversely proportional to the size. The
     * share is the part of the load's increase, on a logarithmic scale, that the smaller size explains. Returns 0 if
     * the pool did not become smaller, or if the usual time is unknown.
     */
    private double shareOfSize(PoolVerdict verdict) {
        PoolSizes.Reduced reduced = verdict.pool().reduced();
        double longer = verdict.timesLonger();
        long now =
                evidence.bad().stream().mapToLong(EndedCall::endedNanos).max().orElse(0);
        if (reduced == null
                || verdict.pool().usualHoldNanos() <= 0
                || now - reduced.atNanos() > evidence.missedNanos() + RECENT_NANOS) {
            return 0;
        }
        double smaller =
                (double) reduced.from() / Math.max(1, verdict.pool().now().effectiveMax());
        return Math.log(smaller) / (Math.log(smaller) + Math.log(Math.max(1, longer)));
    }

    /**
     * Returns the operations on the server of a pool that opens connections slowly, if these operations have become
     * slower too; otherwise an empty result. The server is then slow for new and open connections, or does not answer
     * for a while. The pool opens new connections only because timeouts have closed the other connections. If timeouts
     * end several operations, their time does not matter, because the wait for new connections may be much longer.
     */
    private Times ofSlowServer(Part wait, PoolVerdict verdict) {
        Kind operation = operationOf(verdict);
        Kind kind = operation == null ? Kind.SQL : operation;
        Times slower =
                byCause.only(part -> part.kind() == kind && (part.name().isEmpty() || operations.isSlower(part)));
        boolean areLong = slower.sum() >= MIN_OF_SERVER * byCause.of(wait);
        return areLong || timedOut(kind) >= MIN_TIMED_OUT ? slower : new Times();
    }

    /** Returns the number of calls in which a timeout ended an operation of the given kind. */
    private long timedOut(Kind kind) {
        return excess.accounts.stream()
                .map(counted -> excess.timedOutPart(counted.call()))
                .filter(part -> part != null && part.kind() == kind)
                .count();
    }

    /**
     * Returns the kind of operation for which calls borrow the pool's connections. Returns null if calls may also hold
     * a connection during other work, as in a transaction.
     */
    private static @Nullable Kind operationOf(PoolVerdict verdict) {
        return switch (verdict.pool().now().kind()) {
            case REDIS -> Kind.REDIS;
            case HTTP -> Kind.HTTP;
            default -> null;
        };
    }

    /**
     * Returns the work during which calls hold a connection: the causes that make operations of the given kind slower
     * than usual, and the pauses of the machine. If the operations take no longer than usual, returns all work.
     *
     * @param operation the kind of operation for which calls borrow connections; null if there is no such kind
     */
    private Times lent(Times work, @Nullable Kind operation) {
        if (operation == null) {
            return work;
        }
        Times apart = movedFrom(operation);
        Times causes = byCause.causesOf(measured -> measured.kind() == operation || apart.of(measured) > 0);
        Times during = work.only(part -> part.kind() == operation || causes.of(part) > 0);
        if (during.isEmpty()) {
            return work;
        }
        during.addAll(work.only(part -> isOfMachine(part) && causes.of(part) <= 0), 1);
        return during;
    }

    /**
     * Returns the activities and waits that the ledgers record as part of operations of the given kind. For example, a
     * client looks up the name of a host while it already occupies a connection.
     */
    private Times movedFrom(Kind operation) {
        Phase phase = Operations.phase(operation);
        return phase == null ? new Times() : excess.samples.movedFrom(phase);
    }

    /**
     * Returns by how much the calls that waited for a pool or a worker exceed their usual time, by cause. The result
     * does not include the waits for the pool or the worker. The calls that hold the connections are assumed to do the
     * same work as the waiting calls.
     */
    private Times workOfHolders() {
        Times byHolders = excess.ofCallsWith(other -> other.kind() == Kind.POOL || other.kind() == Kind.QUEUE)
                .only(PoolRules::mayHold);
        Times done = byCause.causesOf(other -> byHolders.of(other) > 0).only(PoolRules::mayHold);
        return withoutResults(done.isEmpty() ? byHolders : done);
    }

    /**
     * Returns whether a call may hold a connection during the given activity or wait. A call holds no connection while
     * its request is being read.
     */
    private static boolean mayHold(Part part) {
        return TimesByCause.isLeaf(part) && part.kind() != Kind.FAILURE && part.kind() != Kind.DECODE;
    }

    /**
     * Removes the waits for the results of tasks from the given work, if calls also do enough other work (see
     * {@link #MIN_OTHER_WORK}). Waits for the results of tasks do not explain a full pool. A call rarely holds a
     * connection while it waits for a task, and the tasks often wait for the pool themselves.
     */
    private static Times withoutResults(Times work) {
        Times other = work.only(part -> part.kind() != Kind.RESULT);
        return other.sum() >= MIN_OTHER_WORK * work.sum(Kind.RESULT) ? other : work;
    }

    /**
     * Returns whether threads that serve no call occupy the pool. The threads occupy the pool if at least half of its
     * connections are in use and calls hold fewer than half of these connections. A call is assumed to hold a
     * connection to Redis or an HTTP peer during its operations. It is assumed to hold a connection to a database
     * during all of its work, which is the longest possible time. If many calls fail, this method returns false for
     * databases: a failed call has often held no connection, so its work does not show how long calls hold connections.
     *
     * @param operation the kind of operation for which calls borrow connections; null if there is no such kind
     */
    private boolean isOccupiedOutside(PoolVerdict verdict, @Nullable Kind operation) {
        ObservedPool pool = verdict.pool();
        ConnectionUse use = pool.use();
        if (use != null && use.isKnown()) {
            return use.isMostlyOutside();
        }
        Evidence.Counts calls = evidence.calls();
        if (operation == null && (pool.now().kind() != PoolKind.JDBC || MANY_FAILED * calls.failed() > calls.calls())) {
            return false;
        }
        Times account = excess.account;
        double held = operation == null
                ? account.sum() - account.sum(Kind.POOL) - account.sum(Kind.QUEUE)
                : account.sum(
                        part -> part.kind() == operation || movedFrom(operation).of(part) > 0);
        double inUse = inUse(pool);
        double perSecond = calls.calls() / evidence.seconds();
        double byCalls = Math.max(perSecond * held / 1e9, (double) running(operation));
        return inUse >= HALF * pool.now().effectiveMax() && byCalls < HALF * inUse;
    }

    /**
     * Returns whether all connections of a client are in use and none was taken in the observed period, although at
     * this moment no call waits for one.
     */
    private static boolean isStuck(PoolVerdict verdict) {
        ObservedPool pool = verdict.pool();
        return verdict.reason() == PoolVerdict.Reason.UNKNOWN
                && operationOf(verdict) != null
                && pool.since().taken() == 0
                && pool.now().active() >= pool.now().effectiveMax();
    }

    /**
     * Returns whether connections of a client are lost: calls wait for a connection, but none was taken in the observed
     * period, and no thread was found using one. Returns false for reactive clients, whose pools have no settings:
     * streams may keep their connections without a thread.
     */
    private boolean isLeaked(PoolVerdict verdict, @Nullable Kind operation) {
        ObservedPool pool = verdict.pool();
        return operation != null
                && pool.since().taken() == 0
                && pool.now().setting(PoolSetting.Use.MAX).isPresent()
                && evidence.tasks().mostOftenIn(operation) == null;
    }

    /**
     * Returns the mean number of connections in use. If none was taken in the observed period, returns the current
     * number, because the same connections have then been in use all the time. Calls with a short wait limit are often
     * all gone when the pool is read, so a full pool counts even if no call waits at this moment.
     */
    private double inUse(ObservedPool pool) {
        PoolSnapshot now = pool.now();
        return pool.holdNanos() >= 0
                ? pool.since().taken() / evidence.seconds() * pool.holdNanos() / 1e9
                : now.waiting() > 0 || pool.since().taken() == 0 || now.active() >= now.effectiveMax()
                        ? now.active()
                        : -1;
    }

    /** Returns the number of running calls that are running an operation of the given kind; 0 if the kind is null. */
    private long running(@Nullable Kind operation) {
        Phase phase = operation == null ? null : Operations.phase(operation);
        return excess.accounts.stream()
                .map(counted -> counted.call().ledger())
                .filter(call -> phase != null && !call.isEnded())
                .filter(call ->
                        call.phase() == phase || call.unfinished().stream().anyMatch(entry -> entry.kind() == phase))
                .count();
    }

    /**
     * Returns whether all operations for which calls borrow connections take about their usual time although all
     * connections are in use. Used only for a new pool, for which it is not known how long connections are usually
     * held.
     */
    private boolean areAsUsual(PoolVerdict verdict, @Nullable Kind operation, Times work) {
        PoolSnapshot now = verdict.pool().now();
        Times named = work.only(part -> part.kind() == operation
                && !part.name().isEmpty()
                && !part.name().startsWith(StackReader.CALLED));
        return verdict.pool().usualHoldNanos() <= 0
                && now.waiting() > 0
                && now.active() >= now.effectiveMax()
                && !named.isEmpty()
                && named.longestFirst().stream().noneMatch(operations::isSlower);
    }

    private boolean isNew(Part operation) {
        Phase phase = Operations.phase(operation.kind());
        return phase != null && operations.usualNamed(phase, operation.name()) < 0;
    }

    private static boolean isOfMachine(Part part) {
        return Baseline.isPause(part)
                || part.kind() == Kind.RUN_QUEUE
                || part.kind() == Kind.CARRIER
                || part.kind() == Kind.THROTTLED;
    }
}
