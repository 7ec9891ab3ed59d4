package tern.rpc.spring.autoconfigure.advice;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import tern.rpc.NanoClock;
import tern.rpc.advice.Advisor;
import tern.rpc.advice.CallSnapshot;
import tern.rpc.advice.Finding;
import tern.rpc.advice.Situation;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.pool.Goal;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/**
 * Finds the causes of a missed target, at run time and in the configuration. It takes a snapshot every few seconds, so
 * that its findings concern the last minute. Thread-safe.
 */
public final class CapacityAdvice {

    /** The time between two snapshots. */
    static final Duration INTERVAL = Duration.ofSeconds(10);

    /** The number of kept snapshots, for one minute. */
    private static final int LOOKS = 7;

    /** Fewer calls in a minute say nothing about the application under load. */
    private static final int FEWEST_CALLS = 100;

    private final Goal goal;
    private final Supplier<Stream<PoolSource>> sources;
    private final RpcMeters meters;
    private final Supplier<Situation.LoggingMode> logging;
    private final NanoClock clock;
    private final Supplier<ProcessorTime> processorTime;
    private final Deque<Look> looks = new ArrayDeque<>(); // guarded by this

    CapacityAdvice(
            Goal goal,
            Supplier<Stream<PoolSource>> sources,
            RpcMeters meters,
            Supplier<Situation.LoggingMode> logging,
            NanoClock clock,
            Supplier<ProcessorTime> processorTime) {
        this.goal = goal;
        this.sources = sources;
        this.meters = meters;
        this.logging = logging;
        this.clock = clock;
        this.processorTime = processorTime;
    }

    /** Findings on the last minute, or on the time since the start; the likeliest cause first. */
    public List<Finding> findings() {
        return Advisor.advise(situation());
    }

    /** Every pool with its present effective settings. */
    public List<PoolSnapshot> pools() {
        return sources.get().map(PoolSource::snapshot).toList();
    }

    /** The findings on the configuration only; the start's own use of the pools does not count. */
    List<Finding> atStart() {
        List<PoolSnapshot> unused =
                pools().stream().map(pool -> pool.since(pool)).toList();
        return Advisor.advise(Situation.atStart(goal, unused, logging.get()));
    }

    /** The findings on a minute with calls; empty if there were no or too few calls. */
    Optional<List<Finding>> afterAMinuteOfCalls() {
        synchronized (this) {
            if (looks.size() < LOOKS) {
                return Optional.empty();
            }
        }
        Situation situation = situation();
        double rate = Stream.concat(situation.served().stream(), situation.called().stream())
                .mapToDouble(CallSnapshot::qps)
                .sum();
        return rate * 60 < FEWEST_CALLS ? Optional.empty() : Optional.of(Advisor.advise(situation));
    }

    Situation situation() {
        Look now = take();
        Look then;
        synchronized (this) {
            then = looks.isEmpty() ? now : looks.getFirst();
        }
        return new Situation(
                goal,
                now.poolsSince(then),
                now.servedSince(then),
                now.calledSince(then),
                logging.get(),
                now.cpuSince(then));
    }

    /** Takes a snapshot. */
    void look() {
        Look now = take();
        synchronized (this) {
            looks.addLast(now);
            if (looks.size() > LOOKS) {
                looks.removeFirst();
            }
        }
    }

    private Look take() {
        return Look.at(clock.nanoTime(), pools(), meters, processorTime.get());
    }
}
