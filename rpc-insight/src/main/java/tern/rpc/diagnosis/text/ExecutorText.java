package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.cause.QueueModel;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.rule.CallerRuns;
import tern.rpc.diagnosis.rule.ForkedWork;
import tern.rpc.diagnosis.rule.ResultRules;
import tern.rpc.diagnosis.rule.TaskLoad;
import tern.rpc.diagnosis.sample.CommonPool;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Creates the cause descriptions for executors whose tasks wait for a thread, and recommends numbers of threads. */
final class ExecutorText {

    /**
     * If calls wait for results, a full executor can be the reason only if calls spend at least {@value} of the time
     * waiting for one of the executor's threads.
     */
    private static final double HANDED_OVER = 0.1;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Map<String, PoolVerdict> pools;
    private final Operations operations;

    ExecutorText(Evidence evidence, ExcessTime excess, Map<String, PoolVerdict> pools, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.pools = pools;
        this.operations = operations;
    }

    /**
     * Returns the advice for an executor that gets many more tasks than usual, for example from a batch; null
     * otherwise. With more threads, the batch would take even more of the resources that calls need.
     *
     * @param started the number of tasks that are started per second
     */
    @Nullable
    Change moreTasks(PoolSnapshot pool, double started) {
        double usually = evidence.usual().reliableFigure(Baseline.TASKS + pool.name());
        boolean isFull = pool.active() >= pool.max() && pool.waiting() > pool.max();
        // More started tasks mean more submitted tasks: if only the duration of the tasks had grown, the executor would
        // start fewer of them.
        if (usually <= 0 || !isFull || started < TaskLoad.MORE * usually) {
            return null;
        }
        return Change.of(
                Where.CODE,
                String.format(
                        Locale.ROOT,
                        "use a separate executor for code that submits many tasks, such as a batch, or submit them in"
                                + " smaller batches: \"%s\" starts %.0f tasks/s, and %d wait; usually, it starts"
                                + " %.1f/s%s",
                        pool.name(),
                        started,
                        pool.waiting(),
                        usually,
                        mostly(pool.name())));
    }

    /**
     * Returns text that names the most frequent activity of an executor's sampled tasks, for example {@code , mostly in
     * Orders.export}. Returns an empty string if there are no samples.
     */
    String mostly(String pool) {
        TaskSamples tasks = evidence.tasks().executor(ExecutorNames.threadsOf(pool));
        if (tasks == null) {
            tasks = awaited();
        }
        return tasks == null || tasks.parts.isEmpty() ? "" : ", mostly " + tasks.mostly();
    }

    /**
     * Returns the samples of an executor that is not a known pool, if calls wait for its results. An executor that the
     * application creates without a name has threads such as {@code pool-2-thread-1}.
     */
    private @Nullable TaskSamples awaited() {
        for (Part part : excess.account.longestFirst()) {
            String threads = part.kind() == Kind.RESULT
                    ? evidence.tasks().executorOf(excess.samples.lineOf(part), executor -> true)
                    : null;
            if (threads != null && !pools.containsKey(ExecutorNames.poolOf(threads))) {
                return evidence.tasks().executor(threads);
            }
        }
        return null;
    }

    /** Creates the cause for an executor whose tasks were run by the threads that submitted them. */
    CauseDescription executor() {
        String name = new CallerRuns(evidence, excess, pools).executor();
        PoolVerdict full = name == null ? full() : pools.get(name);
        if (full == null) {
            return new CauseDescription(
                    "CALLER RUNS",
                    name == null ? "executor" : name,
                    Change.of(
                            Where.CODE,
                            "allow more threads or a longer queue for "
                                    + (name == null ? "the executor whose tasks the callers run" : "\"" + name + "\"")
                                    + ", or use a rejection policy other than caller-runs"),
                    List.of());
        }
        CauseDescription description = executor(full);
        if (description.change().property() != null) {
            return description;
        }
        PoolSnapshot pool = full.pool().now();
        double hold = full.pool().holdNanos();
        String slow = operations.slowest();
        return new CauseDescription(
                "CALLER RUNS",
                pool.name(),
                Change.of(
                        Where.CODE,
                        (slow == null ? "" : "find out why " + slow + " is slow; ")
                                + "allow more threads or a longer queue for \"" + pool.name()
                                + "\", or use a rejection policy other than caller-runs: it is full, so calls run its"
                                + " tasks themselves" + (hold < 0 ? "" : ", " + Times.millis(hold) + " ms each")
                                + mostly(pool.name())),
                description.facts());
    }

    /**
     * Returns the text for a full executor whose queued tasks wait for a thread, if calls wait for results of this
     * executor. A full queue alone is not sufficient, because the calls may not be waiting for its tasks.
     *
     * @param wait the wait for a result
     * @return null if there is no such executor
     */
    @Nullable
    CauseDescription fullExecutor(Part wait) {
        StackTraceElement line = excess.samples.lineOf(wait);
        return pools.values().stream()
                .filter(ExecutorText::isFull)
                .filter(verdict -> isAwaited(verdict, wait, line))
                .findFirst()
                .map(this::executor)
                .orElse(null);
    }

    /**
     * Returns whether the calls probably wait for tasks of the given executor. Calls probably wait for an executor's
     * tasks if they submit tasks and wait for the executor's threads, or if the executor's tasks run code of the class
     * that waits.
     */
    private boolean isAwaited(PoolVerdict verdict, Part wait, @Nullable StackTraceElement line) {
        double queued = excess.account.of(new Part(Kind.POOL, verdict.name()));
        TaskSamples tasks = evidence.tasks().executor(ExecutorNames.threadsOf(verdict.name()));
        return (queued > 0 && queued >= HANDED_OVER * excess.account.of(wait)) || (tasks != null && tasks.runs(line));
    }

    private static boolean isFull(PoolVerdict verdict) {
        PoolSnapshot pool = verdict.pool().now();
        PoolSnapshot since = verdict.pool().since();
        boolean full = pool.active() >= pool.max() && (pool.waiting() > 0 || since.callerRuns() > 0);
        return pool.kind() == PoolKind.EXECUTOR && (full || since.refused() > 0);
    }

    private @Nullable PoolVerdict full() {
        return pools.values().stream().filter(ExecutorText::isFull).findFirst().orElse(null);
    }

    /**
     * Creates the cause for tasks waiting for other tasks of their executor.
     *
     * @param part the wait of the tasks, which names the threads of their executor
     * @param line the line where calls wait in this way; null if no call does
     */
    CauseDescription innerTasks(Part part, @Nullable StackTraceElement line) {
        String threads =
                part.name().substring(Part.TASKS_OF.length(), part.name().lastIndexOf(" in "));
        TaskSamples tasks = evidence.tasks().executor(threads);
        Part waiting = tasks == null ? null : tasks.waitingForTasks();
        StackTraceElement place = tasks == null || waiting == null ? line : tasks.lines.get(waiting);
        List<String> facts = new ArrayList<>();
        if (place != null) {
            facts.add("line     " + ApplicationCode.shown(place));
        }
        pools.values().stream()
                .filter(pool -> threads.equals(evidence.tasks().threadsOfPool(pool.name())))
                .filter(ResultRules::submitsToItself)
                .map(pool -> pool.pool().now())
                .findFirst()
                .ifPresent(pool -> {
                    facts.add(busy(pool));
                    facts.add("inner    threads of this executor submit tasks to it and wait for them");
                });
        return new CauseDescription(
                "TASKS WAIT FOR TASKS",
                part.name(),
                Change.of(
                        Where.CODE,
                        "use a separate executor for the inner tasks, or do not wait for them: " + part.name()
                                + " wait for the results of other tasks, which find no thread; more threads only"
                                + " raise the limit"),
                facts);
    }

    private static String busy(PoolSnapshot pool) {
        return "threads  " + pool.active() + " of " + pool.max() + " busy, " + pool.waiting() + " tasks wait";
    }

    /** Creates the cause for a full executor whose tasks wait for a thread. */
    CauseDescription executor(PoolVerdict verdict) {
        PoolSnapshot pool = verdict.pool().now();
        PoolSnapshot since = verdict.pool().since();
        double takings = since.taken() / evidence.seconds();
        double hold = verdict.pool().holdNanos();
        List<String> facts = new ArrayList<>();
        String full = CommonPool.isOne(verdict) ? ForkedWork.fullLooks(evidence.tasks(), excess.samples) : null;
        facts.add(full != null ? full : busy(pool));
        facts.addAll(verdict.facts());
        if (CommonPool.isOne(verdict)) {
            return CommonPool.describe(pool, evidence.tasks().executor(ExecutorNames.COMMON_THREADS), facts);
        }
        double usual = verdict.pool().usualHoldNanos();
        boolean slower = usual > 0
                && hold > 1.5 * usual
                && !TaskLoad.of(verdict, evidence, excess).isTooMany();
        Change former = slower ? null : FormerSize.of(verdict.pool(), takings * hold / 1e9, null);
        return new CauseDescription(
                slower ? "SLOW TASKS" : "EXECUTOR TOO SMALL",
                pool.name(),
                former != null ? former : change(pool, takings, hold, slower),
                facts);
    }

    /**
     * @param takings the number of tasks that the executor's threads start per second
     * @param hold the mean duration of a task in nanoseconds; negative if unknown
     * @param slower whether tasks take longer than usual
     */
    Change change(PoolSnapshot pool, double takings, double hold, boolean slower) {
        PoolVerdict known = pools.get(pool.name());
        TaskLoad load = known == null ? null : TaskLoad.of(known, evidence, excess);
        boolean isOfMoreCalls = load != null && load.isTooMany() && load.isOfMoreCalls();
        Change batch = slower || isOfMoreCalls ? null : moreTasks(pool, takings);
        if (batch != null) {
            return batch;
        }
        Change same = isOfMoreCalls ? null : sameTasks(pool, takings, hold);
        if (same != null) {
            return same;
        }
        String name = "\"" + pool.name() + "\"";
        // The mean duration covers only completed tasks. If all threads are busy although the completed tasks need only
        // a few of them, long-running tasks occupy the threads.
        boolean areOccupied =
                pool.active() >= pool.max() && pool.waiting() > 0 && takings * hold / 1e9 < pool.max() / 2.0;
        if (hold < 0 || areOccupied) {
            return Change.of(
                    Where.CODE,
                    "use a separate executor instead of " + name + " for tasks that wait: "
                            + (pool.max() == 1
                                    ? "its only thread is busy"
                                    : "all of its " + pool.max() + " threads are busy")
                            + mostly(pool.name()) + ExecutorSize.hint(pool));
        }
        String tasks = "the tasks of " + name + " take " + Times.millis(hold) + " ms each" + mostly(pool.name());
        if (hold > evidence.targetNanos()) {
            return Change.of(
                    Where.CODE,
                    (slower ? "use a separate executor for the long tasks: " : "") + tasks
                            + "; more threads do not meet the target");
        }
        int wanted = wantedThreads(load == null ? takings : Math.max(takings, load.perSecond()), hold);
        if (slower) {
            String more = moreThreads(pool, takings, hold);
            return Change.of(
                    Where.CODE,
                    "use a separate executor for the long tasks" + (more.isEmpty() ? "" : ", or " + more) + ": "
                            + tasks);
        }
        Change change = ExecutorSize.of(pool, wanted, evidence.machine());
        if (change == null && wanted > pool.max()) {
            change = ExecutorSize.moreThreads(pool, wanted);
        }
        return change == null ? Change.of(Where.CODE, tasks + "; more threads do not meet the target") : change;
    }

    /**
     * Returns the advice for tasks that became slower and all do the same work; null if the tasks did not become slower
     * or do different work.
     */
    private @Nullable Change sameTasks(PoolSnapshot pool, double takings, double hold) {
        PoolVerdict verdict = pools.get(pool.name());
        double usual = verdict == null ? -1 : verdict.pool().usualHoldNanos();
        if (verdict == null || usual <= 0 || (hold >= 0 && hold <= 1.5 * usual)) {
            return null;
        }
        boolean meetsTarget = hold >= 0 && hold <= evidence.targetNanos();
        String more = meetsTarget ? moreThreads(pool, takings, hold) : "";
        boolean rejects = verdict.pool().since().refused() > 0;
        return new SlowTasks(evidence, excess)
                .change(pool, rejects, hold, usual, more.isEmpty() ? "" : "meanwhile use " + more);
    }

    /** Returns the recommended number of threads as text; an empty string if more threads do not help. */
    private String moreThreads(PoolSnapshot pool, double takings, double hold) {
        int wanted = wantedThreads(takings, hold);
        return wanted > pool.max() && !evidence.machine().isFull() ? wanted + " threads instead of " + pool.max() : "";
    }

    private int wantedThreads(double takings, double hold) {
        return QueueModel.placesFor(takings * hold / 1e9, hold, evidence.targetNanos() / 4.0, 2_000);
    }
}
