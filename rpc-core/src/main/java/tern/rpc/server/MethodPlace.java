package tern.rpc.server;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Share;

/**
 * A permit that a call has taken from its method's limiter. The call holds the permit until it has ended and its worker
 * has finished. Thread-safe.
 */
final class MethodPlace {

    private final MethodLimiter limiter;
    private final @Nullable Share tenant;
    private final long enteredNanos;
    private final AtomicBoolean left = new AtomicBoolean();

    MethodPlace(MethodLimiter limiter, @Nullable Share tenant, long enteredNanos) {
        this.limiter = limiter;
        this.tenant = tenant;
        this.enteredNanos = enteredNanos;
    }

    /** Releases the permit. Only the first call to this method has an effect. */
    void leave(long now) {
        if (left.compareAndSet(false, true)) {
            limiter.leave(tenant, enteredNanos, now);
        }
    }

    /** Releases the permit of a call whose method was not started. Only the first call to this method has an effect. */
    void leaveUnserved() {
        if (left.compareAndSet(false, true)) {
            limiter.leaveUnserved(tenant, enteredNanos);
        }
    }
}
