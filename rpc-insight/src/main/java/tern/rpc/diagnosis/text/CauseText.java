package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
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

    /** A wait for a connection counts as noticeable if it takes at least {@value} of the latency target. */
    private static final double NOTABLE_WAIT = 0.1;

    /** More permits are recommended only if the wait for a permit is at least {@value} times the time of its use. */
    private static final double PERMIT_FACTOR = 3;

    /** More permits are not recommended if the operation under a permit takes {@value} times its usual time. */
    private static final double MUCH_SLOWER = 3;

    /** The kinds of operations that can run during a transaction without using the transaction's database. */
    private static final Set<Part.Kind> OF_OTHER_SERVERS = EnumSet.of(Part.Kind.HTTP, Part.Kind.RPC, Part.Kind.REDIS);

    /** The kinds of code that may load the values of a cache. */
    private static final Set<Part.Kind> OF_LOADS = EnumSet.of(
            Part.Kind.COMPUTING,
            Part.Kind.SLEEP,
            Part.Kind.FILE,
            Part.Kind.SOCKET,
            Part.Kind.RESULT,
            Part.Kind.NATIVE,
            Part.Kind.CLASS_LOADING);

    /** The advice for operations that run while their calls hold a database connection. */
    private static final String OUTSIDE =
            " (run it outside of the transaction; with JPA, spring.jpa.open-in-view=false returns the connection with"
                    + " the transaction)";

    /** The last words of many recommended changes. They are removed if the size of a pool is a further cause. */
    private static final String NO_SIZE = "; a different pool size does not help";

    /** The text before the owner's name in the name of a lock. */
    private static final String HELD = " held in ";

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
                change(part, description.change()),
                facts,
                changes.lines(part),
                symptoms(part),
                acquitted(part));
    }

    /** Extends the recommended change with advice, for example about caches, retries, held locks and permits. */
    private Change change(Part part, Change described) {
        Change change = withSize(described);
        change = withCache(change, part);
        change = withBackOff(change, part);
        change = withoutHolding(change, part);
        change = withMorePermits(change, part);
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
     * Extends the recommended change if the operation runs while its call holds a lock or a connection that other calls
     * wait for.
     */
    private Change withoutHolding(Change change, Part part) {
        String held = null;
        String instead = "";
        for (Symptom symptom : symptoms.getOrDefault(part, List.of())) {
            Part wanted = symptom.waitedFor();
            if (wanted.kind() == Part.Kind.LOCK && wanted.name().contains(HELD)) {
                held = "a lock that other calls wait for: " + wanted.name();
                instead = "";
            } else if (held == null && wanted.kind() == Part.Kind.SQL && OF_OTHER_SERVERS.contains(part.kind())) {
                held = "locked rows that other calls wait for, in " + wanted.name() + ",";
            }
        }
        if (held == null) {
            PoolVerdict pool = poolHeldDuring(part);
            held = pool == null ? null : pool.resource();
            instead = OUTSIDE;
        }
        return held == null || change.property() != null
                ? change
                : Change.of(
                        change.where(),
                        "do not hold " + held + " while this operation runs" + instead + "; " + change.text());
    }

    /**
     * Returns the database pool whose connections are held while the operation runs; null if there is none. If calls
     * wait for several pools, returns the one whose connections are held longest compared with their usual time.
     */
    private @Nullable PoolVerdict poolHeldDuring(Part part) {
        return symptoms.getOrDefault(part, List.of()).stream()
                .filter(symptom -> isHeldDuring(part, symptom))
                .map(symptom -> PoolVerdict.find(pools, symptom.waitedFor()))
                .filter(Objects::nonNull)
                .max(Comparator.comparingDouble(PoolVerdict::timesLonger).thenComparing(PoolVerdict::name))
                .orElse(null);
    }

    /**
     * Recommends more permits in addition to the given change, if calls wait for a permit much longer than they use it.
     * Developers can often change the number of permits, but not the peer. If the operation takes much longer than
     * usual, the number of permits was sufficient before, so no change is recommended.
     */
    private Change withMorePermits(Change change, Part part) {
        if (isMuchSlower(part)) {
            return change;
        }
        double work = excess.times.of(part);
        for (Symptom symptom : symptoms.getOrDefault(part, List.of())) {
            Part wanted = symptom.waitedFor();
            boolean isPermit = wanted.kind() == Part.Kind.LOCK && wanted.name().startsWith(Part.SEMAPHORE);
            if (isPermit && work > 0 && symptom.nanos() >= PERMIT_FACTOR * work && change.property() == null) {
                return Change.of(
                        change.where(),
                        "allow more permits if more calls may do this at the same time: calls wait "
                                + Math.round(symptom.nanos() / work)
                                + " times as long for the " + wanted.name() + " as they hold it; otherwise "
                                + change.text());
            }
        }
        return change;
    }

    private boolean isMuchSlower(Part operation) {
        Phase phase = Operations.phase(operation.kind());
        if (phase == null) {
            return false;
        }
        double usual = operations.usualEach(phase, operation.name());
        return usual > 0 && operations.of(phase, operation.name()).eachNanos() >= MUCH_SLOWER * usual;
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

    /**
     * Returns whether the given operation probably runs while the call holds a database connection. The call is assumed
     * to hold a connection if other calls wait noticeably long for a database connection.
     */
    private boolean isHeldDuring(Part part, Symptom symptom) {
        Phase phase = Operations.phase(part.kind());
        if (phase == null || part.kind() == Part.Kind.SQL || part.kind() == Part.Kind.LOG) {
            return false;
        }
        PoolVerdict pool =
                symptom.waitedFor().kind() == Part.Kind.POOL ? PoolVerdict.find(pools, symptom.waitedFor()) : null;
        return pool != null && pool.isDatabase() && symptom.nanos() > NOTABLE_WAIT * evidence.targetNanos();
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
            case PEER_FAILS -> remoteText.fails(part);
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
                    TIMEOUT,
                    FAILURE -> codeText.describe(part);
            case LIMIT -> new LimitText(evidence, excess).describe(part);
            case CALLER -> caller(part);
            case COMPUTING, DECODE, RUN_QUEUE, CARRIER, THROTTLED, MEMORY, DISK, COLLECTOR, JVM_PAUSE, OUTSIDE ->
                machineText.describe(part);
            case SLOWDOWN ->
                new CommonDelays(evidence, operations, new OperationCounts(evidence, excess, operations)).describe();
            case UNEXPLAINED -> unexplained();
        };
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
