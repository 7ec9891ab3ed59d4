package tern.rpc.server;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NanoClock;
import tern.rpc.RunningCall;
import tern.rpc.metrics.Slo;

/** Gives each call its ledger, knows the calls that run, and adds up the ledgers of those that ended. Thread-safe. */
final class CallLedgers {

    private final boolean kept;
    private final NanoClock clock;
    private final RunningCalls running;
    private final SlowCalls slow;

    /**
     * @param kept whether there are any; else calls are served without
     * @param threads that run calls
     */
    CallLedgers(boolean kept, int threads, Slo target, NanoClock clock) {
        this.kept = kept;
        this.clock = clock;
        this.running = new RunningCalls(kept ? threads : 0);
        this.slow = new SlowCalls(target.latency().toNanos(), clock.nanoTime());
    }

    /** A worker has taken a call and is about to read it. */
    CallLedger begin(long started, long queuedNanos) {
        return kept ? CallLedger.ofReceived(clock, started, queuedNanos) : CallLedger.none();
    }

    /** @return where it is, for {@link #stopped} */
    int runs(ServedCall call) {
        return kept ? running.add(call) : RunningCalls.NOWHERE;
    }

    /** Neither a worker nor a caller has to do with the call any more. */
    void stopped(int place, ServedCall call) {
        running.remove(place, call);
    }

    /** A call has its answer. How long a stream lasts is its users' choice, so none is slow. */
    void ended(MethodHandler method, CallLedger ledger, long tookNanos, long now, @Nullable Throwable failure) {
        if (ledger.isOpen()) {
            if (method.isUnary()) {
                slow.ended(method.method(), ledger, tookNanos, now, failure);
            }
            method.phases().ended(ledger, now);
        }
    }

    List<RunningCall> running() {
        return running.look(clock.nanoTime());
    }
}
