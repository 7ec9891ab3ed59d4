package tern.rpc.server;

import java.util.concurrent.atomic.AtomicBoolean;
import tern.rpc.limit.Limiter;

/** What a call holds of the limit of its method, until it has ended and its worker has left. Thread-safe. */
final class MethodPlace {

    private final Limiter limiter;
    private final long enteredNanos;
    private final AtomicBoolean left = new AtomicBoolean();

    MethodPlace(Limiter limiter, long enteredNanos) {
        this.limiter = limiter;
        this.enteredNanos = enteredNanos;
    }

    /** Counts once. */
    void leave(long now) {
        if (left.compareAndSet(false, true)) {
            limiter.leave(null, enteredNanos, now);
        }
    }

    /** The method was not begun. Counts once. */
    void leaveUnserved() {
        if (left.compareAndSet(false, true)) {
            limiter.leaveUnserved(null, enteredNanos);
        }
    }
}
