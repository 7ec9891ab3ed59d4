package tern.rpc.client;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.transport.RetryPushBack;

/**
 * A server's request to delay or omit the next attempt of a call. The server sends this request with a failure, in the
 * header {@value RetryPushBack#HEADER}.
 *
 * @param nanos the time until the next attempt, or a negative number if the call must not be repeated
 */
record PushBack(long nanos) {

    private static final PushBack STOP = new PushBack(-1);

    /** Reads the push-back from the metadata of a failure. Returns null if there is none. */
    static @Nullable PushBack of(RpcException failure) {
        String text = failure.metadata().get(RetryPushBack.HEADER);
        if (text == null) {
            return null;
        }
        try {
            int millis = Integer.parseInt(text.trim());
            return millis < 0 ? STOP : new PushBack(TimeUnit.MILLISECONDS.toNanos(millis));
        } catch (NumberFormatException e) {
            // A value that is not a number forbids more attempts, just like a negative number (gRPC, proposal A6).
            return STOP;
        }
    }

    boolean isStop() {
        return nanos < 0;
    }

    /** Returns whether an attempt after the requested delay would still start before the call's deadline. */
    boolean fitsInto(long remainingNanos) {
        return nanos < remainingNanos;
    }

    /**
     * Blocks the current thread for the requested delay. Returns early if the thread is interrupted, and leaves the
     * interrupt flag set.
     */
    void await() {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && !Thread.currentThread().isInterrupted(); left = end - System.nanoTime()) {
            LockSupport.parkNanos(this, left);
        }
    }
}
