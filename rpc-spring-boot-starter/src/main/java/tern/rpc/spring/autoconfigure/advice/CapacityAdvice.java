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
import tern.rpc.advice.Goal;
import tern.rpc.advice.PoolSnapshot;
import tern.rpc.advice.PoolSource;
import tern.rpc.advice.Situation;
import tern.rpc.metrics.RpcMeters;

/**
 * What stands between this application and its target, now and as configured. Looks every few seconds, so that what it
 * says is about the last minute. Thread-safe.
 */
public final class CapacityAdvice {

    /** How far apart two looks are. */
    static final Duration INTERVAL = Duration.ofSeconds(10);

    /** How many are kept: a minute of them. */
    private static final int LOOKS = 7;

    /** In a minute: fewer say nothing about the application under load. */
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

    /** Every pool with its effective settings, as it is now. */
    public List<PoolSnapshot> pools() {
        return sources.get().map(PoolSource::snapshot).toList();
    }

    /** Findings on the configuration alone; what the start itself asked of the pools does not count. */
    List<Finding> atStart() {
        List<PoolSnapshot> unused =
                pools().stream().map(pool -> pool.since(pool)).toList();
        return Advisor.advise(Situation.atStart(goal, unused, logging.get()));
    }

    /** Findings on a minute with calls; empty as long as there was none, or too few calls to judge by. */
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

    /** Remembers the present for what is asked later. */
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
