package tern.rpc.client;

import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Invocation;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.EventLoopThread;
import tern.rpc.transport.PendingCall;

/**
 * A blocking call without filters that is made while another call is being served. Remembers the provider of the last
 * attempt. Only the caller's thread uses this object, but any thread may cancel the call.
 */
final class BlockedCall extends NestedCall {

    private final CallLedger ledger;
    private final ProviderMethodNames names;
    private @Nullable String name; // Only the caller's thread uses the field "name".
    private volatile @Nullable PendingCall attempt;
    private volatile boolean cancelled;

    /**
     * @param serving the call that the current thread serves; null for none
     * @param ledger the ledger in which this call is the current operation of {@link Phase#RPC}
     * @param names the names of this call in the ledger
     */
    BlockedCall(@Nullable ServerContext serving, NanoClock clock, CallLedger ledger, ProviderMethodNames names) {
        super(serving, clock);
        this.ledger = ledger;
        this.names = names;
    }

    /**
     * Rejects a blocking call on one of Tern's event loops. A blocked event loop can neither read the answer nor notice
     * the deadline, so all of its connections would hang forever. If the calling thread is an event loop of another
     * library, only logs a warning.
     *
     * @throws IllegalStateException if the calling thread is one of Tern's event loops
     */
    static void checkMayBlock(MethodDescriptor method) {
        Thread caller = Thread.currentThread();
        if (caller instanceof EventLoopThread) {
            throw new IllegalStateException(method + ": a blocking call would block the event loop " + caller.getName()
                    + " and all of its connections; make the call on another thread, or declare a method that"
                    + " returns CompletableFuture");
        }
        NonBlockingThreads.check(caller, method);
    }

    /**
     * Stores the attempt that is about to be sent, so that a cancellation can fail it. Fails the attempt immediately if
     * the call is already cancelled. The ledger then shows the provider while the call waits for its answer.
     */
    void attempts(Endpoint provider, PendingCall next) {
        String running = names.at(provider);
        name = running;
        ledger.rename(Phase.RPC, running);
        attempt = next;
        // the thread that cancelled the call may not have seen this attempt, so the attempt is failed here
        if (cancelled) {
            fail(next);
        }
    }

    /** Throws CANCELLED if the call is cancelled. Called while no attempt is in flight. */
    void checkCancelled(Invocation call) {
        if (cancelled) {
            throw cancellation(call.toString(), Executed.NO);
        }
    }

    @Override
    void cancel() {
        cancelled = true;
        PendingCall current = attempt;
        if (current != null) {
            fail(current);
        }
    }

    private static void fail(PendingCall attempt) {
        attempt.fail(executed -> cancellation(attempt.toString(), executed));
    }

    static RpcException cancellation(String call, Executed executed) {
        return RpcException.refusal(
                StatusCode.CANCELLED, call + " was cancelled with the served call that made it", executed);
    }

    /**
     * Returns the method's name and the provider of the last attempt; the method's name alone if there was no attempt.
     */
    String name() {
        return name == null ? names.at(null) : name;
    }
}
