package tern.rpc.server;

import java.util.concurrent.atomic.AtomicBoolean;
import tern.rpc.limit.Limiter;

/**
 * The place of a call in the limit of its method. The call keeps it until it has ended and its worker has left.
 * Thread-safe.
 */
final class MethodPlace {

    private final Limiter limiter;
    private final long enteredNanos;
    private final AtomicBoolean left = new AtomicBoolean();

    MethodPlace(Limiter limiter, long enteredNanos) {
        this.limiter = limiter;
        this.enteredNanos = enteredNanos;
    }

    /** Releases the place once. */
    void leave(long now) {
        if (left.compareAndSet(false, true)) {
            limiter.leave(null, enteredNanos, now);
        }
    }

    /** Releases the place once, for a call whose method was not started. */
    void leaveUnserved() {
        if (left.compareAndSet(false, true)) {
            limiter.leaveUnserved(null, enteredNanos);
        }
    }
}
