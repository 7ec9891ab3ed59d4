package tern.rpc.server;

import java.util.concurrent.atomic.AtomicBoolean;
import tern.rpc.limit.Limiter;

/**
 * A permit that a call has taken from its method's limiter. The call holds the permit until it has ended and its worker
 * has finished. Thread-safe.
 */
final class MethodPlace {

    private final Limiter limiter;
    private final long enteredNanos;
    private final AtomicBoolean left = new AtomicBoolean();

    MethodPlace(Limiter limiter, long enteredNanos) {
        this.limiter = limiter;
        this.enteredNanos = enteredNanos;
    }

    /** Releases the permit. Only the first call to this method has an effect. */
    void leave(long now) {
        if (left.compareAndSet(false, true)) {
            limiter.leave(null, enteredNanos, now);
        }
    }

    /** Releases the permit of a call whose method was not started. Only the first call to this method has an effect. */
    void leaveUnserved() {
        if (left.compareAndSet(false, true)) {
            limiter.leaveUnserved(null, enteredNanos);
        }
    }
}
