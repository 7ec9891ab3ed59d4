package tern.rpc.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.EventLoopThread;

/**
 * A future that rejects a wait on an event loop, as {@link BlockedCall#checkMayBlock} does for a blocking call. Futures
 * derived from it, for example by {@link #thenApply}, do the same.
 */
class GuardedFuture<T extends @Nullable Object> extends CompletableFuture<T> {

    @Override
    public <U extends @Nullable Object> CompletableFuture<U> newIncompleteFuture() {
        return new GuardedFuture<>();
    }

    private void checkMayWait() {
        if (Thread.currentThread() instanceof EventLoopThread && !isDone()) {
            throw new IllegalStateException("waiting for the answer of a call would block the event loop "
                    + Thread.currentThread().getName() + " and all of its connections; wait on another thread");
        }
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        checkMayWait();
        return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        checkMayWait();
        return super.get(timeout, unit);
    }

    @Override
    public T join() {
        checkMayWait();
        return super.join();
    }
}
