package tern.rpc.diagnosis.rule;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.diagnosis.stack.Hints;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.TaskWaits;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Attributes the time spent waiting for results to the work of the tasks that produce the results, or to the executor
 * of these tasks.
 */
public final class ResultRules extends Rule {

    /**
     * Tasks count as waiting for a thread if the wait for the executor is at least {@value} of the wait for the
     * results.
     */
    private static final double NOTABLE = 0.1;

    /**
     * Tasks are assumed to wait for other tasks of their executor if the executor's own threads submit at least
     * {@value} of its tasks.
     */
    private static final double INNER_SHARE = 0.2;

    /** Threads count as working most of the time if at least {@value} of them are busy on average. */
    private static final double MOSTLY = 0.5;

    /**
     * An executor's queue counts as much longer than usual if its length is at least {@value} times the usual length.
     */
    private static final double MUCH_LONGER = 10;

    private final AwaitedWork work;
    private final OtherTasks others;

    ResultRules(Rule other) {
        super(other);
        this.work = new AwaitedWork(evidence, excess, operations, pools);
        this.others = new OtherTasks(evidence, excess, operations);
    }

    public static boolean waitsForOthers(Part part) {
        return part.kind() == Kind.RESULT || part.kind() == Kind.ELSEWHERE;
    }

    /**
     * Attributes the time spent waiting for results to the work of the executor's tasks. If most of these tasks wait as
     * well, the time is attributed to other tasks of the same executor, or to something that appears in no stack. If
     * the work of the tasks does not explain the wait, the wait itself stays the cause.
     */
    void apply() {
        UnknownExecutors unknown = new UnknownExecutors(evidence, excess);
        for (Part part : byCause.longestFirst()) {
            String name = waitsForOthers(part) ? work.threadsFor(part) : null;
            TaskSamples executor = name == null ? null : evidence.tasks().executor(name);
            if (executor == null || name == null) {
                PoolVerdict full = onlyFullExecutor(part);
                if (full != null) {
                    byCause.move(part, new Part(Kind.POOL, full.name()));
                }
                continue;
            }
            if (isIdle(executor) && Hints.isSignal(excess.samples.calledIn(part))) {
                continue;
            }
            PoolVerdict pool = work.poolOf(name);
            Part waiting = executor.waiting();
            Part inner = innerTasks(name, executor, pool);
            Part small = pool != null || waiting != null ? null : unknown.tooSmall(name, executor, part);
            if (small == null && pool == null && waiting == null && name.equals(work.occupyingThreads(part))) {
                small = unknown.occupied(name, executor, part);
            }
            if (pool != null && isOccupied(pool, executor, part)) {
                passOnToExecutor(part, pool, work.isAnySlower(part, executor) ? 0 : work.lostShare(part, name));
            } else if (small != null) {
                Times one = new Times();
                one.add(small, 1);
                byCause.pour(part, one, waiter(part) + " waits for a thread of " + name);
            } else if (inner != null) {
                byCause.move(part, inner);
            } else if (waiting != null) {
                if (executor.runs(excess.samples.lineOf(part))) {
                    byCause.move(part, waiting);
                }
            } else if (pool != null && isQueueOf(pool, part)) {
                byCause.move(part, new Part(Kind.POOL, pool.name()));
            } else if (pool != null
                    && areTasksAsUsual(pool)
                    && evidence.machine().isFullOfOthers()) {
                byCause.move(part, Part.of(Kind.RUN_QUEUE));
            } else if (work.explains(part, name, executor) && !areUnrelated(pool, executor, part)) {
                passOnToTasks(part, name, executor);
            }
        }
    }

    /**
     * Attributes the wait to the executor that other tasks occupy.
     *
     * @param lost the share of the wait that these tasks do not explain, because the calls wait on after the end of
     *     their own tasks
     */
    private void passOnToExecutor(Part wait, PoolVerdict pool, double lost) {
        Times divided = new Times();
        divided.add(new Part(Kind.POOL, pool.name()), 1 - lost);
        divided.add(wait, lost >= AwaitedWork.NOTABLY_LOST ? lost : 0);
        byCause.divide(wait, divided);
    }

    /**
     * Returns whether the executor mostly runs tasks that no call has submitted, and no call's task waits for a thread.
     * In this case, the operations of the executor's tasks do not delay the calls.
     */
    private boolean areUnrelated(@Nullable PoolVerdict pool, TaskSamples executor, Part wait) {
        return pool != null
                && others.occupy(pool)
                && pool.pool().now().waiting() == 0
                && byCause.of(new Part(Kind.POOL, pool.name())) < NOTABLE * byCause.of(wait)
                && !work.isAnySlower(wait, executor);
    }

    /**
     * Returns true if none of the given threads works most of the time. If calls nevertheless always wait for a signal
     * from them, the work of the threads is not the reason: the signal is lost or comes late.
     */
    private static boolean isIdle(TaskSamples threads) {
        return threads.looks >= TaskSamples.MIN_BUSY && threads.busyThreads() < MOSTLY;
    }

    /**
     * Returns whether calls wait for the results only because the tasks wait for a thread. This is the case if the
     * tasks take their usual time and most of the wait passes before they start.
     */
    private boolean isQueueOf(PoolVerdict pool, Part wait) {
        return pool.isHeldAsUsual() && byCause.of(new Part(Kind.POOL, pool.name())) >= byCause.of(wait) / 2;
    }

    private static boolean areTasksAsUsual(PoolVerdict pool) {
        return pool.pool().usualHoldNanos() > 0 && pool.pool().holdNanos() >= 0 && !pool.isSlower();
    }

    /**
     * Returns the only executor that is full and has many more waiting tasks than usual, if the code waits for a task
     * or a future. Returns null if there is no such executor. The tasks that the calls wait for have not started on
     * such an executor, so they appear in no stack.
     */
    private @Nullable PoolVerdict onlyFullExecutor(Part wait) {
        String called = wait.kind() == Kind.RESULT ? excess.samples.calledIn(wait) : null;
        boolean isForTask = TaskWaits.isForTaskOrFuture(called);
        List<PoolVerdict> full = pools.values().stream()
                .filter(verdict -> isForTask && verdict.pool().now().kind() == PoolKind.EXECUTOR)
                .filter(verdict -> isOverfull(verdict.pool().now()))
                .filter(verdict -> mayGetTasksOfCalls(verdict.pool().now(), wait))
                .toList();
        return full.size() == 1 ? full.get(0) : null;
    }

    /**
     * Returns whether the waiting calls may have submitted tasks to the given executor. If Tern measures the executor's
     * tasks, the ledgers of the calls show whether the calls submitted tasks.
     */
    private boolean mayGetTasksOfCalls(PoolSnapshot pool, Part wait) {
        boolean isMeasured = !pool.held().isNegative();
        return !isMeasured
                || excess.accounts.stream()
                        .filter(counted -> counted.times().of(wait) > 0)
                        .map(counted -> counted.call().ledger())
                        .flatMap(ledger -> Stream.concat(ledger.named().stream(), ledger.unfinished().stream()))
                        .anyMatch(entry ->
                                entry.kind() == Phase.EXECUTOR && entry.name().equals(pool.name()));
    }

    private boolean isOverfull(PoolSnapshot pool) {
        double usually = Math.max(1, evidence.usual().figure(Baseline.QUEUE + pool.name()));
        return pool.active() >= pool.max() && pool.waiting() >= MUCH_LONGER * usually;
    }

    private void passOnToTasks(Part wait, String name, TaskSamples executor) {
        byCause.pour(
                wait,
                named(executor.parts.only(done -> done.kind() != Kind.RESULT), wait),
                String.format(
                        Locale.ROOT,
                        "%s waits for %s %s, %.0f %% of its threads busy",
                        waiter(wait),
                        executor.isExecutor ? "tasks of" : "threads",
                        name,
                        100.0 * executor.busy / Math.max(1, executor.looks)));
    }

    private static String waiter(Part wait) {
        return wait.kind() == Kind.ELSEWHERE ? "asynchronous work" : wait.name();
    }

    /**
     * Returns whether tasks that do not belong to the waiting calls occupy the executor. For the common pool, also
     * returns true if blocking tasks occupy it.
     */
    private boolean isOccupied(PoolVerdict pool, TaskSamples executor, Part wait) {
        return isOccupiedByOthers(pool, executor, wait)
                || (executor.waiting() == null
                        && (ForkedWork.isBlocked(pool, executor) || isFullDuring(pool, executor, wait)));
    }

    private boolean isFullDuring(PoolVerdict pool, TaskSamples executor, Part wait) {
        return pool.name().equals(ExecutorNames.COMMON_POOL)
                && ForkedWork.isFullDuring(wait, executor, evidence.tasks(), excess.samples);
    }

    /**
     * Returns whether tasks that do not belong to the waiting calls occupy the executor. This is the case if the calls'
     * tasks wait for a thread, and no running task executes code of the class that waits for the results. Ledgers do
     * not record waits for the common pool, so for that pool it is enough that its queue is not empty. If the executor
     * counts the tasks that no call has submitted, this count is decisive, because such tasks may run code of the same
     * class.
     */
    private boolean isOccupiedByOthers(PoolVerdict pool, TaskSamples executor, Part wait) {
        double queued = byCause.of(new Part(Kind.POOL, pool.name()));
        if (queued >= NOTABLE * byCause.of(wait) && others.occupy(pool, executor.parts)) {
            return true;
        }
        return (queued >= NOTABLE * byCause.of(wait) || pool.name().equals(ExecutorNames.COMMON_POOL))
                && pool.pool().now().waiting() > 0
                && !executor.runs(excess.samples.lineOf(wait));
    }

    /**
     * Replaces operations that appear only in the stacks of tasks with the operations named in the ledgers of the
     * waiting calls. Without this replacement, the same peer would appear as two causes.
     */
    private Times named(Times tasks, Part waiting) {
        Times named = new Times();
        for (Part part : tasks.longestFirst()) {
            if (part.kind() == Kind.POOL) {
                PoolVerdict pool = PoolVerdict.find(pools, part);
                named.add(pool == null ? part : new Part(Kind.POOL, pool.name()), tasks.of(part));
                continue;
            }
            String name = part.name().startsWith(StackReader.CALLED) ? operations.slowOne(part.kind(), waiting) : null;
            named.add(name == null ? part : new Part(part.kind(), name), tasks.of(part));
        }
        return named;
    }

    /**
     * Returns the wait of an executor's tasks for other tasks of the same executor; null if most tasks do not wait for
     * other tasks. Tasks may wait for other tasks of their executor if application code waits directly rather than
     * through a library, and if tasks are queued for the executor's threads.
     *
     * @param name the common name of the executor's threads
     * @param pool the state of the executor; null if it is unknown
     */
    static @Nullable Part innerTasks(String name, TaskSamples executor, @Nullable PoolVerdict pool) {
        if (pool != null && pool.pool().now().inner() == 0) {
            return null; // the executor's threads have never submitted a task to it
        }
        Part own = submitsToItself(pool) ? executor.waitingForTasks() : null;
        Part waiting = own != null ? own : executor.waiting();
        boolean isFull = pool == null ? executor.isFull() : pool.pool().now().waiting() > 0;
        return waiting != null && isFull && executor.isOwnWait(waiting)
                ? new Part(Kind.RESULT, Part.TASKS_OF + name + " in " + waiting.name())
                : null;
    }

    /**
     * Returns whether the executor's own threads submit a large part of its tasks. If no task has started in the
     * observed period, any earlier submission is enough.
     */
    public static boolean submitsToItself(@Nullable PoolVerdict pool) {
        if (pool == null || pool.pool().now().inner() <= 0) {
            return false;
        }
        PoolSnapshot since = pool.pool().since();
        return since.taken() <= 0 || since.inner() >= INNER_SHARE * since.taken();
    }
}
