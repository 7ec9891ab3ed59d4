package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Symptom;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.CachedOperations;
import tern.rpc.diagnosis.excess.Changes;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.ImmediateRetries;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.RejectedTasks;
import tern.rpc.diagnosis.excess.RepeatedTransactions;
import tern.rpc.diagnosis.excess.TimeOuts;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.failure.FullFiles;
import tern.rpc.diagnosis.failure.ServerRefusals;
import tern.rpc.diagnosis.machine.BackgroundThreads;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.rule.AwaitedWork;
import tern.rpc.diagnosis.rule.BlockedLoops;
import tern.rpc.diagnosis.rule.CallerRuns;
import tern.rpc.diagnosis.rule.CommonDelays;
import tern.rpc.diagnosis.rule.MissedJobs;
import tern.rpc.diagnosis.rule.Pressure;
import tern.rpc.diagnosis.rule.Stampedes;
import tern.rpc.diagnosis.rule.UnknownExecutors;
import tern.rpc.diagnosis.stack.CacheLoads;
import tern.rpc.diagnosis.stack.CallerWaits;
import tern.rpc.pool.PoolKind;

/**
 * Creates the text for a cause, that is, for an activity or wait that makes calls take longer than usual. The text
 * contains the evidence and a recommended change.
 */
public final class CauseText {

    /** The kind of the cause for time that no evidence explains. */
    public static final String UNEXPLAINED = "UNEXPLAINED";

    /** The kinds of code that may load the values of a cache. */
    private static final Set<Part.Kind> OF_LOADS = EnumSet.of(
            Part.Kind.COMPUTING,
            Part.Kind.SLEEP,
            Part.Kind.FILE,
            Part.Kind.SOCKET,
            Part.Kind.RESULT,
            Part.Kind.NATIVE,
            Part.Kind.CLASS_LOADING);

    /** The text at the end of many recommended changes. */
    private static final String NO_SIZE = "; a different pool size does not help";

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Map<String, PoolVerdict> pools;
    private final Map<Part, List<Symptom>> symptoms;
    private final Operations operations;
    private final ExecutorText executorText;
    private final PoolText poolText;
    private final MachineText machineText;
    private final StoreText storeText;
    private final RedisText redisText;
    private final RemoteText remoteText;
    private final CodeText codeText;
    private final Changes changes;
    private final TimeOuts timeOuts;
    private final Stampedes stampedes;
    private final ImmediateRetries retries;
    private final CallerRuns callerRuns;
    private final HeldResources held;

    public CauseText(
            Evidence evidence, ExcessTime excess, Map<String, PoolVerdict> pools, Map<Part, List<Symptom>> symptoms) {
        this.evidence = evidence;
        this.excess = excess;
        this.pools = pools;
        this.symptoms = symptoms;
        this.operations = new Operations(excess, evidence.usual(), evidence.answers());
        this.executorText = new ExecutorText(evidence, excess, pools, operations);
        this.poolText = new PoolText(evidence, excess, pools, operations, executorText);
        this.machineText = new MachineText(evidence, excess);
        this.timeOuts = new TimeOuts(evidence, excess, operations);
        this.stampedes = new Stampedes(evidence, excess, operations, new OperationCounts(evidence, excess, operations));
        this.retries = new ImmediateRetries(excess, operations);
        ServerText servers = new ServerText(evidence, excess, operations);
        this.storeText = new StoreText(evidence, excess, operations, pools, servers);
        this.redisText = new RedisText(evidence, excess, operations, servers);
        this.callerRuns = new CallerRuns(evidence, excess, pools);
        this.held = new HeldResources(evidence, excess, operations, pools, symptoms);
        this.remoteText = new RemoteText(evidence, excess, operations, timeOuts);
        this.changes = new Changes(evidence, excess, operations);
        this.codeText = new CodeText(
                evidence,
                excess,
                executorText,
                operations,
                new AwaitedWork(evidence, excess, operations, pools),
                pools);
    }

    /** Returns a cause of slow calls, with its evidence and the recommended change. */
    public Cause cause(Part part, double nanos, double ofNanos, double saves, double ofFailures, double certainNanos) {
        TimeOuts.TooShort timeout = mayHaveTooShortTimeout(part) ? timeOuts.of(part) : null;
        CauseDescription stampede = timeout == null ? stampedes.describe(part) : null;
        CauseDescription description = stampede != null
                ? stampede
                : timeout != null
                        ? new CauseDescription("TIMEOUT TOO SHORT", timeout.name(), timeout.change(), timeout.facts())
                        : describe(part);
        List<String> facts = new ArrayList<>(description.facts());
        facts.addAll(timeOuts.facts(part));
        String attempts = retries.fact(part);
        if (attempts != null) {
            facts.add(attempts);
        }
        facts.addAll(callers(part));
        if (part.kind() == Part.Kind.FILE || part.kind() == Part.Kind.LOG) {
            facts.addAll(new Pressure(evidence.machine(), evidence.usual()).diskFacts());
        }
        BackgroundThreads.facts(evidence.machine()).stream()
                .filter(fact -> !facts.contains(fact))
                .forEach(facts::add);
        String loop = part.kind() == Part.Kind.EVENT_LOOP ? null : BlockedLoops.loopOf(part, evidence, excess);
        if (loop != null) {
            facts.add("loop     runs on the event loop " + loop + ", whose other requests wait meanwhile");
        }
        return new Cause(
                description.kind(),
                description.name(),
                nanos / 1e6,
                ofNanos / 1e6,
                saves,
                ofFailures,
                certainNanos / 1e6,
                change(part, description),
                facts,
                changes.lines(part),
                symptoms(part),
                acquitted(part));
    }

    /** Extends the recommended change with advice, for example about caches, retries, held locks and permits. */
    private Change change(Part part, CauseDescription described) {
        Change change = withSize(described.change());
        change = withCache(change, part);
        change = withBackOff(change, part);
        change = held.extended(change, part, described.kind());
        change = withoutWorkers(change, part);
        change = callerRuns.withPolicy(change, part);
        return new MissedJobs(evidence, excess, operations).change(change, part);
    }

    /** Removes the sentence that a different pool size does not help, if the size of a pool is a further cause. */
    private Change withSize(Change change) {
        boolean isSizeACause = pools.values().stream()
                .anyMatch(pool -> pool.reason() == PoolVerdict.Reason.TOO_SMALL
                        && pool.pool().reduced() != null
                        && pool.isSlower());
        return isSizeACause && change.text().endsWith(NO_SIZE)
                ? Change.of(
                        change.where(), change.text().substring(0, change.text().length() - NO_SIZE.length()))
                : change;
    }

    /** Extends the recommended change if most calls run the code in order to load a value of a cache. */
    private Change withCache(Change change, Part part) {
        String cache = OF_LOADS.contains(part.kind()) && change.property() == null
                ? new CachedOperations(evidence, excess).lostCacheOf(part)
                : null;
        if (CacheLoads.THREAD_LOCAL.equals(cache)) {
            return Change.of(
                    Where.CODE,
                    "keep this value in a field or a pool that all threads share: each new thread computes the value of"
                            + " a ThreadLocal again, and a virtual thread serves only one call; otherwise "
                            + change.text());
        }
        return cache == null
                ? change
                : Change.of(
                        Where.CODE,
                        "find out why the cache in front of this code no longer holds its values (" + cache
                                + "): it was cleared, its entries expire at once, it is too small, or its keys have"
                                + " changed, so most calls load a value; otherwise " + change.text());
    }

    /** Extends the recommended change if code retries a failed operation without a pause. */
    private Change withBackOff(Change change, Part part) {
        String advice = retries.advice(part);
        return advice.isEmpty() || change.property() != null ? change : Change.of(Where.CODE, advice + change.text());
    }

    /**
     * Returns whether the timeout of the given wait or operation may be too short. Returns false for a wait for a pool
     * whose connections are lost, held by other threads, or opened or checked slowly, because this explains the wait.
     */
    private boolean mayHaveTooShortTimeout(Part part) {
        PoolVerdict verdict = part.kind() == Part.Kind.POOL ? PoolVerdict.find(pools, part) : null;
        return verdict == null
                || switch (verdict.reason()) {
                    case LEAKED, HELD_BY_OTHERS, NESTED, OPENING, CHECKING -> false;
                    case SLOW_TO_USE, FAIR, TOO_SMALL, UNKNOWN -> true;
                };
    }

    /**
     * Extends the recommended change if calls waiting for a result occupy the workers needed by other calls. A method
     * that returns a future needs no worker while it waits.
     */
    private Change withoutWorkers(Change change, Part part) {
        boolean keepsWorkers = part.kind() == Part.Kind.RESULT
                && symptoms.getOrDefault(part, List.of()).stream()
                        .anyMatch(symptom -> symptom.waitedFor().kind() == Part.Kind.QUEUE);
        String method = excess.badByMethod().keySet().stream()
                .max(Comparator.comparingDouble(name -> excess.meanOf(name, part)))
                .orElse("");
        return !keepsWorkers || change.property() != null || method.isEmpty()
                ? change
                : Change.of(
                        change.where(),
                        change.text() + "; calls of " + method + " keep their workers while they wait: let it return a"
                                + " CompletableFuture that is completed later, or limit the number of its concurrent"
                                + " calls"
                                + (method.startsWith("web.") ? "" : " (max-concurrency of the method)"));
    }

    private CauseDescription describe(Part part) {
        return switch (part.kind()) {
            case POOL -> UnknownExecutors.isOne(part) ? unknownExecutor(part) : poolText.pool(part);
            case QUEUE -> workers();
            case CALLER_RUNS -> executorText.executor();
            case EXECUTOR -> rejection(part);
            case SQL -> statement(part);
            case REDIS -> isFailed(part) ? describe(failure(Phase.REDIS, part)) : redisText.command(part);
            case HTTP -> remoteText.http(part);
            case RPC -> isFailed(part) ? describe(failure(Phase.RPC, part)) : remoteText.rpc(part);
            case PEER_FAILS -> new FailedPeerText(excess).describe(part);
            case LOG -> new LogText(evidence, excess, operations).describe(part);
            case LOCK,
                    SLEEP,
                    RESULT,
                    FILE,
                    SOCKET,
                    EVENT_LOOP,
                    RESOLVER,
                    CLASS_LOADING,
                    CLASS_INITIALIZATION,
                    NATIVE,
                    ELSEWHERE,
                    FAILURE ->
                FullFiles.isOne(part) ? new FullFilesText(evidence, excess).describe(part) : codeText.describe(part);
            case TIMEOUT -> timeOut(part);
            case LIMIT -> new LimitText(evidence, excess).describe(part);
            case CALLER -> caller(part);
            case COMPUTING, DECODE, RUN_QUEUE, CARRIER, THROTTLED, MEMORY, DISK, COLLECTOR, JVM_PAUSE, OUTSIDE ->
                machineText.describe(part);
            case SLOWDOWN ->
                new CommonDelays(evidence, operations, new OperationCounts(evidence, excess, operations)).describe();
            case UNEXPLAINED -> unexplained();
        };
    }

    private CauseDescription timeOut(Part part) {
        boolean areRefused =
                part.name().equals(FailurePart.DEADLINE) && evidence.refused().containsKey(ServerRefusals.DEADLINE);
        return areRefused ? new LimitText(evidence, excess).ofDeadline(part) : codeText.describe(part);
    }

    private CauseDescription statement(Part part) {
        RepeatedTransactions repeated = new RepeatedTransactions(excess, operations);
        if (repeated.isOne(part)) {
            return repeated.describe(part);
        }
        return isFailed(part) ? describe(failure(Phase.SQL, part)) : storeText.statement(part);
    }

    private static boolean isFailed(Part operation) {
        return OperationNames.isFailing(operation.name());
    }

    private static Part failure(Phase phase, Part operation) {
        return FailurePart.ofOperation(phase, operation.name());
    }

    private CauseDescription unexplained() {
        return new CauseDescription(
                UNEXPLAINED,
                "own time of calls",
                Change.of(Where.UNKNOWN, "no change can be recommended: no evidence shows what these calls did"),
                List.of("own      no sample found a thread of these calls; the calls are short or rare"));
    }

    private static CauseDescription caller(Part part) {
        boolean reads = part.name().equals(CallerWaits.REQUEST);
        return new CauseDescription(
                "SLOW CALLER",
                part.name(),
                Change.of(
                        Where.PEER,
                        (reads ? "the callers send their requests slowly" : "the callers read their answers slowly")
                                + ": check their network, or let a proxy in front of this server buffer "
                                + (reads ? "the requests" : "the answers")
                                + " and end slow transfers; meanwhile these calls occupy workers"),
                List.of());
    }

    private CauseDescription workers() {
        WorkerText text = new WorkerText(evidence, excess);
        return new CauseDescription(text.kind(), text.name(), text.change(), text.facts());
    }

    private CauseDescription unknownExecutor(Part part) {
        UnknownExecutors executors = new UnknownExecutors(evidence, excess);
        List<Symptom> waits = symptoms.getOrDefault(part, List.of());
        return new CauseDescription(
                "EXECUTOR TOO SMALL",
                UnknownExecutors.threads(part),
                executors.change(part, waits),
                executors.facts(part, waits));
    }

    private CauseDescription rejection(Part part) {
        RejectedTasks.Rejection rejection = new RejectedTasks(evidence, executorText::change, pools).of(part);
        return new CauseDescription("EXECUTOR FULL", rejection.name(), rejection.change(), rejection.facts());
    }

    /** Returns the methods whose late or failed calls spent time on the given activity or wait. */
    private List<String> callers(Part part) {
        Map<String, Integer> methods = new java.util.TreeMap<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            if (counted.times().sum(Operations.only(part)) > 0) {
                methods.merge(counted.call().method(), 1, Integer::sum);
            }
        }
        if (methods.isEmpty()) {
            return List.of();
        }
        int all = excess.badByMethod().size();
        return List.of(
                methods.size() == 1
                        ? "only     " + methods.keySet().iterator().next() + " (1 of " + all + " methods that miss)"
                        : "methods  " + methods.size() + " of " + all + " that miss");
    }

    private List<String> symptoms(Part part) {
        List<String> brings = new ArrayList<>(symptoms.getOrDefault(part, List.of()).stream()
                .map(Symptom::line)
                .toList());
        for (PoolVerdict pool : pools.values()) {
            boolean full = pool.pool().now().active() >= pool.pool().now().effectiveMax();
            boolean itself = part.kind() == Part.Kind.POOL && pool.name().equals(part.name());
            if (full && !itself && pool.pool().now().effectiveMax() > 0) {
                brings.add(pool.name() + " full: " + pool.pool().now().active() + " of "
                        + pool.pool().now().effectiveMax() + ", "
                        + pool.pool().now().waiting() + " wait");
            }
        }
        return brings;
    }

    /** Returns the other possible causes that are ruled out by the evidence, each with the value that rules it out. */
    private List<String> acquitted(Part part) {
        List<String> not = new ArrayList<>();
        for (PoolVerdict pool : pools.values()) {
            boolean database = pool.isDatabase() || pool.pool().now().kind() == PoolKind.REDIS;
            if (part.kind() != Part.Kind.POOL && database && pool.reason() == PoolVerdict.Reason.UNKNOWN) {
                not.add("pool " + pool.name() + ": " + pool.pool().now().active() + " of "
                        + pool.pool().now().effectiveMax() + " in use");
            }
        }
        Machine machine = evidence.machine();
        if (machine.own() >= 0 && !machine.isFull() && !machine.isStolen()) {
            not.add(String.format(
                    Locale.ROOT,
                    "processors: %.1f of %.1f busy",
                    machine.own() + Math.max(0, machine.others()),
                    machine.processors()));
        }
        if (!machine.isCollecting() && part.kind() != Part.Kind.COLLECTOR) {
            not.add(String.format(Locale.ROOT, "garbage collector: %.1f %% of the time", machine.collecting() * 100));
        }
        return not;
    }
}
