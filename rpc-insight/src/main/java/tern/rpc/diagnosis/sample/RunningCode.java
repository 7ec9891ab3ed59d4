package tern.rpc.diagnosis.sample;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import tern.rpc.CallLedger;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.evidence.RunQueue;
import tern.rpc.evidence.RunTime;

/**
 * Measures how threads that were found computing divide the next milliseconds between running and waiting for a
 * processor. On a busy machine, samples are rare, so most calls end before their second sample. Not thread-safe: only
 * one thread uses it.
 */
final class RunningCode {

    /** The pause before the second reading. The kernel updates the counters of a running thread at each tick. */
    static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    /** A sample is taken again instead if the first reading is older than this. */
    private static final long MAX_AGE_NANOS = TimeUnit.MILLISECONDS.toNanos(60);

    private final List<Found> found = new ArrayList<>();

    /** A thread that was found computing, with its counters at that time. */
    private record Found(SampledCall call, CallLedger ledger, Thread thread, Sample sample, RunTime counters) {}

    /** Remembers a thread if the sample shows running code of its call. */
    void add(SampledCall call, CallThread worker, Sample sample, RunQueue runQueue) {
        if (sample.isOwn() && sample.isComputing() && sample.cpuNanos() >= 0) {
            Thread thread = worker.work().thread();
            found.add(new Found(call, worker.call().ledger(), thread, sample, runQueue.of(thread)));
        }
    }

    boolean isDue() {
        return !found.isEmpty();
    }

    /**
     * Reads the counters of the remembered threads again, and forgets the threads.
     *
     * @return whether the threads were remembered only a short time ago, so that another sample is not needed yet
     */
    boolean measure(RunQueue runQueue, long now) {
        boolean isEarly = isDue() && now - found.get(0).sample.atNanos() < MAX_AGE_NANOS;
        for (Found one : found) {
            RunTime since = one.ledger.isEnded()
                    ? RunTime.UNKNOWN
                    : runQueue.of(one.thread).since(one.counters);
            if (since.isKnown()) {
                one.call.runTimes.put(one.sample, since);
            }
        }
        found.clear();
        return isEarly;
    }

    void clear() {
        found.clear();
    }
}
