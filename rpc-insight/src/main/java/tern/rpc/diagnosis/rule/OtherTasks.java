package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.PoolSnapshot;

/**
 * Recognizes executors that are busy with tasks that no call has submitted, such as the tasks of a job. The tasks of
 * calls then wait for a thread, although they themselves take no longer than usual.
 */
public final class OtherTasks {

    private static final double HALF = 0.5;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;

    public OtherTasks(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
    }

    /** Returns whether tasks that no call has submitted take at least half of the executor's busy time. */
    public boolean occupy(PoolVerdict executor) {
        return share(executor.pool()) >= HALF;
    }

    /**
     * Returns whether tasks that no call has submitted occupy the executor, as in {@link #occupy(PoolVerdict)}. Returns
     * false if the waiting calls run a slow operation of the kind that the tasks run most of the time. This operation
     * then most likely slows down the calls' own tasks, too. The executor also runs the few tasks of the calls, so it
     * does not matter whether operations of other kinds are slower.
     *
     * @param tasks the activities in samples of the executor's tasks
     */
    public boolean occupy(PoolVerdict executor, Times tasks) {
        Set<Kind> all = tasks.longestFirst().stream().map(Part::kind).collect(Collectors.toSet());
        Set<Kind> main = all.stream()
                .filter(kind -> tasks.sum(kind) > HALF * tasks.sum())
                .collect(Collectors.toSet());
        Set<Kind> kinds = main.isEmpty() ? all : main;
        return occupy(executor)
                && slowOperations(executor)
                        .only(part -> kinds.contains(part.kind()))
                        .isEmpty();
    }

    /** Returns the operations that became slower in calls that wait for a thread of the executor, with their times. */
    Times slowOperations(PoolVerdict executor) {
        return excess.ofCallsWith(
                        part -> part.kind() == Kind.POOL && part.name().equals(executor.name()))
                .only(part -> !part.name().isEmpty()
                        && !part.name().startsWith(StackReader.CALLED)
                        && operations.isSlower(part));
    }

    /**
     * Returns the share of the executor's busy time that is spent on tasks without a call. If completed tasks account
     * for fewer than half of the busy threads, long tasks must still be running. The share is then computed from the
     * currently running tasks.
     */
    private double share(ObservedPool pool) {
        PoolSnapshot.OtherTasks others = pool.since().others();
        double ranNanos = pool.since().held().toNanos();
        // If the submitting code is unknown, a library submitted the tasks, possibly on behalf of a call, for example
        // when an asynchronous answer arrived.
        if (others == null || others.submittedIn() == null || ranNanos < 0) {
            return 0;
        }
        double busy = ranNanos / 1e9 / evidence.seconds();
        return busy >= HALF * pool.now().max()
                ? others.ran().toNanos() / Math.max(1, ranNanos)
                : (double) others.running() / Math.max(1, pool.now().active());
    }

    /** Returns the cause description for an executor that is busy with tasks that no call has submitted. */
    public CauseDescription describe(PoolVerdict executor) {
        PoolSnapshot now = executor.pool().now();
        PoolSnapshot since = executor.pool().since();
        PoolSnapshot.OtherTasks others = since.others();
        String place = others == null ? null : others.submittedIn();
        List<String> facts = new ArrayList<>();
        facts.add("threads  " + now.active() + " of " + now.max() + " busy, " + now.waiting() + " tasks wait");
        if (others != null && others.started() > 0) {
            facts.add(String.format(
                    Locale.ROOT,
                    "others   %.0f of %.0f tasks/s do not belong to calls and take %s ms each; tasks of calls take %s"
                            + " ms",
                    others.started() / evidence.seconds(),
                    since.taken() / evidence.seconds(),
                    each(others.ran().toNanos(), others.started()),
                    each(since.held().minus(others.ran()).toNanos(), since.taken() - others.started())));
        }
        return new CauseDescription(
                "BUSY WITH OTHER TASKS", now.name(), Change.of(Where.CODE, change(now, place)), facts);
    }

    private static String change(PoolSnapshot pool, @Nullable String place) {
        return "use a separate executor for the tasks that "
                + (place == null ? "no call submits" : "are submitted in " + place)
                + ": they occupy the " + (pool.max() == 1 ? "only thread" : pool.max() + " threads") + " of \""
                + pool.name() + "\", for which calls wait; or submit them more slowly";
    }

    private static String each(long nanos, long tasks) {
        return Times.millis((double) Math.max(0, nanos) / Math.max(1, tasks));
    }
}
