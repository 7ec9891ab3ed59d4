package tern.rpc.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.EventLoopThread;

/**
 * A future that throws an exception if an event loop waits for it. {@link BlockedCall#checkMayBlock} does the same for
 * blocking calls. Futures derived from this future, for example by {@link #thenApply}, also reject such a wait.
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
