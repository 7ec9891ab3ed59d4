package tern.rpc.load.peer;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A caller that uses the floor protocol and blocks until its answer arrives. */
final class FloorWaiter {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Thread caller = Thread.currentThread();
    private final long id;
    private volatile byte @Nullable [] answer;

    FloorWaiter(long id) {
        this.id = id;
    }

    long id() {
        return id;
    }

    /** Delivers the answer to the waiting caller. Any thread may call this method. */
    void answer(byte[] payload) {
        answer = payload;
        LockSupport.unpark(caller);
    }

    /**
     * Waits for the answer on the caller's thread.
     *
     * @throws IllegalStateException if no answer arrives within 10 s
     */
    byte[] await() {
        long end = System.nanoTime() + PATIENCE_NANOS;
        byte[] payload;
        while ((payload = answer) == null) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                throw new IllegalStateException("the floor's call " + id + " has no answer after "
                        + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS) + " s");
            }
            LockSupport.parkNanos(this, left);
        }
        return payload;
    }
}
