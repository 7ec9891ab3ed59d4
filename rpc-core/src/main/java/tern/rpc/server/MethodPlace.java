package tern.rpc.server;

import java.util.concurrent.atomic.AtomicBoolean;
import tern.rpc.limit.Limiter;

/**
 * The permit that a call holds from the limiter of its method. The call holds it until the call has ended and its
 * worker has finished. Thread-safe.
 */
final class MethodPlace {

    private final Limiter limiter;
    private final long enteredNanos;
    private final AtomicBoolean left = new AtomicBoolean();

    MethodPlace(Limiter limiter, long enteredNanos) {
        this.limiter = limiter;
        this.enteredNanos = enteredNanos;
    }

    /** Releases the permit. Further calls of this method have no effect. */
    void leave(long now) {
        if (left.compareAndSet(false, true)) {
            limiter.leave(null, enteredNanos, now);
        }
    }

    /** Releases the permit of a call whose method was not started. Further calls of this method have no effect. */
    void leaveUnserved() {
        if (left.compareAndSet(false, true)) {
            limiter.leaveUnserved(null, enteredNanos);
        }
    }
}
