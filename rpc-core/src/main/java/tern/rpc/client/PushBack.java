package tern.rpc.client;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.transport.RetryPushBack;

/**
 * The wish of a server about the next attempt of a call, sent with a failure as {@value RetryPushBack#HEADER}.
 *
 * @param nanos the time that the server wants to be left alone; negative if the call shall not be repeated at all
 */
record PushBack(long nanos) {

    private static final PushBack STOP = new PushBack(-1);

    /** The push-back of a failure; null if its server sent none. */
    static @Nullable PushBack of(RpcException failure) {
        String text = failure.metadata().get(RetryPushBack.HEADER);
        if (text == null) {
            return null;
        }
        try {
            int millis = Integer.parseInt(text.trim());
            return millis < 0 ? STOP : new PushBack(TimeUnit.MILLISECONDS.toNanos(millis));
        } catch (NumberFormatException e) {
            return STOP; // gRPC: a value that is no number means the same as a negative one
        }
    }

    boolean isStop() {
        return nanos < 0;
    }

    /** Whether an attempt after the wait would still be within the time of the call. */
    boolean fitsInto(long remainingNanos) {
        return nanos < remainingNanos;
    }

    /** Waits on this thread. Ends early if the thread is interrupted, and leaves its interrupt flag set. */
    void await() {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && !Thread.currentThread().isInterrupted(); left = end - System.nanoTime()) {
            LockSupport.parkNanos(this, left);
        }
    }
}
