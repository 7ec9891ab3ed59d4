package tern.rpc.netty;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Pauses between attempts to connect. The first failure, and the first {@value #MAX_LOST_AT_ONCE} lost connections,
 * need no pause. After that, a pause is a random time up to a bound that doubles, so that clients do not all connect at
 * the same time. Not thread-safe.
 */
final class ReconnectBackoff {

    private static final int MAX_DOUBLINGS = 20;
    private static final int MAX_FAILED_AT_ONCE = 1;
    private static final int MAX_LOST_AT_ONCE = 2;

    private final long minMillis;
    private final long maxMillis;
    private int failures; // number of consecutive attempts without received data
    private int lost; // number of consecutive connections with received data but without an answered call

    ReconnectBackoff(ClientTransportSettings settings) {
        this.minMillis = Math.max(1, settings.reconnectMin().toMillis());
        this.maxMillis = Math.max(1, settings.reconnectMax().toMillis());
    }

    /** Returns the pause after an attempt that failed or received nothing. */
    long nextMillis() {
        failures++;
        return pauses() == 0 ? 0 : pauseMillis();
    }

    /**
     * Returns the pause after a connection with received data was lost, or after its server announced its end. The
     * server may be restarting, or a call may have ended the connection, so the first such connections are replaced at
     * once.
     */
    long nextMillisAfterALoss() {
        failures = 0;
        lost++;
        return pauses() == 0 ? 0 : pauseMillis();
    }

    /** Returns the pause after a failed attempt that a call started. It equals the pause after the previous failure. */
    long sameMillis() {
        return pauseMillis();
    }

    /** Resets the pauses, because the server has answered. */
    void reset() {
        failures = 0;
        lost = 0;
    }

    /** Whether the failure is new and should be logged as a warning. */
    boolean isNew() {
        return pauses() <= 1;
    }

    private int pauses() {
        return Math.max(0, failures - MAX_FAILED_AT_ONCE) + Math.max(0, lost - MAX_LOST_AT_ONCE);
    }

    private long pauseMillis() {
        int doublings = Math.min(MAX_DOUBLINGS, Math.max(0, pauses() - 1));
        long bound = Math.min(minMillis << doublings, maxMillis);
        return ThreadLocalRandom.current().nextLong(1, bound + 1);
    }
}
