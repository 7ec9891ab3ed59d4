package tern.rpc.diagnosis.excess;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.diagnosis.account.CallTrace;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.diagnosis.calls.Answers;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.MethodAllocation;
import tern.rpc.diagnosis.calls.MethodRate;
import tern.rpc.diagnosis.failure.TimeLimit;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.machine.OpenFileUse;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.sample.HeldRows;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.pool.LoggingMode;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolKind;

/**
 * The evidence about late, failed and refused calls, collected during the observed period.
 *
 * @param targetNanos the latency target
 * @param seconds the length of the observed period in seconds
 * @param missedNanos the time since calls began to miss the latency target, in nanoseconds
 * @param bad the recorded calls that were late or failed, and the running calls that hang
 * @param good some of the calls that met the target
 * @param earlier the recorded late or failed calls of the last minutes that no limiter in this process refused
 * @param earlierGood some of the calls of the last minutes that met the target
 * @param samples the samples of the calls' threads
 * @param tasks the samples of executors' tasks
 * @param heldRows the transactions that held locks while statements waited
 * @param logging how log lines are written
 * @param methodAges the time since the first call to each method, in nanoseconds
 * @param trace the most recent calls in order of arrival, for a replay
 * @param calls the call counts in the observed period
 * @param refused the number of refused calls by reason
 * @param answers when calls last ended without a failure, which also shows when databases and Redis servers last
 *     answered
 * @param rates how often each method is called
 * @param limits the time limits of operations that are set by properties
 * @param outside the current times of operations run by threads that serve no call
 * @param files what the open files and sockets of this process refer to
 * @param allocations the memory that the calls to each method allocate
 */
public record Evidence(
        long targetNanos,
        double seconds,
        long missedNanos,
        List<EndedCall> bad,
        List<EndedCall> good,
        List<EndedCall> earlier,
        List<EndedCall> earlierGood,
        Map<CallLedger, SampledCall> samples,
        TaskWatch tasks,
        HeldRows heldRows,
        LoggingMode logging,
        Map<String, Long> methodAges,
        List<CallTrace.Call> trace,
        Baseline usual,
        PauseTimes pauses,
        List<ObservedPool> pools,
        Map<String, Long> refused,
        Counts calls,
        Machine machine,
        Answers answers,
        List<MethodRate> rates,
        List<TimeLimit> limits,
        List<OutsideOperations.Timed> outside,
        OpenFileUse files,
        List<MethodAllocation> allocations) {

    /**
     * Busy processors can make an operation longer by at most {@value} waits for a processor. An operation has several
     * steps on different threads, and each step may wait.
     */
    private static final double MAX_WAITS = 20;

    public Evidence {
        bad = List.copyOf(bad);
        good = List.copyOf(good);
        earlier = List.copyOf(earlier);
        earlierGood = List.copyOf(earlierGood);
        pools = List.copyOf(pools);
        rates = List.copyOf(rates);
        limits = List.copyOf(limits);
        outside = List.copyOf(outside);
        allocations = List.copyOf(allocations);
        trace = List.copyOf(trace);
    }

    /**
     * The number of calls in the observed period.
     *
     * @param late the number of calls that took longer than the latency target, including failed calls
     * @param hung the number of running calls that have taken more than ten times the target so far
     */
    public record Counts(long calls, long late, long failed, long refused, int hung) {

        /** Returns a copy with additional late calls. */
        public Counts withLate(long more) {
            return more == 0 ? this : new Counts(calls, Math.min(calls, late + more), failed, refused, hung);
        }

        public long bad() {
            return Math.max(1, Math.max(late, failed) + refused + hung);
        }
    }

    /**
     * Returns the pool of workers that calls wait for. A process may have several servers, each with a pool of
     * workers.
     */
    @Nullable
    public ObservedPool workers() {
        return pools.stream()
                .filter(pool -> pool.now().kind() == PoolKind.WORKERS)
                .max(Comparator.comparingInt(pool -> pool.now().waiting()))
                .orElse(null);
    }

    /** Returns the maximum time, in nanoseconds, by which busy processors can make an operation longer. */
    public double maxDelayNanos() {
        return Math.max((double) targetNanos, MAX_WAITS * machine.delay().nanos());
    }
}
