package tern.rpc.netty;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Pauses between attempts to connect: none after the first loss; then anything up to a bound that doubles, so that
 * clients do not come all at once. Not thread-safe.
 */
final class ReconnectBackoff {

    private static final int MAX_DOUBLINGS = 20;

    private final long minMillis;
    private final long maxMillis;
    private int failures; // connections in a row that were of no use
    private boolean leftBefore; // a server has announced its end since the last reset

    ReconnectBackoff(ClientTransportSettings settings) {
        this.minMillis = settings.reconnectMin().toMillis();
        this.maxMillis = settings.reconnectMax().toMillis();
    }

    /** A connection was lost, or there was none. */
    long nextMillis() {
        int before = failures++;
        if (before == 0) {
            return 0;
        }
        return pauseMillis(before - 1);
    }

    /** The server announced its end. A replacement is connected at once the first time; later ends count as losses. */
    long nextMillisAfterItLeft() {
        if (leftBefore) {
            return nextMillis();
        }
        leftBefore = true;
        return 0;
    }

    /** An attempt that was begun by a call failed: a pause as after the last failure. */
    long sameMillis() {
        return pauseMillis(Math.max(0, failures - 2));
    }

    private long pauseMillis(int doublings) {
        long bound = Math.min(minMillis << Math.min(MAX_DOUBLINGS, doublings), maxMillis);
        return ThreadLocalRandom.current().nextLong(1, bound + 1);
    }

    /** The server is there and answers. */
    void reset() {
        failures = 0;
        leftBefore = false;
    }

    /** Whether a failure is still news. */
    boolean isNew() {
        return failures <= 2;
    }
}
