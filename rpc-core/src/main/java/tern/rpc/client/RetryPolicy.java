package tern.rpc.client;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * Decides whether a failed attempt is followed by another. A call that did not run is sent once more, to another
 * provider. A call that may have run is repeated only if its method is idempotent, and once. Nothing is repeated after
 * the deadline or a cancellation. All retries together are at most a tenth of the calls, or three a second if there are
 * fewer than thirty calls a second, so that retries cannot multiply an overload. Thread-safe.
 */
final class RetryPolicy {

    private static final double SHARE_OF_CALLS = 0.1;
    private static final int PER_SECOND = 3;
    private static final int ATTEMPTS_OF_IDEMPOTENT = 2;
    private static final long WINDOW_SECONDS = 10;

    private final NanoClock clock;
    private final LongAdder calls = new LongAdder();
    private final LongAdder retries = new LongAdder();

    private long windowStart; // guarded by this, as the next two
    private long callsBefore;
    private long retriesInWindow;

    RetryPolicy(NanoClock clock) {
        this.clock = clock;
        this.windowStart = clock.nanoTime();
    }

    /** The largest number of attempts of a call that may have run each time. */
    static int attempts(boolean idempotent) {
        return idempotent ? ATTEMPTS_OF_IDEMPOTENT : 1;
    }

    /** Counts a new call, which adds to the budget for retries. */
    void called() {
        calls.increment();
    }

    /** The number of attempts after the first ones since the start. */
    long retries() {
        return retries.sum();
    }

    /**
     * @param attempt the number of the failed attempt, from 1
     * @param elsewhere whether another provider or connection could take the call
     */
    boolean again(ClientMethod method, RpcException failure, int attempt, boolean elsewhere, long remainingNanos) {
        boolean allowed = failure.wasExecuted() == Executed.NO
                ? elsewhere && attempt <= attempts(method.idempotent())
                : failure.wasExecuted() == Executed.MAYBE && attempt < attempts(method.idempotent());
        if (!allowed || failure.code() == StatusCode.CANCELLED || remainingNanos <= 0 || !spend()) {
            return false;
        }
        retries.increment();
        method.meters().retried();
        return true;
    }

    private synchronized boolean spend() {
        long now = clock.nanoTime();
        long total = calls.sum();
        if (now - windowStart >= TimeUnit.SECONDS.toNanos(WINDOW_SECONDS)) {
            windowStart = now;
            callsBefore = total;
            retriesInWindow = 0;
        }
        if (retriesInWindow >= Math.max(PER_SECOND * WINDOW_SECONDS, SHARE_OF_CALLS * (total - callsBefore))) {
            return false;
        }
        retriesInWindow++;
        return true;
    }
}
