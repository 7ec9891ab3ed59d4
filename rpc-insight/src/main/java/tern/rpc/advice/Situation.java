package tern.rpc.advice;

import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import tern.rpc.Phase;
import tern.rpc.pool.Goal;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * All that advice looks at. At the start there are pools with their settings; calls and processor time come later.
 *
 * @param goal what the application is meant to reach
 * @param pools with counts of the last while, not of all time
 * @param served calls that this application answers
 * @param called calls that it makes
 * @param logging how lines reach their appenders
 * @param cpu processor time of this process
 */
public record Situation(
        Goal goal,
        List<PoolSnapshot> pools,
        List<CallSnapshot> served,
        List<CallSnapshot> called,
        LoggingMode logging,
        Cpu cpu) {

    private static final Set<Phase> WAITS = EnumSet.complementOf(EnumSet.of(Phase.QUEUE, Phase.DECODE, Phase.OWN));

    /** How a line of the log reaches its appenders. */
    public enum LoggingMode {
        /** By a background thread: callers never wait. */
        ASYNCHRONOUS,
        /** By the caller, as the user or the logging system has it. */
        SYNCHRONOUS,
        /** By the caller, although the library was asked for the other: the ring needs the jar "disruptor". */
        NO_DISRUPTOR
    }

    /**
     * Processor time in the last while.
     *
     * @param processors of the machine
     * @param busy processors that this process kept busy on average
     * @param machine processors that all processes together kept busy; that of this one when the system does not tell
     * @param groups of threads, each with its part of that
     */
    public record Cpu(int processors, double busy, double machine, List<ThreadGroupCpu> groups) {

        /** Nobody has measured yet. */
        public static final Cpu UNKNOWN = new Cpu(1, 0, 0, List.of());

        public Cpu {
            groups = List.copyOf(groups);
        }

        /** Little more fits in, whoever fills it: what is slow now waits for a processor. */
        boolean isFull() {
            return Math.max(busy, machine) >= 0.8 * processors;
        }
    }

    public Situation {
        pools = List.copyOf(pools);
        served = List.copyOf(served);
        called = List.copyOf(called);
    }

    /** Nothing but configuration: what can be said before the first call. */
    public static Situation atStart(Goal goal, List<PoolSnapshot> pools, LoggingMode logging) {
        return new Situation(goal, pools, List.of(), List.of(), logging, Cpu.UNKNOWN);
    }

    Stream<PoolSnapshot> pools(PoolKind... kinds) {
        return pools.stream().filter(pool -> Arrays.asList(kinds).contains(pool.kind()));
    }

    /** Whether the calls of this method are slower than they are meant to be. */
    boolean misses(CallSnapshot call) {
        return call.p99().compareTo(goal.latency()) > 0;
    }

    boolean missesTarget() {
        return served.stream().anyMatch(this::misses);
    }

    /** Now if calls are slow now, else later. */
    Severity urgency() {
        return missesTarget() ? Severity.BLOCKS : Severity.RISKS;
    }

    /**
     * Whether served calls take something from pools of this kind. Statements of the start or of a health check say
     * nothing about calls. Without ledgers nobody knows, and they are taken to do so.
     */
    boolean isUsedByCalls(PoolKind kind) {
        Phase waiting = Demand.waitingFor(kind);
        if (waiting == null || kind == PoolKind.WORKERS) {
            return true;
        }
        boolean ledgers = served.stream().anyMatch(call -> !call.phases().isEmpty());
        return !served.isEmpty()
                && (!ledgers
                        || served.stream().anyMatch(call -> call.use(waiting).operations() > 0));
    }

    /** Operations per served call, over all methods; 1 when nobody counts. */
    double operationsPerCall(Phase phase) {
        double calls = served.stream().mapToDouble(CallSnapshot::qps).sum();
        double operations = served.stream()
                .mapToDouble(call -> call.qps() * call.use(phase).operations())
                .sum();
        return calls == 0 || operations == 0 ? 1 : operations / calls;
    }

    /** Time per served call, over all methods. */
    Duration timePerCall(Phase phase) {
        double calls = served.stream().mapToDouble(CallSnapshot::qps).sum();
        double nanos = served.stream()
                .mapToDouble(call -> call.qps() * call.use(phase).time().toNanos())
                .sum();
        return calls == 0 ? Duration.ZERO : Duration.ofNanos((long) (nanos / calls));
    }

    /** Whether the workers are busy with waiting for others, which makes more of them no remedy. */
    boolean callsMostlyWait() {
        long waits =
                WAITS.stream().mapToLong(phase -> timePerCall(phase).toNanos()).sum();
        long work = timePerCall(Phase.OWN).plus(timePerCall(Phase.DECODE)).toNanos();
        return waits > work;
    }

    /** The slowest of the methods that are served. */
    Optional<CallSnapshot> slowest() {
        return served.stream().max(Comparator.comparing(CallSnapshot::mean));
    }
}
