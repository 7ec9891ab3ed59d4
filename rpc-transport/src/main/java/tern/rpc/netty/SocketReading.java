package tern.rpc.netty;

import io.netty.channel.Channel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Decides whether a server reads the socket of a connection, and whether a request body arrives too slowly while the
 * server reads. Confined to the event loop.
 */
final class SocketReading {

    /** A request body is aborted if fewer bytes than this arrive per second after the grace period (docs/limits.md). */
    private static final long SLOWEST_BODY_BYTES = 1 << 10;

    private static final long MIN_MEASURED_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Channel channel;
    private final Duration gracePeriod;
    private boolean waitsForPeer; // true while reading is paused because the peer does not read its answers
    private boolean unwanted; // true while the protocol has paused reading
    private boolean dropping; // true if all received bytes are dropped, so that nothing pauses reading
    private boolean overBudget; // true while reading is paused because the memory for requests is used up
    private long sinceNanos = System.nanoTime(); // the time at which reading last resumed

    /** @param gracePeriod the time during which the body of a request may arrive at any speed */
    SocketReading(Channel channel, Duration gracePeriod) {
        this.channel = channel;
        this.gracePeriod = gracePeriod;
    }

    /** Returns whether reading is paused because the peer does not read its answers. */
    boolean waitsForPeer() {
        return waitsForPeer;
    }

    /** Called when the peer has too many unread answers, or has read enough of them. */
    void waitsForPeer(boolean stop) {
        if (waitsForPeer != stop) {
            waitsForPeer = stop;
            setAutoRead();
        }
    }

    /** Called when the protocol stops or resumes accepting bytes. */
    void unwanted(boolean stop) {
        if (unwanted != stop) {
            unwanted = stop;
            setAutoRead();
        }
    }

    /** Called when the memory for requests is used up, or when part of this memory is free again. */
    void overBudget(boolean stop) {
        overBudget = stop;
        setAutoRead();
    }

    /**
     * Called when all further bytes are dropped. The dropped bytes are still read, so that the close of the peer is
     * noticed.
     */
    void drop() {
        dropping = true;
        setAutoRead();
    }

    private void setAutoRead() {
        boolean reads = reads();
        if (reads && !channel.config().isAutoRead()) {
            sinceNanos = System.nanoTime();
        }
        channel.config().setAutoRead(reads);
    }

    private boolean reads() {
        return dropping || (!waitsForPeer && !unwanted && !overBudget);
    }

    /**
     * Returns whether the body of a request arrives too slowly. The speed is measured in periods of at least twice the
     * grace period. Each period begins with a grace period, in which bytes may arrive at any speed. When the server
     * resumes reading after a pause, a new period begins.
     */
    boolean isTooSlow(BodyPace pace, long arrivedBytes, long now) {
        if (sinceNanos - pace.sinceNanos() > 0) {
            pace.restart(sinceNanos, arrivedBytes);
        }
        long late = now - pace.sinceNanos() - gracePeriod.toNanos();
        if (!reads() || late <= 0) {
            return false;
        }
        boolean slow = pace.bytes(arrivedBytes) < SLOWEST_BODY_BYTES * TimeUnit.NANOSECONDS.toSeconds(late);
        if (!slow && late > Math.max(gracePeriod.toNanos(), MIN_MEASURED_NANOS)) {
            pace.restart(now, arrivedBytes);
        }
        return slow;
    }

    /** Describes why {@link #isTooSlow} returned true, as text for error messages. */
    String slowBody(BodyPace pace, long arrivedBytes, long now) {
        return pace.bytes(arrivedBytes) + " bytes of the request came in "
                + TimeUnit.NANOSECONDS.toSeconds(now - pace.sinceNanos())
                + " s; at least " + SLOWEST_BODY_BYTES + " a second are expected after "
                + gracePeriod.toMillis() + " ms (set by rpc.limits.first-bytes-timeout)";
    }
}
