package tern.rpc.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** What callers of asynchronous methods get. Cancelling it cancels the call. */
final class CallFuture<T extends @Nullable Object> extends CompletableFuture<T> implements CallScope {

    private final Executor executor;
    private volatile @Nullable Runnable cancelAction;

    CallFuture(Executor executor) {
        this.executor = executor;
    }

    @Override
    public void execute(Runnable task) {
        executor.execute(task);
    }

    @Override
    public void onCancel(Runnable action) {
        cancelAction = action;
        if (isCancelled()) {
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
}
