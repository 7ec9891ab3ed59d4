package tern.rpc.advice;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.pool.Goal;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/**
 * How much of a pool is wanted: now, by what was measured, and at the target, by Little's law.
 *
 * @param pool what is asked of
 * @param goal what is to be reached
 * @param usesPerCall how often an average call takes something from the pool
 * @param holdSeconds for how long; 0 when nobody measures
 * @param waited by an average call, zero when unknown; for a task no call is known to wait
 */
record Demand(PoolSnapshot pool, Goal goal, double usesPerCall, double holdSeconds, Duration waited) {

    /** A pool that is used evenly needs this much more than the average; arrivals come in bursts. */
    private static final double SLACK = 1.2;

    /** Of the target: below it a wait is not what makes calls slow. */
    private static final double SHARE = 0.1;

    /** Of all that was asked for: fewer refusals come from a pause of the process or of the other side, not from the size. */
    private static final double SHARE_REFUSED = 0.001;

    static Demand of(Situation situation, PoolSnapshot pool) {
        Phase waiting = waitingFor(pool.kind());
        double uses = waiting == null ? 1 : situation.operationsPerCall(waiting);
        boolean measured = pool.taken() > 0 && !pool.held().isNegative();
        double hold = measured ? pool.held().toNanos() / 1e9 / pool.taken() : 0;
        Duration wait = waiting == null ? Duration.ZERO : situation.timePerCall(waiting);
        if (waiting != null
                && wait.isZero()
                && pool.taken() > 0
                && !pool.waited().isNegative()) {
            wait = Duration.ofNanos((long) (pool.waited().toNanos() / (double) pool.taken() * uses));
        }
        return new Demand(pool, situation.goal(), uses, hold, wait);
    }

    static @Nullable Phase waitingFor(PoolKind kind) {
        return switch (kind) {
            case WORKERS -> Phase.QUEUE;
            case JDBC -> Phase.JDBC_CONNECTION;
            case REDIS -> Phase.REDIS_CONNECTION;
            case HTTP -> Phase.HTTP_CONNECTION;
            case EXECUTOR, LOGGING -> null;
        };
    }

    boolean isMeasured() {
        return holdSeconds > 0;
    }

    /** Whether calls are noticeably slower, or fail, because of the pool. */
    boolean isFelt() {
        return waited.toNanos() > SHARE * goal.latency().toNanos() || isRefusing();
    }

    /** Whether all that can be handed out is handed out, and somebody waits. */
    boolean isFull() {
        return (pool.waiting() > 0 && pool.active() >= pool.effectiveMax()) || isRefusing();
    }

    private boolean isRefusing() {
        return pool.refused() > SHARE_REFUSED * (Math.max(0, pool.taken()) + pool.refused());
    }

    /** Whether there would be enough, if those who have one did not wait for a processor before they give it back. */
    boolean isHeldUp(Situation.Cpu cpu) {
        return cpu.isFull() && isMeasured() && needed() <= pool.effectiveMax();
    }

    /** How many are in use at once at the target, with some slack; 0 when nobody measures. */
    int needed() {
        return (int) Math.ceil(goal.qps() * usesPerCall * holdSeconds * SLACK);
    }

    String arithmetic() {
        if (!isMeasured()) {
            return pool.max() + " are there";
        }
        return goal.qps() + " calls/s × " + Advisor.number(usesPerCall) + " × "
                + Advisor.millis(Duration.ofNanos((long) (holdSeconds * 1e9))) + " keep "
                + Advisor.number(goal.qps() * usesPerCall * holdSeconds) + " busy, " + pool.effectiveMax()
                + " are there";
    }

    /** What is to be seen now, as the end of a sentence; empty when there is nothing to be seen. */
    String evidence() {
        StringBuilder text = new StringBuilder();
        if (pool.waiting() > 0) {
            text.append(", ").append(pool.waiting()).append(" wait");
        }
        if (!waited.isZero()) {
            text.append(", ").append(Advisor.millis(waited)).append(" a call");
        }
        if (pool.refused() > 0) {
            text.append(", ").append(pool.refused()).append(" got none");
        }
        return text.toString();
    }

    /** The rate for which so many are enough. */
    String servedBy(int size) {
        if (!isMeasured()) {
            return size + " at once";
        }
        return (long) (size / SLACK / (usesPerCall * holdSeconds)) + " calls/s";
    }

    /** The setting with this use, or words for what only code can set. */
    static PoolSetting setting(PoolSnapshot pool, PoolSetting.Use use, String otherwise) {
        return pool.setting(use).orElseGet(() -> new PoolSetting(otherwise, "", PoolSetting.Source.LIBRARY, use));
    }

    static String thing(PoolKind kind) {
        return switch (kind) {
            case WORKERS, EXECUTOR -> "threads";
            case JDBC, REDIS, HTTP -> "connections";
            case LOGGING -> "entries";
        };
    }
}
