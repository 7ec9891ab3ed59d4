package tern.rpc.server;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NanoClock;
import tern.rpc.RunningCall;
import tern.rpc.ServerContext;
import tern.rpc.metrics.Slo;
import tern.rpc.metrics.SlowCallRing;
import tern.rpc.metrics.SlowCalls;

/**
 * Creates the ledger of each call, which records how long the call's phases take. Also keeps a table of the running
 * calls, and adds up the ledgers of completed calls. Thread-safe.
 */
final class CallLedgers {

    private static final Duration LOOK_EVERY = Duration.ofMillis(20);
    private static final int MAX_LOOKS = 100;

    private final boolean enabled;
    private final NanoClock clock;
    private final RunningCalls running;
    private final SlowCalls slow;
    private final SlowCallRing lastSlow;

    /**
     * @param enabled whether calls have ledgers
     * @param threads the number of threads that run calls
     */
    CallLedgers(boolean enabled, int threads, Slo target, NanoClock clock) {
        this.enabled = enabled;
        this.clock = clock;
        this.running = new RunningCalls(enabled ? threads : 0);
        this.slow = new SlowCalls(target.latency().toNanos(), clock.nanoTime());
        this.lastSlow = new SlowCallRing(target.latency().toNanos());
    }

    /** Creates the ledger of a call that a worker has taken from the queue and is about to decode. */
    CallLedger begin(long started, long queuedNanos) {
        return enabled ? CallLedger.ofReceived(clock, started, queuedNanos) : CallLedger.none();
    }

    /**
     * Adds a call to the table of running calls.
     *
     * @return the call's index, which the caller passes to {@link #stopped}
     */
    int runs(ServedCall call) {
        return enabled ? running.add(call) : RunningCalls.NOWHERE;
    }

    /** Removes a call from the table of running calls after it has been answered and its worker has finished. */
    void stopped(int place, ServedCall call) {
        running.remove(place, call);
    }

    /**
     * Adds an answered call's ledger to the totals of its method, and logs or records the call if it was slow.
     * Streams are never logged as slow, because the application chooses their duration.
     *
     * @param failure the original failure; null for a result
     * @param sent the failure as it was sent to the caller
     */
    void ended(
            MethodHandler method,
            ServerContext call,
            long tookNanos,
            long now,
            @Nullable Throwable failure,
            @Nullable Throwable sent) {
        CallLedger ledger = call.ledger();
        if (ledger.isOpen()) {
            if (method.isUnary()) {
                lastSlow.ended(call, tookNanos, now, failure);
                slow.ended(method.method(), ledger, tookNanos, now, failure);
                method.phases().ended(ledger, now, tookNanos, failure, sent, call.remoteAddress());
            } else {
                method.phases().ended(ledger, now);
            }
        }
    }

    /**
     * Blocks until all answered calls are counted in the meters, or until the given time or two seconds have passed. If
     * a method is still running after its call's deadline, the wait takes longer, because it is unknown whether the
     * call has been counted. Does not block if calls have no ledgers.
     */
    void awaitCounts(Duration atMost) {
        long looks = Math.min(MAX_LOOKS, atMost.dividedBy(LOOK_EVERY));
        for (long look = 0; look < looks && running.hasEndedCall(); look++) {
            LockSupport.parkNanos(LOOK_EVERY.toNanos());
        }
    }

    SlowCallRing lastSlow() {
        return lastSlow;
    }

    List<RunningCall> running() {
        return running.look(clock.nanoTime());
    }
}
