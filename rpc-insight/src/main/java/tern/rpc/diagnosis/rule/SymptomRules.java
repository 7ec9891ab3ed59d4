package tern.rpc.diagnosis.rule;

import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.RedisCommands;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.data.LargeData;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.ImmediateRetries;
import tern.rpc.diagnosis.excess.ManySlowOperations;
import tern.rpc.diagnosis.excess.MoreOperations;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.RepeatedOperations;
import tern.rpc.diagnosis.excess.RepeatedTransactions;
import tern.rpc.diagnosis.excess.RunningOperations;
import tern.rpc.diagnosis.excess.SlowServers;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.peer.FailedPeers;
import tern.rpc.diagnosis.peer.FailedProviders;
import tern.rpc.diagnosis.peer.OneSlowPeer;
import tern.rpc.diagnosis.peer.SickPeers;
import tern.rpc.diagnosis.peer.SilentPeers;
import tern.rpc.diagnosis.peer.SlowProviders;
import tern.rpc.diagnosis.pool.PeerKinds;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.diagnosis.stack.TaskWaits;
import tern.rpc.pool.PoolKind;

/**
 * Attributes the time of symptoms to their causes: the time of a wait goes to the awaited work. The order of the rules
 * matters, because a later rule may move time that an earlier rule has already moved.
 */
public final class SymptomRules extends Rule {

    private final OperationCounts counts;

    /**
     * @param pools the reasons why calls wait for each pool, by the name of the pool; a rule may replace a reason
     * @param byCause the time above the calls' usual time, by activity or wait; the rules move time from symptoms to
     *     causes
     */
    public SymptomRules(
            Evidence evidence,
            ExcessTime excess,
            Operations operations,
            Map<String, PoolVerdict> pools,
            TimesByCause byCause) {
        super(evidence, excess, operations, pools, byCause);
        this.counts = new OperationCounts(evidence, excess, operations);
    }

    public void apply() {
        passOnToUnanswered();
        CarrierRules carriers = new CarrierRules(evidence, excess, operations, byCause);
        carriers.apply();
        new TasksOfCallers(this).passOn();
        ForkedWork forked = new ForkedWork(this);
        forked.apply();
        mergeClassLoading();
        new LoopRules(this).apply();
        new ResultRules(this).apply();
        forked.passOnTasks();
        new TaskRules(this).apply();
        new LoadingCalls(this).apply();
        LookupRules.passOn(evidence, excess, operations, new PeerKinds(pools), byCause);
        LookupRules.merge(byCause);
        new FailedPeers(excess, pools, byCause).apply();
        Map<Kind, Part> silent = new SilentStores(evidence, excess, pools, byCause).apply();
        boolean areRepeated = new RepeatedTransactions(excess, operations).passOn(byCause);
        boolean redisStands = passOnRedis();
        mergeProviders();
        new Redirects(excess, operations, counts).merge(byCause);
        boolean isTableLocked = mergeStatements();
        new LargeData(evidence, excess, operations).passOn(byCause);
        new RowHolderRules(this).apply();
        new SilentPeers(excess, operations).merge(byCause);
        Set<Kind> divided = mergeOperations(redisStands, areRepeated || isTableLocked);
        new HttpConnections(evidence, excess).merge(byCause);
        new RunningOperations(excess, operations, byCause).name(divided::contains);
        passOnAttempts();
        new HolderRules(this, silent).apply();
        new AwaitedPeers(this).apply();
        new PoolRules(this, counts).apply();
        new WorkerRules(this).apply();
        new RefusalRules(this).apply();
        ProcessorRules processors = new ProcessorRules(this, counts);
        boolean isStorm = new ImmediateRetries(excess, operations).passOnRunQueue(byCause);
        processors.passOnRunQueue();
        passOnStalls();
        new CollectorRules(this).apply();
        processors.passOnToLongCode();
        processors.passOnToOtherProcesses();
        boolean isStoreBusy = new LocalStores(this, counts).passOn();
        new StolenTime(this).apply();
        new PressureRules(this).apply();
        new CallerRules(this, counts).apply();
        FailedProviders.merge(byCause);
        carriers.passOnOperations();
        if (!isStorm && !isStoreBusy && !new OneSlowPeer(evidence, excess, operations).merge(byCause)) {
            processors.passOnToProcessors();
        }
        processors.passOnExecutors();
        processors.passOnToOwnCode();
        new CommonDelays(evidence, operations, counts).passOn(excess, byCause);
        new SickPeers(evidence, excess, operations, counts, byCause).merge();
        new FullFilesRule(this).merge();
    }

    /**
     * Attributes the time for loading classes to the code that loads them, if this code also uses processor time. The
     * loading and the code are one cause.
     */
    private void mergeClassLoading() {
        for (Part part : byCause.longestFirst()) {
            Part code = new Part(Kind.COMPUTING, part.name());
            if (part.kind() == Kind.CLASS_LOADING && byCause.of(code) > 0) {
                boolean isMore = byCause.of(code) >= byCause.of(part);
                byCause.move(isMore ? part : code, isMore ? code : part);
            }
        }
    }

    /** Attributes waits for results to the asynchronous operation that was still running when the calls ended. */
    private void passOnToUnanswered() {
        for (Part part : byCause.longestFirst()) {
            Part unanswered = ResultRules.waitsForOthers(part)
                    ? Unanswered.of(part, excess.accounts, executor -> mayAwait(part, executor))
                    : null;
            if (unanswered != null) {
                byCause.move(part, unanswered);
            }
        }
    }

    /**
     * Returns whether the calls may wait for tasks of the given executor. The code must wait for a task or a future,
     * and no other executor may run code of the waiting class.
     */
    private boolean mayAwait(Part wait, String executor) {
        String called = excess.samples.calledIn(wait);
        boolean isForTask = wait.kind() == Kind.ELSEWHERE || TaskWaits.isForTaskOrFuture(called);
        String same = evidence.tasks().executorOf(excess.samples.lineOf(wait), other -> false);
        return isForTask && (same == null || ExecutorNames.poolOf(same).equals(executor));
    }

    /**
     * If a command blocks the Redis server, attributes two kinds of time to this command: the time of other commands,
     * and the wait for Redis connections. Redis executes one command after another.
     *
     * @return whether there is a blocking command
     */
    private boolean passOnRedis() {
        RedisStops stops = new RedisStops(operations, evidence);
        List<Part> waiting = byCause.longestFirst().stream()
                .filter(part -> part.kind() == Kind.REDIS && operations.isSlower(part))
                .toList();
        Part ofCalls = stops.ofCalls(byCause.longestFirst());
        Part command = RedisStops.isCertain(ofCalls) ? ofCalls : stops.outside(waiting);
        command = command == null ? ofCalls : command;
        if (command == null) {
            return false;
        }
        Times one = new Times();
        one.add(command, 1);
        for (Part part : byCause.longestFirst()) {
            PoolVerdict verdict = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
            boolean waits = verdict != null && verdict.pool().now().kind() == PoolKind.REDIS && !verdict.isHeld();
            boolean elsewhere = part.kind() == Kind.REDIS && operations.areOfOtherServers(part.name(), command.name());
            if (elsewhere) {
                continue;
            }
            if (waits
                    || (part.kind() == Kind.REDIS
                            && !part.equals(command)
                            && !RedisCommands.stopsServer(part.name()))) {
                String waited = verdict != null ? verdict.resource() : part.name();
                byCause.pour(part, one, TimesByCause.WAIT_FOR + (waited.isEmpty() ? "other commands" : waited));
            }
        }
        return true;
    }

    /**
     * Merges the operations of one kind in two cases. In the first case, all operations of the kind became slower, so
     * their server is the likely cause. In the second case, each call runs many short operations, and no single
     * operation takes most of the time. Operations of a cache stampede are not merged.
     *
     * @param redisStands whether one command blocks Redis. The time of the other commands has then already been
     *     attributed to this command
     * @param areStatementsMerged whether the time of statements has already been attributed to repeated transactions, or
     *     to a statement that waits for a locked table
     * @return the kinds whose operations have two causes: their number, and a slow server
     */
    private Set<Kind> mergeOperations(boolean redisStands, boolean areStatementsMerged) {
        Stampedes stampedes = new Stampedes(evidence, excess, operations, counts);
        MoreOperations more = new MoreOperations(operations, counts, byCause);
        ManySlowOperations manySlow = new ManySlowOperations(evidence, excess, operations);
        Set<Kind> divided = EnumSet.noneOf(Kind.class);
        for (Kind kind : List.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC)) {
            boolean isOneCause = (kind == Kind.REDIS && redisStands)
                    || (kind == Kind.SQL && areStatementsMerged)
                    || isMostlyOneWithLargeData(kind);
            if (isOneCause || stampedes.passOn(kind, pools, byCause)) {
                continue;
            }
            if (manySlow.divide(kind, byCause)) {
                divided.add(kind);
                continue;
            }
            double sum = byCause.sum(kind);
            boolean oneOfMany =
                    byCause.longestFirst().stream().anyMatch(part -> part.kind() == kind && byCause.of(part) > sum / 2);
            if (more.passOn(kind)) {
                continue;
            }
            boolean areAllSlower = !operations.allSlower(kind).isEmpty();
            if (!areAllSlower && mergeStore(kind)) {
                continue;
            }
            if (!areAllSlower && (oneOfMany || !counts.areMany(kind, ""))) {
                continue;
            }
            for (Part part : byCause.longestFirst()) {
                if (part.kind() == kind) {
                    byCause.move(part, Part.of(kind));
                }
            }
        }
        return divided;
    }

    /**
     * Returns whether an operation that transfers much more data than usual takes most of the time of all operations of
     * the given kind. The other operations are then slower because the server and the application work on its data.
     */
    private boolean isMostlyOneWithLargeData(Kind kind) {
        LargeData data = new LargeData(evidence, excess, operations);
        double all = byCause.sum(kind);
        return byCause.only(part -> part.kind() == kind).longestFirst().stream()
                .anyMatch(part -> 2 * byCause.of(part) > all && data.isLarge(part));
    }

    /**
     * Merges the operations on a store (a data source or Redis server) or peer into one cause, if all operations on
     * this store or peer have become slower. If this applies to several stores or peers, chooses the most expensive
     * one.
     *
     * @return whether there is such a store or peer
     */
    private boolean mergeStore(Kind kind) {
        String store = new SlowServers(excess, operations).slowest(kind, byCause.only(part -> part.kind() == kind));
        if (store == null) {
            return false;
        }
        Part all = new Part(kind, OperationNames.ALL + store);
        for (Part part : byCause.longestFirst()) {
            if (part.kind() == kind && OperationNames.isNamed(part.name(), all.name())) {
                byCause.move(part, all);
            }
        }
        return true;
    }

    /**
     * Attributes the time of statements that are slow for the same reason to the statement that takes the most time.
     * The reason is a lock in the database, or a slow log of the database.
     *
     * @return whether these statements hang because their table is locked
     */
    private boolean mergeStatements() {
        Part longest = byCause.longestFirst().stream()
                .filter(part -> part.kind() == Kind.SQL)
                .findFirst()
                .orElse(null);
        if (longest == null) {
            return false;
        }
        Set<String> hanging = new LockedTables(evidence, excess).hangingWith(longest.name());
        if (hanging.isEmpty() && operations.isServerSlower(longest)) {
            return false;
        }
        Set<String> together =
                hanging.isEmpty() ? new DatabaseLocks(excess, operations, pools).slowWith(longest.name()) : hanging;
        for (Part part : byCause.longestFirst()) {
            if (part.kind() == Kind.SQL && together.contains(part.name())) {
                byCause.move(part, longest);
            }
        }
        return hanging.size() > 1;
    }

    /**
     * Returns the remote method of the given operation if timeouts end calls to this method at several providers; null
     * otherwise. The timeout is then a more likely cause than the providers.
     */
    private @Nullable String lateMethodOf(Part part) {
        String method = part.kind() == Kind.RPC && !OperationNames.isFailing(part.name())
                ? OperationNames.method(part.name())
                : null;
        long providers = excess.times.longestFirst().stream()
                .filter(other -> other.kind() == Kind.RPC
                        && method != null
                        && method.equals(OperationNames.method(other.name())))
                .filter(excess::isMostlyFailure)
                .count();
        return providers > 1 ? method : null;
    }

    /**
     * Merges the operations at all providers of a remote method into one operation in three cases: the number of calls
     * to the method is the cause, the timeout of the method is the cause, or the method became slower at all of its
     * providers.
     */
    private void mergeProviders() {
        SlowProviders providers = new SlowProviders(evidence, operations);
        Times remote = byCause.only(part -> part.kind() == Kind.RPC);
        Map<String, Boolean> slow = new HashMap<>(); // for each method, whether it is slower at all of its providers
        for (Part part : byCause.longestFirst()) {
            String method = operations.manyCallsOf(part);
            String late = method == null && excess.isMostlyFailure(part) ? lateMethodOf(part) : null;
            String called = part.kind() == Kind.RPC && !OperationNames.isFailing(part.name())
                    ? OperationNames.method(part.name())
                    : null;
            if (method != null || late != null) {
                byCause.move(part, new Part(Kind.RPC, method != null ? method : String.valueOf(late)));
            } else if (called != null && slow.computeIfAbsent(called, name -> providers.areAllSlower(name, remote))) {
                byCause.move(part, new Part(Kind.RPC, called));
            }
        }
    }

    /**
     * Attributes the time of repeated operations to the pauses between the repetitions. A call repeats an operation in
     * a polling loop, or after a failure of the operation. If a timeout ended the repetitions, the time of the pauses
     * is attributed to the operation instead.
     */
    private void passOnAttempts() {
        RepeatedOperations repeated = new RepeatedOperations(excess, operations);
        for (Part part : byCause.longestFirst()) {
            RepeatedOperations.Polled polled = part.kind() == Kind.SLEEP ? repeated.polledIn(part) : null;
            RepeatedOperations.Failed failed = part.kind() == Kind.SLEEP ? repeated.failedIn(part) : null;
            Part timedOut = part.kind() == Kind.SLEEP && failed == null ? repeated.timedOutIn(part) : null;
            if (timedOut != null) {
                byCause.move(part, timedOut);
            } else if (failed != null) {
                passOnTo(part, failed.phase(), failed.name());
                passOnFailures(part, failed);
                String success = OperationNames.withoutStatus(failed.name());
                if (!operations.isSlower(Account.part(failed.phase(), success))) {
                    passOnTo(part, failed.phase(), success);
                }
            } else if (polled != null) {
                passOnTo(part, polled.phase(), polled.name());
            }
        }
    }

    /**
     * Attributes failures of calls to the pauses between the attempts, if the calls have repeated the failed operation
     * without success.
     */
    private void passOnFailures(Part pauses, RepeatedOperations.Failed failed) {
        Part reason = FailurePart.ofOperation(failed.phase(), failed.name());
        String operation = OperationNames.withoutStatus(failed.name());
        String ofStatement = " " + OperationNames.errorCode(failed.name()) + " of " + operation;
        for (Part part : byCause.longestFirst()) {
            boolean isOfPeer = part.kind() == Kind.PEER_FAILS
                    && (part.equals(reason) || part.name().startsWith(operation + ": "));
            boolean isOfStatement = part.kind() == Kind.FAILURE && part.name().endsWith(ofStatement);
            if (isOfPeer || isOfStatement) {
                byCause.pour(part, byCause.only(pauses::equals), "calls fail in the end: " + part.name());
            }
        }
    }

    private void passOnTo(Part pauses, Phase phase, String operation) {
        byCause.pour(Account.part(phase, operation), byCause.only(pauses::equals), "calls repeat " + operation);
    }

    /**
     * Attributes time to the collector if a stack shows neither the use of processor time nor a wait, and if threads
     * waited for free memory during most of this time. ZGC does not report such an allocation stall as a pause, and the
     * stack does not show it.
     */
    private void passOnStalls() {
        Times one = new Times();
        one.add(Part.of(Kind.COLLECTOR), 1);
        for (Part part : byCause.longestFirst()) {
            if (part.kind() == Kind.NATIVE && mostlyStalls(part)) {
                byCause.pour(part, one, "calls wait for memory in " + part.name());
            }
        }
    }

    /** Returns whether threads waited for memory during at least half of the time of the given activity or wait. */
    private boolean mostlyStalls(Part part) {
        double all = 0;
        double stalled = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            double nanos = counted.times().of(part);
            EndedCall call = counted.call();
            all += nanos;
            stalled += Math.min(nanos, evidence.pauses().stalledNanos(call.startedNanos(), call.endedNanos()));
        }
        return all > 0 && 2 * stalled >= all;
    }
}
