package tern.rpc.client;

import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.ServerContext;

/**
 * A call that a method makes while it serves another call. If the served call is cancelled, this call is also
 * cancelled. The deadline of the served call also applies to this call. When that deadline passes, this call is not
 * cancelled, but fails with DEADLINE_EXCEEDED. Thread-safe.
 */
abstract class NestedCall implements Runnable {

    private final @Nullable ServerContext serving;
    private final NanoClock clock;

    /** @param serving the call that the current thread serves; null for none */
    NestedCall(@Nullable ServerContext serving, NanoClock clock) {
        this.serving = serving;
        this.clock = clock;
    }

    /**
     * Starts a nested call.
     *
     * @param cancel cancels the call, on any thread, at any time before or after the call is sent. Must not block
     * @return null if the current thread serves no call
     */
    static @Nullable NestedCall begin(@Nullable ServerContext serving, NanoClock clock, Runnable cancel) {
        if (serving == null) {
            return null;
        }
        NestedCall nested = new NestedCall(serving, clock) {
            @Override
            void cancel() {
                cancel.run();
            }
        };
        nested.begin();
        return nested;
    }

    /** Starts observing the served call. Cancels this call immediately if the served call is already cancelled. */
    final void begin() {
        if (serving != null) {
            serving.onCancel(this);
        }
    }

    /** Stops observing the served call, because this call has ended. */
    final void end() {
        if (serving != null) {
            serving.removeOnCancel(this);
        }
    }

    /**
     * Cancels this call, because the served call has been cancelled. Does nothing after the deadline of the served
     * call, because this call fails with DEADLINE_EXCEEDED at that deadline.
     */
    @Override
    public final void run() {
        if (serving != null && !serving.deadline().isExpired(clock.nanoTime())) {
            cancel();
        }
    }

    /** Cancels this call. Runs on the thread that cancels the served call. */
    abstract void cancel();
}
