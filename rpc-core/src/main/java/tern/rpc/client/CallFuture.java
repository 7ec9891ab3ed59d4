package tern.rpc.client;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.endpoint.Endpoint;

/**
 * The future that an asynchronous method returns to its caller. Cancelling it cancels the call. If a thread that is
 * serving a call waits for this future, the wait is recorded as {@link Phase#UNATTRIBUTED} in the served call's ledger.
 */
final class CallFuture<T extends @Nullable Object> extends GuardedFuture<T> implements CallScope {

    private final Executor executor;
    private volatile @Nullable Runnable cancelAction;
    private volatile @Nullable SentCall sent;
    private volatile boolean givenUp;
    private volatile @Nullable FilteredCall filtered; // the call with its filters; null if the call has no filters

    CallFuture(Executor executor) {
        this.executor = executor;
    }

    @Override
    public void execute(Runnable task) {
        executor.execute(task);
    }

    @Override
    public void passedOn(SentCall call) {
        sent = call;
        onCancel(call::cancel);
    }

    /** Sets the call that passes through the filters. Called before the filters run. */
    void filteredBy(FilteredCall call) {
        filtered = call;
    }

    boolean isPassedOn() {
        return sent != null;
    }

    @Override
    public void answered() {
        FilteredCall call = filtered;
        if (call != null) {
            call.watch();
        }
    }

    /** Returns the provider of the last attempt; null if it is unknown. */
    @Nullable
    Endpoint endpoint() {
        SentCall call = sent;
        return call == null ? null : call.endpoint();
    }

    /** Runs the action when the caller cancels the call, or immediately if the call is already cancelled. */
    void onCancel(Runnable action) {
        cancelAction = action;
        if (isCancelled() || givenUp) {
            action.run();
        }
    }

    /**
     * Cancels the call, immediately or as soon as the filters pass it on. The future then fails with the call's
     * failure. Called when the served call that made this call is cancelled. Also called before the caller gets a
     * failure, such as an exception from a filter.
     */
    void giveUp() {
        givenUp = true;
        Runnable action = cancelAction;
        if (action != null) {
            action.run();
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        Runnable action = cancelAction;
        if (cancelled && action != null) {
            action.run();
        }
        return cancelled;
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        CallLedger ledger = CallLedger.current();
        Phase before = ledger.turnTo(Phase.UNATTRIBUTED);
        try {
            return super.get();
        } finally {
            ledger.turnTo(before);
        }
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        CallLedger ledger = CallLedger.current();
        Phase before = ledger.turnTo(Phase.UNATTRIBUTED);
        try {
            return super.get(timeout, unit);
        } finally {
            ledger.turnTo(before);
        }
    }

    @Override
    public T join() {
        CallLedger ledger = CallLedger.current();
        Phase before = ledger.turnTo(Phase.UNATTRIBUTED);
        try {
            return super.join();
        } finally {
            ledger.turnTo(before);
        }
    }
}
