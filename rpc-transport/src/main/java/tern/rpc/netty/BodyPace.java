package tern.rpc.netty;

/**
 * Counts the bytes of a request body that arrive in the current period, to detect a body that arrives too slowly. The
 * periods are counted separately. Otherwise, a body whose first bytes arrived quickly could take hours to arrive.
 * Confined to the event loop.
 */
public final class BodyPace {

    private long sinceNanos;
    private long bytesBefore;

    /** @param beganNanos the time when the body began to arrive */
    public BodyPace(long beganNanos) {
        this.sinceNanos = beganNanos;
    }

    /**
     * Starts a new period.
     *
     * @param arrivedBytes the number of bytes of the body that have arrived so far
     */
    public void restart(long now, long arrivedBytes) {
        sinceNanos = now;
        bytesBefore = arrivedBytes;
    }

    /** Returns the time when the current period began, in nanoseconds. */
    long sinceNanos() {
        return sinceNanos;
    }

    /** Returns the number of bytes that have arrived in the current period. */
    long bytes(long arrivedBytes) {
        return arrivedBytes - bytesBefore;
    }
}
