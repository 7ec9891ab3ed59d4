package tern.rpc.netty;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Computes the pauses between connection attempts. There is no pause after the first failed attempt or after the first
 * {@value #MAX_LOST_AT_ONCE} lost connections. Later pauses are random, so that clients do not all connect at the same
 * moment. Their upper bound doubles with each failure. Not thread-safe.
 */
final class ReconnectBackoff {

    private static final int MAX_DOUBLINGS = 20;
    private static final int MAX_FAILED_AT_ONCE = 1;
    private static final int MAX_LOST_AT_ONCE = 2;

    private final long minMillis;
    private final long maxMillis;
    private int failures; // the number of consecutive connection attempts in which the server sent no bytes
    private int lost; // the number of consecutive connections on which bytes arrived but no call was answered

    ReconnectBackoff(ClientTransportSettings settings) {
        this.minMillis = Math.max(1, settings.reconnectMin().toMillis());
        this.maxMillis = Math.max(1, settings.reconnectMax().toMillis());
    }

    /** Returns the pause after a connection attempt that failed or in which the server sent no bytes. */
    long nextMillis() {
        failures++;
        return pauses() == 0 ? 0 : pauseMillis();
    }

    /**
     * Returns the pause after the loss of a connection whose server had sent bytes, or after the server announced that
     * it will close the connection. There is no pause after the first {@value #MAX_LOST_AT_ONCE} such connections in a
     * row. The server might be restarting, or a single call might have caused the loss.
     */
    long nextMillisAfterALoss() {
        failures = 0;
        lost++;
        return pauses() == 0 ? 0 : pauseMillis();
    }

    /**
     * Returns the pause after a failed attempt that was started by a call. The upper bound of the pause is the same as
     * after the previous failure.
     */
    long sameMillis() {
        return pauseMillis();
    }

    /** Resets the failure counters, because the server has answered. */
    void reset() {
        failures = 0;
        lost = 0;
    }

    /** Returns whether this is the first failure that causes a pause. Only this failure should be logged. */
    boolean isNew() {
        return pauses() <= 1;
    }

    /**
     * Returns the number of failures and lost connections since the server last answered. Counts only those that cause
     * a pause.
     */
    int pauses() {
        return Math.max(0, failures - MAX_FAILED_AT_ONCE) + Math.max(0, lost - MAX_LOST_AT_ONCE);
    }

    private long pauseMillis() {
        int doublings = Math.min(MAX_DOUBLINGS, Math.max(0, pauses() - 1));
        long bound = Math.min(minMillis << doublings, maxMillis);
        return ThreadLocalRandom.current().nextLong(1, bound + 1);
    }
}
