package tern.rpc.diagnosis.rule;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.RejectedTasks;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.TaskWaits;
import tern.rpc.pool.PoolKind;

/**
 * Attributes the wait for a thread of an executor, and the rejections by a full executor, to the work that occupies the
 * executor's threads. If an executor is full because its tasks wait, for example for a connection or a lock, the full
 * executor is only a symptom. Neither more threads nor another executor would help while the tasks of an executor wait.
 */
final class TaskRules extends Rule {

    /** The minimum number of samples of busy threads. Fewer samples do not show what an executor's tasks wait for. */
    private static final int MIN_BUSY = 2;

    /** Tasks count as slower than usual if they take at least {@value} times their usual time. */
    private static final double SLOWER = 1.5;

    private static final Set<Kind> OPERATIONS = Set.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC);

    /** The kinds of work that make tasks slower although no operation became slower. */
    private static final Set<Kind> WORK =
            Set.of(Kind.RESOLVER, Kind.FILE, Kind.SOCKET, Kind.SLEEP, Kind.COMPUTING, Kind.LOG, Kind.NATIVE);

    /**
     * Work of tasks can be the cause of a full executor only if at least {@value} of the samples of its tasks show the
     * same work.
     */
    private static final double NEARLY_ALL = 0.9;

    private final OtherTasks others;

    TaskRules(Rule other) {
        super(other);
        this.others = new OtherTasks(evidence, excess, operations);
    }

    void apply() {
        for (Part part : byCause.longestFirst()) {
            PoolVerdict executor = executorOf(part);
            TaskSamples tasks = executor == null ? null : evidence.tasks().ofPool(executor.name());
            if (executor == null || tasks == null || tasks.busy < MIN_BUSY) {
                continue;
            }
            byCause.pour(
                    part,
                    reasons(executor, tasks),
                    part.kind() == Kind.EXECUTOR
                            ? "a full executor rejects tasks: " + executor.name() + RejectedTasks.placeIn(part)
                            : TimesByCause.WAIT_FOR + executor.resource());
        }
    }

    private @Nullable PoolVerdict executorOf(Part part) {
        PoolVerdict pool = switch (part.kind()) {
            case POOL -> PoolVerdict.find(pools, part);
            case EXECUTOR -> RejectedTasks.executorOf(part, pools);
            default -> null;
        };
        return pool != null && pool.pool().now().kind() == PoolKind.EXECUTOR ? pool : null;
    }

    /**
     * Returns the waits of the executor's tasks, if at least half of the samples of the tasks show such waits;
     * otherwise an empty result. A wait for other tasks of the same executor is included, because such tasks fill the
     * queue: the other tasks get no thread. Operations and other work are included only if the tasks belong to the
     * waiting calls and take longer than usual. Unrelated tasks that occupy the executor with operations need a
     * separate executor instead. Tasks also count as tasks of the waiting calls if these calls run a slow operation of
     * the same kind.
     */
    private Times reasons(PoolVerdict executor, TaskSamples tasks) {
        Times waits = new Times();
        Times slow = new Times();
        boolean mayBeSlower = isSlower(executor)
                && !TaskLoad.of(executor, evidence, excess).isTooMany()
                && !others.occupy(executor, tasks.parts);
        boolean slower = mayBeSlower && (isOfCalls(tasks) || runSlowerOperations(executor, tasks));
        Times ofCalls = mayBeSlower ? others.slowOperations(executor) : new Times();
        String threads = evidence.tasks().threadsOfPool(executor.name());
        Part connections = connectionsFor(executor, tasks);
        if (connections != null) {
            waits.add(connections, 1);
            return waits;
        }
        Part inner = threads == null ? null : ResultRules.innerTasks(threads, tasks, executor);
        boolean areForTasks =
                waitForTasksOfCalls(tasks) || waitForInner(executor, tasks) || isDeadlocked(executor, tasks);
        if (inner != null && (byCause.of(inner) > 0 || areForTasks)) {
            waits.add(inner, 1);
            return waits;
        }
        for (Part part : tasks.parts.longestFirst()) {
            double looks = tasks.parts.of(part);
            if (part.kind() == Kind.LOCK) {
                waits.add(part, looks);
            } else if (part.kind() == Kind.POOL) {
                PoolVerdict pool = PoolVerdict.find(pools, part);
                if (pool != null && isCause(pool)) {
                    waits.add(new Part(Kind.POOL, pool.name()), looks);
                }
            } else if (OPERATIONS.contains(part.kind()) && (slower || ofCalls.sum(part.kind()) > 0)) {
                slow.add(new Part(part.kind(), nameOf(part)), looks);
            } else if (part.kind() == Kind.RESULT) {
                Part awaited = awaited(executor, ofCalls);
                slow.add(awaited == null ? part : awaited, awaited == null ? 0 : looks);
            } else if (slower && WORK.contains(part.kind()) && looks >= NEARLY_ALL * tasks.parts.sum()) {
                slow.add(part, looks);
            }
        }
        double half = tasks.parts.sum() / 2;
        if (waits.sum() >= half) {
            return waits;
        }
        slow.addAll(waits, 1);
        return slow.sum() >= half ? slow : new Times();
    }

    /**
     * Returns the operation of a peer that tasks of the executor wait for without running it themselves, as with an
     * asynchronous client; null if there is none. The operation must take at least half of the tasks' time.
     *
     * @param ofCalls the slow operations of the calls whose tasks the executor runs
     */
    private @Nullable Part awaited(PoolVerdict executor, Times ofCalls) {
        double hold = executor.pool().holdNanos();
        return ofCalls.longestFirst().stream()
                .filter(part -> OPERATIONS.contains(part.kind()))
                .filter(part -> {
                    Phase phase = Operations.phase(part.kind());
                    return phase != null
                            && hold >= 0
                            && 2 * operations.of(phase, part.name()).eachNanos() >= hold;
                })
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns the pool of HTTP connections that the tasks wait for; null if there is none. A task that waits for the
     * answer of a reactive client shows only a wait for a result. The ledgers of its call and the pool show that the
     * client waits for a connection. Such waits must take most of the tasks' time.
     */
    private @Nullable Part connectionsFor(PoolVerdict executor, TaskSamples tasks) {
        Part waiting = tasks.waiting();
        if (waiting == null || tasks.isOwnWait(waiting) || executor.pool().holdNanos() < 0) {
            return null;
        }
        return byCause.longestFirst().stream()
                .filter(part -> part.kind() == Kind.POOL)
                .filter(part -> {
                    PoolVerdict pool = PoolVerdict.find(pools, part);
                    return pool != null
                            && pool.pool().now().kind() == PoolKind.HTTP
                            && isCause(pool)
                            && 2 * pool.pool().waitNanos() >= executor.pool().holdNanos();
                })
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns true if the tasks wait for tasks or futures and the executor's own threads submit many of its tasks. The
     * calls may then wait in a class whose code no task runs.
     */
    private static boolean waitForInner(PoolVerdict executor, TaskSamples tasks) {
        return ResultRules.submitsToItself(executor) && tasks.waitingForTasks() != null;
    }

    /**
     * Returns whether all threads run tasks of the waiting calls and wait for futures in application code. In addition,
     * no task has started in the observed period, and no task calls a remote method. The awaited futures then most
     * likely belong to tasks in the queue.
     */
    private boolean isDeadlocked(PoolVerdict executor, TaskSamples tasks) {
        return executor.pool().since().taken() == 0
                && tasks.isFull()
                && tasks.waitingForTasks() != null
                && !tasks.callsRemotely("")
                && isOfCalls(tasks);
    }

    /** Returns true if the tasks wait for other tasks and run code of a class in which late calls wait. */
    private boolean waitForTasksOfCalls(TaskSamples tasks) {
        Part waiting = tasks.waiting();
        return waiting != null && TaskWaits.isForTask(tasks.called.get(waiting)) && isOfCalls(tasks);
    }

    /**
     * Returns whether the pool may explain why executors are full. This is the case if the pool is not an executor
     * itself and the reason why calls wait for it is known.
     */
    private static boolean isCause(PoolVerdict pool) {
        return pool.pool().now().kind() != PoolKind.EXECUTOR && pool.reason() != PoolVerdict.Reason.UNKNOWN;
    }

    private static boolean isSlower(PoolVerdict executor) {
        double usual = executor.pool().usualHoldNanos();
        double hold = executor.pool().holdNanos();
        // The mean duration of tasks is negative until the first slow task has ended. An unknown duration therefore
        // counts as slow.
        return !executor.name().equals(ExecutorNames.COMMON_POOL) && usual > 0 && (hold < 0 || hold >= SLOWER * usual);
    }

    /**
     * Returns whether the executor's threads run operations outside of calls that have become slower. The executor is
     * then full because of the peer of these operations, and not because of its size.
     */
    private boolean runSlowerOperations(PoolVerdict executor, TaskSamples tasks) {
        String threads = evidence.tasks().threadsOfPool(executor.name());
        return threads != null && Boolean.TRUE.equals(new OutsideWork(evidence).isAnySlower(threads, tasks));
    }

    /** Returns whether the tasks run code of a class in which late calls wait. */
    private boolean isOfCalls(TaskSamples tasks) {
        return excess.account.longestFirst().stream()
                .filter(ResultRules::waitsForOthers)
                .anyMatch(part -> tasks.runs(excess.samples.lineOf(part)));
    }

    /**
     * Returns the name of the longest slow operation of the same kind in the calls' ledgers, because the stack of a
     * task does not show the name of its operation. If there is no such operation, returns the name of the sampled
     * activity.
     */
    private String nameOf(Part sampled) {
        List<Part> known = byCause.only(part -> part.kind() == sampled.kind()
                        && !part.name().isEmpty()
                        && !part.name().startsWith(StackReader.CALLED)
                        && operations.isSlower(part))
                .longestFirst();
        return known.isEmpty() ? sampled.name() : known.get(0).name();
    }
}
