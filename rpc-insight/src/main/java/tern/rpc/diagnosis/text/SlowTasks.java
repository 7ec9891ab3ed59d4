package tern.rpc.diagnosis.text;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.rule.OutsideWork;
import tern.rpc.diagnosis.rule.ResultRules;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.PoolSnapshot;

/**
 * Recommends a change for an executor whose tasks became slower, if nearly all of its running tasks do the same work
 * and belong to the calls waiting for them. A separate executor for these tasks would then not help.
 */
final class SlowTasks {

    /**
     * Tasks count as doing the same work if at least {@value} of the samples of busy threads show the same activity.
     */
    private static final double NEARLY_ALL = 0.9;

    private final Evidence evidence;
    private final ExcessTime excess;

    SlowTasks(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
    }

    /**
     * Returns the advice to find out why the tasks became slower; null if the tasks do several things. Also returns
     * null if the executor rejects no tasks and calls wait in classes whose code the tasks do not run.
     *
     * @param rejects whether the executor rejects tasks of calls. These tasks most likely do the same work as the
     *     running tasks
     * @param holdNanos the mean duration of a task; negative if no task has ended
     * @param usualNanos the usual duration of a task
     * @param more another recommendation, such as more threads; an empty string if nothing else helps
     */
    @Nullable
    Change change(PoolSnapshot pool, boolean rejects, double holdNanos, double usualNanos, String more) {
        TaskSamples tasks = evidence.tasks().ofPool(pool.name());
        Part same = tasks == null ? null : same(tasks);
        if (tasks == null || same == null || (!rejects && !isOfCalls(tasks))) {
            return null;
        }
        return Change.of(
                Where.CODE,
                String.format(
                        Locale.ROOT,
                        "find out why the tasks of \"%s\" %s: nearly all of them %s; %s",
                        pool.name(),
                        holdNanos < 0
                                ? "do not end, which usually take " + Times.millis(usualNanos) + " ms"
                                : "take " + Times.millis(holdNanos) + " ms each instead of " + Times.millis(usualNanos),
                        doing(same, tasks) + slower(same),
                        (more.isEmpty() ? "neither more threads nor a separate executor helps" : more)
                                + (rejects
                                        ? "; if a task may be dropped or run later, do not let its call fail"
                                        : "")));
    }

    /** Returns the slow operations of the tasks, in parentheses; empty if none is known. */
    private String slower(Part same) {
        String slower = new OutsideWork(evidence).text(same);
        return slower.isEmpty() ? "" : " (" + slower + ")";
    }

    /** Returns what nearly all running tasks do; null if they do several things or there are too few samples. */
    private static @Nullable Part same(TaskSamples tasks) {
        Part longest = tasks.parts.isEmpty() || tasks.busy < TaskSamples.MIN_BUSY
                ? null
                : tasks.parts.longestFirst().get(0);
        return longest != null && tasks.parts.of(longest) >= NEARLY_ALL * tasks.parts.sum() ? longest : null;
    }

    /** Returns whether the tasks run code of a class in which late calls wait for results. */
    private boolean isOfCalls(TaskSamples tasks) {
        return excess.account.longestFirst().stream()
                .filter(ResultRules::waitsForOthers)
                .anyMatch(part -> tasks.runs(excess.samples.lineOf(part)));
    }

    private static String doing(Part part, TaskSamples tasks) {
        TaskSamples.LockOwner owner = tasks.lockOwners.get(part);
        String place = CodeText.shown(part, tasks);
        return switch (part.kind()) {
            case SOCKET, HTTP, RPC -> "wait in " + place + " for a peer; check this peer, or set a shorter timeout";
            case RESOLVER -> "look up a host name in " + place + "; check the DNS resolver of this machine";
            case FILE -> "read or write a file in " + place;
            case SQL -> "run a statement in " + place;
            case REDIS -> "run a Redis command in " + place;
            case LOG -> "write log lines in " + place;
            case SLEEP -> "sleep in " + place;
            case RESULT -> "wait for a result in " + place;
            case POOL -> "wait for a connection in " + place;
            case LOCK ->
                "wait in " + place + " for a lock"
                        + (owner == null ? "" : ", which is held in " + ApplicationCode.shown(owner.line()));
            case COMPUTING -> "compute in " + place;
            default -> "are in " + place;
        };
    }
}
