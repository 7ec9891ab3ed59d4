package tern.rpc.diagnosis.rule;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.CallSamples;
import tern.rpc.diagnosis.sample.CommonPool;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.pool.PoolSnapshot;

/**
 * Recognizes calls that need the common pool while blocking tasks occupy its threads. Calls may run the items of their
 * parallel streams themselves, one after another, although threads of the pool should run them in parallel. Answers of
 * the JDK's HTTP client may wait until a thread of the pool passes them on. Without this class, the diagnosis would
 * name the number or the duration of operations, or a slow peer, as the cause.
 */
public final class ForkedWork extends Rule {

    /**
     * The common pool can be the cause only if at least {@value} late calls process items of their parallel stream on
     * their own threads.
     */
    private static final int MIN_CALLS = 3;

    /**
     * The common pool is assumed to delay the answers of HTTP exchanges if it is full in at least {@value} of the
     * samples of these exchanges.
     */
    private static final double MOSTLY = 0.5;

    /**
     * If only one exchange is slow, the common pool must be full in at least {@value} of the exchange's samples. The
     * value is higher than {@link #MOSTLY}, because the exchange's peer may be slow.
     */
    private static final double NEARLY_ALWAYS = 0.8;

    /**
     * A wait is examined only if there are at least {@value} samples of it. Fewer samples do not show whether the
     * common pool had a free thread.
     */
    private static final int MIN_LOOKS = 4;

    /**
     * The common pool is assumed to delay answers only if at least {@value} exchanges are slow. A single slow exchange
     * more likely indicates a slow peer.
     */
    private static final int MIN_EXCHANGES = 2;

    /**
     * Callers count as waiting for their parallel streams only if at least {@value} samples show them searching for
     * items.
     */
    private static final int MIN_SEARCHING = 4;

    /**
     * Callers of parallel streams are assumed to search for items without a pause if at least {@value} of the samples
     * show a search.
     */
    private static final double SEARCHING = 0.1;

    /** The activities and waits that can occur while one item of a parallel stream is processed. */
    private static final Set<Kind> WORK = EnumSet.of(
            Kind.COMPUTING, Kind.SLEEP, Kind.RESULT, Kind.FILE, Kind.SOCKET, Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC);

    private boolean awaitAnswers; // whether answers of HTTP exchanges wait for a thread of the common pool

    ForkedWork(Rule other) {
        super(other);
    }

    /**
     * Attributes the work of calls to the common pool if the calls run items of their parallel streams themselves,
     * while tasks that run other code block the pool. The samples contain no tasks of libraries, so a full pool without
     * sampled tasks counts as blocked.
     */
    void apply() {
        TaskSamples tasks = evidence.tasks().executor(ExecutorNames.COMMON_THREADS);
        PoolVerdict pool = pools.get(ExecutorNames.COMMON_POOL);
        if (pool == null || !(tasks == null ? isFull(pool) : tasks.isMostlyBlocked())) {
            return;
        }
        Times full = new Times();
        full.add(new Part(Kind.POOL, pool.name()), 1);
        boolean runItems = callsRunItems(pool, tasks);
        awaitAnswers = CommonPool.isUsedByFutures() && answersAwaitPool();
        for (Part part : byCause.longestFirst()) {
            if (runItems && WORK.contains(part.kind())) {
                byCause.pour(part, full, "calls run the items of a parallel stream themselves");
            } else if (awaitAnswers && part.kind() == Kind.HTTP) {
                String answers = part.name().isEmpty() ? "HTTP exchanges" : part.name();
                byCause.pour(part, full, "answers of " + answers + " wait for a thread of the common pool");
            }
        }
    }

    /**
     * Attributes the exchanges of tasks to the common pool if the exchanges of calls wait for the pool. If callers of
     * parallel streams search for items without a pause, also attributes the waits for a processor to the reason why
     * the callers wait.
     */
    void passOnTasks() {
        Times causes = areSearching() ? byCause.causesOf(ResultRules::waitsForOthers) : new Times();
        if (causes.sum() > 0) {
            byCause.pour(
                    Part.of(Kind.RUN_QUEUE),
                    causes,
                    "callers of parallel streams use processors to search for items while they wait (before Java 18)");
        }
        Part pool = new Part(Kind.POOL, ExecutorNames.COMMON_POOL);
        for (Part part : byCause.longestFirst()) {
            if (awaitAnswers && part.kind() == Kind.HTTP) {
                byCause.move(part, pool);
            }
        }
    }

    /** Returns whether many samples show callers that search for items of their parallel streams without a pause. */
    private boolean areSearching() {
        int looks = 0;
        int searching = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            looks += samples == null ? 0 : samples.looks;
            searching += samples == null ? 0 : samples.searchingLooks;
        }
        return searching >= MIN_SEARCHING && searching >= SEARCHING * looks;
    }

    private boolean areSeveralExchanges() {
        return byCause.longestFirst().stream()
                        .filter(part -> part.kind() == Kind.HTTP)
                        .count()
                >= MIN_EXCHANGES;
    }

    /**
     * Returns true if blocking tasks occupy the common pool and the pool was full in at least half of the samples of
     * the given wait.
     */
    static boolean isFullDuring(Part wait, TaskSamples tasks, TaskWatch watch, CallSamples samples) {
        List<Sample> waiting = samples.in(wait);
        return waiting.size() >= MIN_LOOKS
                && 2 * fullDuring(waiting, watch) >= waiting.size()
                && tasks.isMostlyBlocked();
    }

    /** Returns the number of the given samples in which the common pool was full. */
    private static int fullDuring(List<Sample> samples, TaskWatch watch) {
        return (int) samples.stream()
                .filter(sample -> watch.moments().isCommonPoolFull(sample.atNanos()))
                .count();
    }

    /**
     * Returns a line that says in how many samples of late calls the common pool was full; null if it was full in no
     * sample.
     */
    public static @Nullable String fullLooks(TaskWatch watch, CallSamples samples) {
        List<Sample> all = samples.all();
        int full = fullDuring(all, watch);
        return full == 0
                ? null
                : "threads  all busy while tasks waited, at " + full + " of " + all.size() + " samples of late calls";
    }

    /** Returns whether most samples of HTTP exchanges show a call that waits for a thread of the full common pool. */
    private boolean answersAwaitPool() {
        int looks = 0;
        int waits = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            if (samples != null) {
                looks += samples.httpLooks;
                waits += samples.httpCommonPool;
            }
        }
        return waits >= MIN_CALLS && waits >= (areSeveralExchanges() ? MOSTLY : NEARLY_ALWAYS) * looks;
    }

    /**
     * Returns whether blocking tasks occupy the common pool. The common pool has few threads and is intended for tasks
     * that compute.
     */
    static boolean isBlocked(PoolVerdict pool, TaskSamples tasks) {
        return pool.name().equals(ExecutorNames.COMMON_POOL) && isFull(pool) && tasks.isMostlyBlocked();
    }

    private static boolean isFull(PoolVerdict pool) {
        PoolSnapshot now = pool.pool().now();
        return now.waiting() > 0 && now.active() >= now.max();
    }

    /**
     * Returns whether most late calls run items of their parallel streams themselves while the common pool is full and
     * its tasks mostly run other code. If most tasks of the pool run the same code as the calls, the work on the items
     * is slow.
     */
    private boolean callsRunItems(PoolVerdict pool, @Nullable TaskSamples tasks) {
        int sampled = 0;
        int running = 0;
        int looks = 0;
        int same = 0;
        int full = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            if (samples == null || samples.list.isEmpty()) {
                continue;
            }
            sampled++;
            if (2 * samples.forkedLooks >= samples.list.size()) {
                running++;
                looks += samples.list.size();
                same += tasks == null ? 0 : runsSameCode(samples.list, tasks);
                full += fullDuring(samples.list, evidence.tasks());
            }
        }
        boolean isFull = isFull(pool) || 2 * full >= looks;
        return running >= MIN_CALLS && 2 * running >= sampled && 2 * same < looks && isFull;
    }

    private static int runsSameCode(List<Sample> samples, TaskSamples tasks) {
        return (int) samples.stream()
                .filter(sample -> 2 * tasks.samplesOf(sample.line()) >= tasks.busy)
                .count();
    }
}
