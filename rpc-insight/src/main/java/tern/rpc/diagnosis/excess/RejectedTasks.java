package tern.rpc.diagnosis.excess;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.failure.Rejections;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Finds the executors that reject the tasks of calls. */
public final class RejectedTasks {

    /** Tasks count as slower than usual if they take at least {@value} times their usual time. */
    private static final double SLOWER = 1.5;

    private static final String IN = " in ";

    private final Evidence evidence;
    private final Sizing sizing;
    private final Map<String, PoolVerdict> pools;

    /**
     * Recommends a change for an executor, given the number of tasks that the executor starts per second and the mean
     * duration of the tasks.
     */
    @FunctionalInterface
    public interface Sizing {
        Change change(PoolSnapshot pool, double takings, double holdNanos, boolean slower);
    }

    /** An executor that rejects tasks. The name consists of the executor's name and the code that submits the tasks. */
    public record Rejection(String name, Change change, List<String> facts) {}

    public RejectedTasks(Evidence evidence, Sizing sizing, Map<String, PoolVerdict> pools) {
        this.evidence = evidence;
        this.sizing = sizing;
        this.pools = pools;
    }

    /** Returns the code that submitted the rejected task, with a leading {@code in}; empty if unknown. */
    public static String placeIn(Part part) {
        int at = part.name().indexOf(IN);
        return at < 0 ? "" : part.name().substring(at);
    }

    /** Returns the executor that caused the given failure by rejecting tasks, with the recommended change. */
    public Rejection of(Part part) {
        String place = placeIn(part);
        if (part.name().startsWith(Rejections.ELASTIC)) {
            return new Rejection(
                    part.name(),
                    Change.of(
                            Where.CODE,
                            "use a non-blocking client or shorter tasks for Schedulers.boundedElastic(), or raise "
                                    + ExecutorNames.ELASTIC_SIZE
                                    + ": all of its threads are busy and its queue is full, so it rejects tasks"
                                    + place),
                    List.of());
        }
        PoolVerdict full = executorOf(part, pools);
        if (full == null) {
            return new Rejection(
                    place.isEmpty() ? "executor" : "executor used" + place,
                    Change.of(
                            Where.CODE,
                            "an executor rejects tasks" + place
                                    + ": use shorter tasks, more threads, a longer queue, or a rejection policy"
                                    + " other than abort"),
                    List.of());
        }
        PoolSnapshot pool = full.pool().now();
        PoolSnapshot since = full.pool().since();
        double tasks = (since.taken() + Math.max(0, since.refused())) / evidence.seconds();
        double hold = full.pool().holdNanos();
        double usual = full.pool().usualHoldNanos();
        List<String> facts = new ArrayList<>();
        facts.add("threads  " + pool.active() + " of " + pool.max() + " busy, " + pool.waiting() + " tasks wait"
                + (pool.queueCapacity() < 0 ? "" : " in a queue for " + pool.queueCapacity()));
        if (since.refused() > 0) {
            facts.add("rejected " + since.refused() + " tasks" + place);
        }
        Change change = sizing.change(pool, tasks, hold, usual > 0 && hold > SLOWER * usual);
        return new Rejection(
                pool.name() + place,
                change.property() != null
                        ? change
                        : Change.of(change.where(), change.text() + "; its queue is full, so it rejects tasks" + place),
                facts);
    }

    /**
     * Returns the executor in the name of the given failure. If the name contains no executor, returns the executor
     * that rejected the most tasks. Returns null if no executor rejected tasks.
     */
    public static @Nullable PoolVerdict executorOf(Part part, Map<String, PoolVerdict> pools) {
        int at = part.name().indexOf(IN);
        PoolVerdict named = pools.get(at < 0 ? part.name() : part.name().substring(0, at));
        return named != null
                ? named
                : pools.values().stream()
                        .filter(verdict -> verdict.pool().now().kind() == PoolKind.EXECUTOR)
                        .filter(verdict -> verdict.pool().since().refused() > 0)
                        .max(Comparator.comparingLong((PoolVerdict verdict) ->
                                        verdict.pool().since().refused())
                                .thenComparing(PoolVerdict::name))
                        .orElse(null);
    }
}
