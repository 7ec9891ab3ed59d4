package tern.rpc.diagnosis.excess;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.OutsideOperations;

/**
 * Finds the statement of a thread that serves no call but produces a result that calls wait for. Samples of the thread
 * show only the code that runs the statement, so the statement itself is taken from other records.
 */
public final class OutsideStatements {

    /** A statement is assumed to wait for a lock if it takes more than {@value} times its usual time. */
    private static final double LOCKED_FACTOR = 20;

    private final Evidence evidence;
    private final Map<String, PoolVerdict> pools;

    public OutsideStatements(Evidence evidence, Map<String, PoolVerdict> pools) {
        this.evidence = evidence;
        this.pools = pools;
    }

    /**
     * A statement of a thread that serves no call.
     *
     * @param nanos how long the statement has run so far, or how long it took
     * @param usualNanos its usual time; -1 if unknown
     */
    public record Found(String statement, String threads, double nanos, double usualNanos, long targetNanos) {

        /** Returns whether the statement suddenly became so much slower that it most likely waits for a lock. */
        public boolean waitsForLock() {
            return usualNanos >= 0 && nanos > LOCKED_FACTOR * usualNanos && 2 * nanos > targetNanos;
        }

        public String fact() {
            return "outside  takes " + Times.millis(nanos) + " ms in thread " + threads + "*"
                    + (usualNanos < 0 ? "" : ", usually " + Times.millis(usualNanos) + " ms");
        }
    }

    /**
     * Returns the statement that other threads are currently running in the given activity. If no such statement is
     * running, returns the statement whose last execution took longest. Returns null if the statement is unknown.
     */
    @Nullable
    public Found of(Part called) {
        String threads =
                called.name().startsWith(StackReader.CALLED) ? evidence.tasks().executorIn(called) : null;
        if (threads == null) {
            return null;
        }
        long now = System.nanoTime();
        Holder longest = pools.values().stream()
                .filter(PoolVerdict::isDatabase)
                .flatMap(pool -> pool.pool().holders().stream())
                .filter(holder -> holder.isExecuting() && !holder.call().isOpen())
                .filter(holder -> areOf(holder.thread().getName(), threads))
                .max(Comparator.comparingLong(holder -> now - holder.statementNanos()))
                .orElse(null);
        String running = longest == null ? null : longest.statement();
        if (longest != null && running != null) {
            return found(running, threads, (double) (now - longest.statementNanos()));
        }
        List<OutsideOperations.Timed> ended = evidence.outside().stream()
                .filter(timed -> timed.kind() == Phase.SQL && areOf(timed.threadName(), threads))
                .toList();
        return ended.stream()
                .max(Comparator.comparingDouble(OutsideOperations.Timed::nanos))
                .map(timed -> found(timed.name(), threads, timed.nanos()))
                .orElse(null);
    }

    private Found found(String statement, String threads, double nanos) {
        String key = new OutsideOperations.Timed(Phase.SQL, statement, threads, nanos).key();
        double usually = evidence.usual().reliableFigure(Baseline.OUTSIDE + key);
        return new Found(statement, threads, nanos, usually, evidence.targetNanos());
    }

    private static boolean areOf(String thread, String threads) {
        String name = TaskWatch.nameOf(thread);
        return name.equals(threads) || ExecutorNames.poolOf(name).equals(threads);
    }
}
