package tern.rpc.diagnosis.rule;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.RepeatedOperations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.peer.SilentPeers;
import tern.rpc.diagnosis.pool.PeerKinds;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.CallSamples;
import tern.rpc.diagnosis.sample.LikelyHolders;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.diagnosis.stack.FileLocks;
import tern.rpc.diagnosis.stack.Hints;
import tern.rpc.diagnosis.stack.JdkLocks;
import tern.rpc.diagnosis.stack.LibraryWaits;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.PoolKind;

/**
 * Finds the cause of waits for permits, pooled objects, and locks without a known owner. The cause is the work of the
 * calls that likely hold them. The ledgers do not show holders that use a client that Tern does not measure.
 */
public final class HolderRules extends Rule {

    /** The kinds of work whose duration depends on something outside of the application's code. */
    private static final Set<Kind> OUTSIDE =
            EnumSet.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC, Kind.SOCKET, Kind.FILE, Kind.RESOLVER);

    /**
     * The kinds of causes to which earlier rules may have attributed the operations of calls that hold a lock or
     * permit.
     */
    private static final Set<Kind> KNOWN = EnumSet.copyOf(OUTSIDE);

    static {
        KNOWN.add(Kind.PEER_FAILS);
    }

    /**
     * The kinds of work within the application that can explain why permits or pooled objects are held for a long time.
     * A lock that is held during such work remains the cause.
     */
    private static final Set<Kind> INSIDE = EnumSet.of(Kind.COMPUTING, Kind.SLEEP, Kind.NATIVE, Kind.LOG);

    /**
     * The work of the calls that hold a lock or permit can be the cause of a wait only if it takes longer than usual by
     * at least {@value} of the latency target.
     */
    private static final double GROWN = 0.05;

    /**
     * An operation is attributed to a lock only if the wait for the lock takes at least {@value} of the operation's
     * time.
     */
    private static final double NOTABLE_WAIT = 0.25;

    /** An operation counts as usual if its time is at most {@value} times its usual time. */
    private static final double AS_USUAL = 1.5;

    private final Map<Kind, Part> silentStores;
    private final SilentPeers silentPeers;

    /** @param silentStores the failures of databases and Redis servers that do not answer, by the kind of operation */
    HolderRules(Rule other, Map<Kind, Part> silentStores) {
        super(other);
        this.silentStores = silentStores;
        this.silentPeers = new SilentPeers(excess, operations);
    }

    void apply() {
        passOnToOperations();
        passOnToSampledWork();
    }

    private void passOnToSampledWork() {
        for (Part part : byCause.longestFirst()) {
            LikelyHolders.Activity activity = holdersOf(part, excess.samples);
            Part work = activity == null || activity.phase() != Phase.OWN ? null : activity.part();
            work = work == null ? lookupOfOwner(part) : work;
            boolean isKnown = work != null
                    && (OUTSIDE.contains(work.kind())
                            || (isLimited(part) && INSIDE.contains(work.kind()))
                            || isPauseOfRetry(work));
            if (work != null && isKnown && hasGrown(work)) {
                // Earlier rules may have attributed the work of the lock's or permit's holder to another cause. For
                // example, all host name lookups together are one cause.
                Part measured = work;
                Times causes = byCause.causesOf(measured::equals).only(cause -> !cause.equals(part));
                Times one = new Times();
                one.add(work, 1);
                byCause.pour(
                        part, causes.isEmpty() ? one : causes, TimesByCause.WAIT_FOR + waitedFor(part, excess.samples));
            }
        }
    }

    /**
     * Returns whether the calls that hold the lock or permit pause before they repeat a failed operation. The peer of
     * the operation is then the cause.
     */
    private boolean isPauseOfRetry(Part work) {
        return work.kind() == Kind.SLEEP && new RepeatedOperations(excess, operations).failedIn(work) != null;
    }

    /** Returns the lookup of a host name that the lock's owner waits for; null if there is none. */
    private @Nullable Part lookupOfOwner(Part part) {
        return part.kind() != Kind.LOCK || excess.samples.owners().ownersWorkIn(part) != Kind.RESOLVER
                ? null
                : excess.samples.in(part).stream()
                        .map(Sample::ownersPart)
                        .filter(work -> work != null && work.kind() == Kind.RESOLVER)
                        .findFirst()
                        .orElse(null);
    }

    /** Returns whether calls wait for one of several permits or pooled objects rather than for a lock. */
    private boolean isLimited(Part part) {
        return part.name().startsWith(Part.SEMAPHORE)
                || part.name().startsWith(LibraryWaits.BULKHEAD)
                || part.name().startsWith(LibraryWaits.LIMIT)
                || LibraryWaits.isOwnPool(part)
                || isQueue(part, excess.samples);
    }

    /**
     * Attributes the wait for a lock to the operation run by the lock's owner, if this operation became slower. If the
     * operation is new or about as quick as usual, the lock remains the cause, and the operation's time is attributed
     * to the lock as well. For example, when a cached value expires, all callers wait until one of them has loaded the
     * value again. If no usual times are known yet, it is impossible to tell whether the operation became slower, so
     * the lock and the operation remain separate causes.
     */
    private void passOnToOperations() {
        for (Part part : byCause.longestFirst()) {
            Phase phase = ownersIn(part);
            if (phase == null) {
                Phase outside = operationOfOwner(part);
                if (outside != null) {
                    passOnToKnownCause(part, outside, false);
                }
                continue;
            }
            Kind kind = Account.part(phase, "").kind();
            Times operation = operationsWith(part, kind);
            if (passOnToKnownCause(part, phase, true) || operation.sum() < GROWN * evidence.targetNanos()) {
                continue;
            }
            if (kind == Kind.POOL) {
                // The thread that holds the lock waits for a pooled connection. A later rule finds the reason for this
                // wait.
                byCause.pour(
                        part,
                        byCause.only(other -> other.kind() == Kind.POOL && operation.of(other) > 0),
                        TimesByCause.WAIT_FOR + waitedFor(part, excess.samples));
                continue;
            }
            if (operations.usualEach(phase) < 0) {
                continue;
            }
            if (isAsUsual(phase, operation)) {
                passOnToLock(part, phase, operation);
                continue;
            }
            Times remaining = byCause.only(other -> other.equals(Part.of(kind)) || operation.of(other) > 0);
            // Earlier rules may have merged the operations of a server into one cause.
            Times known = remaining.isEmpty()
                    ? byCause.causesOf(measured -> operation.of(measured) > 0).only(cause -> cause.kind() == kind)
                    : remaining;
            Times slower = known.only(operations::isSlower);
            byCause.pour(
                    part,
                    !slower.isEmpty() ? slower : known.isEmpty() ? operation : known,
                    TimesByCause.WAIT_FOR + waitedFor(part, excess.samples));
        }
    }

    /**
     * Attributes the wait for a lock, a permit or an object to the cause of the holders' operations, if earlier rules
     * have attributed most of the operations' time to another cause. Examples are a database that does not answer, or
     * the lookup of a host name.
     *
     * @param phase the kind of the holders' operations
     * @param isOfCall whether the holders serve calls
     * @return whether there is such a cause
     */
    private boolean passOnToKnownCause(Part part, Phase phase, boolean isOfCall) {
        Kind kind = Account.part(phase, "").kind();
        Times operation = operationsWith(part, kind);
        Times others = otherCausesOf(phase, kind, operation);
        if (others.sum() <= operation.only(other -> byCause.of(other) > 0).sum()) {
            others = new Times();
        }
        if (!isOfCall) {
            // Threads that serve no call may use different peers than the calls. Only a peer that answers nobody is
            // then a likely reason.
            others = others.only(cause -> cause.name().endsWith(Part.SILENT));
            others.addAll(byCause.only(cause -> cause.kind() == kind && silentPeers.isSilent(cause)), 1);
        }
        Part silent = silentStores.get(PeerKinds.of(phase));
        if (others.isEmpty()
                && silent != null
                && operation.only(other -> byCause.of(other) > 0).isEmpty()) {
            others.add(silent, 1);
        }
        PoolVerdict pool = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
        String waited = pool == null ? waitedFor(part, excess.samples) : pool.resource();
        byCause.pour(part, others, TimesByCause.WAIT_FOR + waited);
        return !others.isEmpty();
    }

    /**
     * Returns the kind of operation that threads outside of calls run in at least half of the samples; null if there is
     * none. These threads are the threads of an executor, or the owner of a lock.
     */
    private @Nullable Phase operationOfOwner(Part part) {
        PoolVerdict pool = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
        if (pool != null && pool.pool().now().kind() == PoolKind.EXECUTOR) {
            TaskSamples tasks = evidence.tasks().ofPool(pool.name());
            List<Part> work = tasks == null ? List.of() : tasks.parts.longestFirst();
            return tasks == null
                            || work.isEmpty()
                            || 2 * tasks.parts.sum(work.get(0).kind()) < tasks.parts.sum()
                    ? null
                    : Operations.phase(work.get(0).kind());
        }
        Kind work = part.kind() == Kind.LOCK && !JdkLocks.isNeverReleased(part)
                ? excess.samples.owners().ownersWorkIn(part)
                : null;
        return work == null ? null : Operations.phase(work);
    }

    /**
     * Returns the causes, other than the operations themselves, that earlier rules have found for the slowdown of the
     * given operations. Examples are the lookup of a host name during an exchange, and a database that does not answer.
     */
    private Times otherCausesOf(Phase phase, Kind kind, Times operation) {
        Times apart = excess.samples.movedFrom(phase);
        return byCause.causesOf(measured -> operation.of(measured) > 0 || apart.of(measured) > 0)
                .only(cause -> KNOWN.contains(cause.kind()) && cause.kind() != kind);
    }

    /**
     * Returns the time by which each operation of the given kind exceeds its usual time in the methods that wait for
     * the lock. If these methods run no such operation, returns these times for the operations of all calls.
     */
    private Times operationsWith(Part lock, Kind kind) {
        Times ended = excess.ofMethodsWith(lock).only(other -> other.kind() == kind);
        Times left = ended.isEmpty() ? byCause.only(other -> other.kind() == kind) : ended;
        return left.isEmpty() ? excess.times.only(other -> other.kind() == kind) : left;
    }

    /**
     * Attributes an operation to the lock if the operation runs in or below the code that holds the lock. The wait for
     * the lock must take a notable part of the operation's time. Otherwise, nearly every call runs the operation without
     * a wait, for example because a cache never contains the value.
     */
    private void passOnToLock(Part lock, Phase phase, Times operations) {
        if (lock.kind() != Kind.LOCK || !excess.samples.owners().isRunIn(lock, phase)) {
            return;
        }
        double waits = byCause.of(lock);
        Times one = new Times();
        one.add(lock, 1);
        operations.longestFirst().stream()
                .filter(operation -> !operation.name().isEmpty() && byCause.of(operation) > 0)
                .findFirst()
                .filter(operation -> waits >= NOTABLE_WAIT * byCause.of(operation))
                .ifPresent(
                        operation -> byCause.pour(operation, one, operation.name() + " runs while the lock is held"));
    }

    /**
     * For a wait for a lock, a permit or an object of a pool, returns the operation of the threads that hold the lock,
     * permit or object. Returns null if these threads run no operation, and for any other activity or wait.
     */
    private @Nullable Phase ownersIn(Part part) {
        if (part.kind() == Kind.LOCK) {
            return JdkLocks.isNeverReleased(part) || FileLocks.isOne(part)
                    ? null
                    : excess.samples.owners().ownersIn(part);
        }
        LikelyHolders.Activity activity = holdersOf(part, excess.samples);
        return activity == null || !activity.phase().isOperation() ? null : activity.phase();
    }

    /**
     * Returns whether the longest of the given operations is new or takes about as long as usual. The cause is then the
     * code that runs the operation under the lock, because nothing shows that the operation became slower. An operation
     * that fails is neither new nor as usual.
     */
    private boolean isAsUsual(Phase phase, Times operation) {
        Map<String, Double> each = operations.each(phase);
        // Operations of running calls have no names yet.
        String name = operation.longestFirst().stream()
                .map(Part::name)
                .filter(known -> !known.isEmpty())
                .findFirst()
                .orElseGet(() -> each.entrySet().stream()
                        .max(Map.Entry.comparingByValue())
                        .map(Map.Entry::getKey)
                        .orElse(""));
        if (name.isEmpty() || name.startsWith(StackReader.CALLED) || OperationNames.isFailing(name)) {
            return false;
        }
        double usually = operations.usualNamed(phase, name);
        double now = each.getOrDefault(name, -1.0);
        return usually < 0 || (now >= 0 && now <= AS_USUAL * usually);
    }

    /**
     * For a wait for a lock, permit or pooled object, returns the activity of the calls that likely hold the lock,
     * permit or object. Returns null if this activity is unknown, or for any other activity or wait.
     */
    public static LikelyHolders.@Nullable Activity holdersOf(Part part, CallSamples samples) {
        boolean isLock = part.kind() == Kind.LOCK
                && part.name().contains(StackReader.WANTED)
                && !JdkLocks.isNeverReleased(part)
                && samples.owners().ownerOf(part) == null;
        if (isLock || LibraryWaits.isOwnPool(part) || isQueue(part, samples)) {
            return samples.owners().likelyHolders(part);
        }
        // If the application limits concurrent work with a Condition, the stacks of the waiting calls show only a wait
        // for a signal.
        LikelyHolders.Activity activity =
                isSignal(part, samples) ? samples.owners().likelyHolders(part) : null;
        return activity != null && activity.phase().isOperation() ? activity : null;
    }

    private static boolean isSignal(Part part, CallSamples samples) {
        return part.kind() == Kind.RESULT && Hints.isSignal(samples.calledIn(part));
    }

    /**
     * Returns whether application code waits for an object from a queue, or for a free place in a queue. Applications
     * often limit concurrent work with a queue: before the work, code takes an object from the queue or puts one into
     * it.
     */
    public static boolean isQueue(Part part, CallSamples samples) {
        String called = part.kind() == Kind.RESULT ? samples.calledIn(part) : null;
        return called != null && LibraryWaits.waitsForQueue(called);
    }

    static String waitedFor(Part part, CallSamples samples) {
        if (part.kind() != Kind.RESULT) {
            return part.name();
        }
        if (!isQueue(part, samples)) {
            return "a signal in " + part.name();
        }
        String called = samples.calledIn(part);
        boolean takes = called != null && LibraryWaits.takesFromQueue(called);
        return (takes ? "an object from a queue in " : "a free place in a queue in ") + part.name();
    }

    /**
     * Returns whether the work of the calls that likely hold the lock or permit takes longer than usual. The usual time
     * of this work is unknown, so the time of the work is compared with the time that calls usually spend outside of
     * operations.
     */
    private boolean hasGrown(Part work) {
        return excess.badByMethod().keySet().stream().anyMatch(method -> {
            Times usual = evidence.usual().of(method);
            double grown = usual == null ? 0 : excess.meanOf(method, work) - usual.sum(Baseline::isOwn);
            return grown >= GROWN * evidence.targetNanos();
        });
    }
}
