package tern.rpc.server;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import tern.rpc.Metadata;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.ServiceLookup;

/** Admits a call by counts alone and hands it to a worker; what follows is {@link ServedCall#run()}. */
final class Dispatcher implements CallHandler {

    private final HandlerRegistry registry;
    private final CallGate gate;
    private final WorkerPool workers;
    private final WorkerPool callbacks;
    private final Duration maxQueueWait;
    private final RpcMeters meters;
    private final CallLedgers ledgers;
    private final List<Runnable> onRefusal;
    private final NanoClock clock;
    private final LongAdder refused = new LongAdder();

    /**
     * @param callbacks run what streams tell their services
     * @param onRefusal are told of each call that no worker was free for
     */
    Dispatcher(
            HandlerRegistry registry,
            CallGate gate,
            WorkerPool workers,
            WorkerPool callbacks,
            Duration maxQueueWait,
            RpcMeters meters,
            CallLedgers ledgers,
            List<Runnable> onRefusal,
            NanoClock clock) {
        this.ledgers = ledgers;
        this.onRefusal = List.copyOf(onRefusal);
        this.callbacks = callbacks;
        this.meters = meters;
        this.registry = registry;
        this.gate = gate;
        this.workers = workers;
        this.maxQueueWait = maxQueueWait;
        this.clock = clock;
    }

    @Override
    public void handle(ServerCall call) {
        ServedCall served = new ServedCall(this, call);
        call.watch(call.receivedNanos() + maxQueueWait.toNanos(), served);
        if (!workers.offer(served)) {
            refuse(call, full());
        }
    }

    @Override
    public ServiceLookup services() {
        return registry;
    }

    /** Answers a call that no worker will run, and counts it. */
    void refuse(ServerCall call, RpcException reason) {
        refused.increment();
        meters.refused(clock.nanoTime() - call.receivedNanos());
        call.fail(reason, new Metadata());
        onRefusal.forEach(Runnable::run);
    }

    /** Calls refused because no worker was free, since the beginning. */
    long refused() {
        return refused.sum();
    }

    @Override
    public AcceptedTokens tokens() {
        return gate.tokens();
    }

    CallGate gate() {
        return gate;
    }

    HandlerRegistry registry() {
        return registry;
    }

    WorkerPool callbacks() {
        return callbacks;
    }

    CallLedgers ledgers() {
        return ledgers;
    }

    NanoClock clock() {
        return clock;
    }

    private RpcException full() {
        return RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                "the call was refused: " + workers.maxThreads() + " of " + workers.maxThreads()
                        + " workers are busy and the queue is full (set by rpc.server.threads and"
                        + " rpc.server.queue-capacity)",
                Executed.NO);
    }

    /**
     * Whether calls wait because all workers are busy. If not, what held them up was a pause of the whole process, and a
     * worker is about to take them.
     */
    boolean isOverloaded() {
        return workers.isSaturated();
    }

    RpcException waitedTooLong() {
        return RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                "the call was refused: no worker was free within " + maxQueueWait.toMillis() + " ms, "
                        + workers.maxThreads() + " of " + workers.maxThreads()
                        + " are busy (set by rpc.server.max-queue-wait and rpc.server.threads)",
                Executed.NO);
    }
}
