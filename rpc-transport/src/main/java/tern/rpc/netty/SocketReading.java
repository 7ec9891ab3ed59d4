package tern.rpc.netty;

import io.netty.channel.Channel;
import io.netty.channel.RecvByteBufAllocator;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a server reads the socket of a connection, and whether a request body arrives too slowly while the
 * server reads. Confined to the event loop.
 */
final class SocketReading implements RecvByteBufAllocator {

    /**
     * A request body is aborted if fewer than {@value} bytes per second arrive after the grace period (docs/limits.md).
     */
    private static final long SLOWEST_BODY_BYTES = 1 << 10;

    private static final long MIN_MEASURED_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Channel channel;
    private final Duration gracePeriod;
    // the network that this connection belongs to; null if the event loop does not divide its time among addresses
    private final LoopShares.@Nullable Network network;
    private boolean waitsForPeer; // true while reading is paused because the peer does not read its answers
    private boolean unwanted; // true while the protocol has paused reading
    private boolean dropping; // true if all received bytes are dropped, so that nothing pauses reading
    private boolean overBudget; // true while reading is paused because the memory for requests is used up
    private boolean resting; // true while this connection waits until the event loop has read from other addresses
    // true while reading is paused for any reason except that the event loop reads from other addresses first
    private boolean paused;
    private int usedNanos; // how long the most recently read bytes occupied the event loop
    private long sinceNanos = System.nanoTime(); // the time when reading last resumed

    /**
     * @param gracePeriod the time during which a request body is allowed to arrive at any speed
     * @param network the connections with which this connection shares the time of the event loop; null if the event
     *     loop does not divide its time among addresses
     */
    SocketReading(Channel channel, Duration gracePeriod, LoopShares.@Nullable Network network) {
        this.channel = channel;
        this.gracePeriod = gracePeriod;
        this.network = network;
        if (network != null) {
            channel.config().setRecvByteBufAllocator(this);
        }
    }

    /** Creates the object that measures the reads of this connection. Called once, before the first read. */
    @Override
    @SuppressWarnings("deprecation") // Netty requires the deprecated type Handle
    public Handle newHandle() {
        return FairReads.SHARED.newHandle(this);
    }

    /** Called when the connection is closed. */
    void closed() {
        if (network != null) {
            network.leave(this);
        }
    }

    /**
     * Called after bytes have been read and processed. The event loop might then read from other addresses before it
     * reads from this connection again.
     *
     * @param nanos the time that reading and processing took on the event loop
     */
    void used(long nanos) {
        usedNanos = (int) Math.min(Integer.MAX_VALUE, nanos);
        if (network != null) {
            network.used(this, nanos);
        }
    }

    /**
     * Returns the object that counts the busy connections from the peer's address; null if the event loop does not
     * divide its time among addresses.
     */
    FairReads.@Nullable BusyNetwork busyNetwork() {
        return network == null ? null : network.busy();
    }

    boolean isOpen() {
        return channel.isOpen();
    }

    /** Returns whether the event loop reads from other addresses first. */
    boolean isResting() {
        return resting;
    }

    /** Returns how long the most recently read bytes occupied the event loop. */
    int usedNanos() {
        return usedNanos;
    }

    /** Called when the event loop starts or stops reading from the addresses of other clients first. */
    void rest(boolean begins) {
        resting = begins;
        if (channel.isOpen()) {
            setAutoRead();
        }
    }

    /** Returns whether reading is paused because the peer does not read its answers. */
    boolean waitsForPeer() {
        return waitsForPeer;
    }

    /** Called when the peer has too many unread answers, and when it has read enough of them for reading to resume. */
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
     * Called when all bytes received later will be dropped. The dropped bytes are still read, so that the server
     * notices when the peer closes the connection.
     */
    void drop() {
        dropping = true;
        setAutoRead();
    }

    private void setAutoRead() {
        boolean reads = reads();
        if (reads && paused) {
            sinceNanos = System.nanoTime();
        }
        paused = !reads;
        channel.config().setAutoRead(reads && !resting);
    }

    private boolean reads() {
        return dropping || (!waitsForPeer && !unwanted && !overBudget);
    }

    /**
     * Returns whether the body of a request arrives too slowly. The speed is measured in periods of at least twice the
     * grace period. Each period begins with a grace period, during which bytes are allowed to arrive at any speed. When
     * the server resumes reading after a pause, a new period begins.
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
