package tern.rpc.client;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;

/**
 * Blocks until a provider of a reference is connected. Thread-safe.
 *
 * @param closed returns whether the client is closed
 */
record ConnectionWait(NanoClock clock, BooleanSupplier closed) {

    private static final Duration LOOK_EVERY = Duration.ofMillis(5);

    /**
     * Waits for a provider.
     *
     * @param attempt runs before each pause
     * @return whether a provider is connected; also false if the client is closed or the thread is interrupted
     */
    boolean isReached(EndpointInvoker endpoints, Duration atMost, Runnable attempt) {
        long end = clock.nanoTime() + atMost.toNanos();
        while (!endpoints.isAvailable()) {
            // If the process receives SIGTERM during startup, Spring interrupts the main thread.
            if (closed.getAsBoolean()
                    || clock.nanoTime() - end >= 0
                    || Thread.currentThread().isInterrupted()) {
                return false;
            }
            attempt.run();
            LockSupport.parkNanos(LOOK_EVERY.toNanos());
        }
        return true;
    }

    /**
     * Waits for a provider of a reference that must be checked at startup.
     *
     * @throws RpcException UNAVAILABLE if no provider can be reached; CANCELLED if the thread is interrupted
     */
    void require(ServiceKey service, EndpointInvoker endpoints, Duration atMost) {
        if (isReached(endpoints, atMost, () -> {})) {
            return;
        }
        if (Thread.currentThread().isInterrupted()) {
            throw new RpcException(
                    StatusCode.CANCELLED,
                    "the thread was interrupted while it waited for a provider of " + service,
                    Executed.NO,
                    null);
        }
        throw new RpcException(
                StatusCode.UNAVAILABLE,
                "no provider of " + service + " can be reached: "
                        + endpoints.failures().all() + " (the reference asks for a check at start)",
                Executed.NO,
                null);
    }
}
