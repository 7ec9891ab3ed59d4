package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import tern.rpc.transport.ClientConnection;

/**
 * Records when a provider is connected and when its connection is lost, and logs the end of each outage. The lock of
 * the {@link Node} guards this object, except for {@link #endedNanos}.
 */
final class Outages {

    /** The minimum duration of an outage whose end is logged. The start of a shorter outage is not logged either. */
    private static final long MIN_OUTAGE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * The loss of a connection counts as a provider failure under two conditions: the connection was open for less than
     * this time, and a call on this connection failed. Without this rule, a provider that resets every connection would
     * get more calls after each reconnect.
     */
    private static final long SOON_LOST_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Supplier<String> name;
    private final ChangeLog log;
    private boolean isConnected;
    private boolean wasConnected; // true if the provider has ever been connected
    private long timesAvailable; // the value of the connection's timesAvailable() at the last call of connected()
    private boolean hasFailed; // True if connecting has failed since the connection was lost or created.
    private boolean isReported; // True if takeFailure() has returned true since the connection was lost or created.
    private long beganNanos;
    private long unopenedNanos; // The last time when the connection was known to be unopened.
    private volatile long endedNanos;

    /** @param name the name of the provider in logs */
    Outages(Supplier<String> name, ChangeLog log, long now) {
        this.name = name;
        this.log = log;
        this.beganNanos = now;
        this.unopenedNanos = now;
        this.endedNanos = now;
    }

    /**
     * Called while the provider is connected. Returns whether its connection was opened or reopened after the last call
     * of {@link #connected}.
     *
     * @param times the connection's {@link ClientConnection#timesAvailable}
     */
    boolean isReconnected(long times) {
        return !isConnected || times != timesAvailable;
    }

    /**
     * Records that the provider has been connected.
     *
     * @return whether an earlier connection was lost soon after it was opened
     */
    boolean connected(long times, long now) {
        long lastedNanos = (isConnected ? now : beganNanos) - endedNanos;
        boolean wasSoonLost = timesAvailable > 0 && lastedNanos < SOON_LOST_NANOS;
        timesAvailable = times;
        long outageNanos = now - beganNanos;
        if (hasFailed && outageNanos >= MIN_OUTAGE_NANOS) {
            log.changed(
                    Level.INFO,
                    () -> name.get() + " is connected; it was unreachable for " + ChangeTexts.time(outageNanos));
        }
        hasFailed = false;
        isReported = false;
        isConnected = true;
        wasConnected = true;
        endedNanos = now;
        return wasSoonLost;
    }

    /** @param connection the connection; null if it has not been opened */
    void notConnected(@Nullable ClientConnection connection, long now) {
        beganNanos = isConnected ? now : beganNanos;
        unopenedNanos = connection == null ? now : unopenedNanos;
        isConnected = false;
        hasFailed |= connection != null
                && !connection.isConnecting()
                && !connection.lastFailure().isEmpty();
    }

    /** Returns the duration of the current outage so far, in nanoseconds, or 0 if the provider is connected. */
    long nanos(long now) {
        return isConnected ? 0 : Math.max(0, now - beganNanos);
    }

    /**
     * Returns the time for which the client has tried to connect without success, in nanoseconds, or 0 if the provider
     * is connected. The time before the first attempt does not count.
     */
    long triedNanos(long now) {
        return isConnected ? 0 : Math.max(0, Math.min(now - beganNanos, now - unopenedNanos));
    }

    /** Returns whether the provider has been connected for at least the given time. */
    boolean isConnectedFor(long nanos, long now) {
        return isConnected && now - endedNanos >= nanos;
    }

    /** Returns whether the provider has ever been connected. */
    boolean wasConnected() {
        return wasConnected;
    }

    /** Returns true if an attempt to connect has failed, but only once in each outage. */
    boolean takeFailure() {
        boolean isNew = hasFailed && !isReported;
        isReported |= hasFailed;
        return isNew;
    }

    /** Returns the time when the provider was last connected. Any thread may call this. */
    long endedNanos() {
        return endedNanos;
    }
}
