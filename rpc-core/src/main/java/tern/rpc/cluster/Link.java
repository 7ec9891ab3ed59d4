package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.ClientConnection;

/**
 * The connection to one provider: when it was opened and lost, and how long the provider has been unreachable. Logs the
 * end of each outage. Times are on the client's clock. Thread-safe.
 */
public final class Link {

    /**
     * The minimum time between two attempts that {@link #attempt} starts. The connection's automatic attempts do not
     * count.
     */
    private static final long BETWEEN_ATTEMPTS_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /**
     * The end of an outage is logged only if the outage lasted at least this long. The start of a shorter outage is not
     * logged either.
     */
    private static final long MIN_OUTAGE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * Only a connection that lasts at least this long ends the time for which the provider counts as unreachable. If a
     * connection is lost earlier and calls on it fail, the loss counts as a provider failure. Without these rules, a
     * provider that closes each connection after a while would never be replaced, and would get more calls after each
     * reconnect.
     */
    static final long LASTING_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Endpoint endpoint;
    private final Supplier<ClientConnection> opener;
    private final Supplier<String> name;
    private final ChangeLog log;
    private volatile @Nullable ClientConnection connection;
    private volatile long nextAttemptNanos;
    private boolean isConnected; // This object's lock guards isConnected and the following fields up to unopenedNanos.
    private boolean wasConnected; // true if the provider has ever been connected
    private long timesAvailable; // the result of timesAvailable() when a reconnect was last noticed
    private boolean wasSoonLost; // True if the connection before the current one was lost soon after it was opened.
    private boolean hasFailed; // True if connecting has failed since the connection was lost or created.
    private boolean isReported; // True if takeFailure() has returned true since the connection was lost or created.
    private long beganNanos; // The beginning of the current outage.
    private boolean wasLost; // True if a connection to the provider has been lost.
    // The beginning of the first outage after the last connection that lasted for LASTING_NANOS.
    private long unstableNanos;
    private long unopenedNanos; // The last time when the connection was found not to be open.
    private volatile long usableSinceNanos;

    /**
     * @param opener opens the connection without blocking
     * @param name the name of the provider in logs
     */
    Link(Endpoint endpoint, Supplier<ClientConnection> opener, Supplier<String> name, ChangeLog log, long now) {
        this.endpoint = endpoint;
        this.opener = opener;
        this.name = name;
        this.log = log;
        this.nextAttemptNanos = now;
        this.beganNanos = now;
        this.unstableNanos = now;
        this.unopenedNanos = now;
        this.usableSinceNanos = now;
    }

    /** Returns the connection. Opens it if necessary. */
    public ClientConnection connection() {
        ClientConnection current = connection;
        return current == null ? open() : current;
    }

    private synchronized ClientConnection open() {
        ClientConnection current = connection;
        if (current == null) {
            current = opener.get();
            connection = current;
        }
        return current;
    }

    /** Returns the connection, or null if it has not been opened. */
    public @Nullable ClientConnection opened() {
        return connection;
    }

    /** Returns whether the provider is connected and has sent something. */
    public boolean isUsable() {
        ClientConnection current = connection;
        return current != null && current.isAvailable() && current.wasHeard();
    }

    /** Returns whether the connection is being opened, or is open but its server has not sent anything. */
    public boolean isConnecting() {
        ClientConnection current = connection;
        return current != null && (current.isConnecting() || (current.isAvailable() && !current.wasHeard()));
    }

    /** Returns whether the connection is open but its server has not sent anything. */
    boolean isUnheard() {
        ClientConnection current = connection;
        return current != null && current.isAvailable() && !current.wasHeard();
    }

    /**
     * Checks the connection, and returns whether it was opened or reopened after the last check. The provider may then
     * be a different process.
     */
    synchronized boolean look(long now) {
        ClientConnection opened = connection;
        // The count is read before isUsable() is called, so that no reconnect is missed.
        long times = opened == null ? 0 : opened.timesAvailable();
        if (!isUsable()) {
            notConnected(opened, now);
            return false;
        }
        if (isConnected && times == timesAvailable) {
            return false;
        }
        connected(times, now);
        return true;
    }

    private void connected(long times, long now) {
        if (isConnected) {
            lost(now);
        }
        wasSoonLost = timesAvailable > 0 && beganNanos - usableSinceNanos < LASTING_NANOS;
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
        usableSinceNanos = now;
    }

    private void lost(long now) {
        beganNanos = now;
        if (!wasLost || now - usableSinceNanos >= LASTING_NANOS) {
            unstableNanos = now;
        }
        wasLost = true;
        isConnected = false;
    }

    /** @param opened the connection; null if it has not been opened */
    private void notConnected(@Nullable ClientConnection opened, long now) {
        if (isConnected) {
            lost(now);
        }
        unopenedNanos = opened == null ? now : unopenedNanos;
        hasFailed |= opened != null
                && !opened.isConnecting()
                && !opened.lastFailure().isEmpty();
    }

    /** Returns whether the connection before the current one was lost soon after it was opened. */
    synchronized boolean wasSoonLost() {
        return wasSoonLost;
    }

    /**
     * Returns how long the provider has been unreachable, in nanoseconds, or 0 if it is connected. The time is measured
     * from the creation of this object, or from the first check that finds the connection lost.
     */
    public synchronized long outOfReachNanos(long now) {
        return isConnected ? 0 : Math.max(0, now - beganNanos);
    }

    /**
     * Returns whether the client has tried to connect for the given time without success. The time before the first
     * attempt does not count.
     */
    synchronized boolean isOutOfReachFor(long nanos, long now) {
        return isTried(beganNanos, nanos, now);
    }

    /**
     * Returns whether the provider is disconnected and has had no lasting connection for the given time. The time
     * before the first attempt does not count.
     */
    synchronized boolean isUnstableFor(long nanos, long now) {
        return isTried(unstableNanos, nanos, now);
    }

    private boolean isTried(long since, long nanos, long now) {
        long tried = isConnected ? 0 : Math.max(0, Math.min(now - since, now - unopenedNanos));
        return connection != null && !isUsable() && tried >= nanos;
    }

    /**
     * Returns whether an attempt to connect has failed, and none has succeeded since this object was created. Another
     * attempt may be in progress.
     */
    synchronized boolean hasFailedFirst() {
        ClientConnection current = connection;
        return current != null
                && !current.isAvailable()
                && !current.lastFailure().isEmpty()
                && !wasConnected;
    }

    /** Returns whether the provider has been connected since this object was created. */
    synchronized boolean wasConnected() {
        return wasConnected;
    }

    /** Returns whether {@link #look} has noticed a failed attempt to connect in the current outage. */
    synchronized boolean hasFailed() {
        return hasFailed;
    }

    /** Returns true once in each outage, after {@link #look} has found that an attempt to connect has failed. */
    synchronized boolean takeFailure() {
        boolean isNew = hasFailed && !isReported;
        isReported |= hasFailed;
        return isNew;
    }

    /** Returns the address and the reason why it is not connected, for logs. */
    String whyNotConnected() {
        ClientConnection current = connection;
        String failure = current == null ? "" : current.lastFailure();
        return failure.isEmpty() ? endpoint.toString() : endpoint + ", " + failure;
    }

    /** Returns whether the provider has been usable for the given time without interruption. */
    synchronized boolean isUsableFor(long nanos, long now) {
        return isUsable() && isConnected && now - usableSinceNanos >= nanos;
    }

    /** Returns the time when the provider was last found to be connected. */
    long usableSinceNanos() {
        return usableSinceNanos;
    }

    /**
     * Returns whether the connection is lost, and enough time has passed since the last attempt that was started by
     * {@link #attempt}.
     */
    boolean isAttemptDue(long now) {
        return connection != null && !isUsable() && !isConnecting() && now - nextAttemptNanos >= 0;
    }

    /** Starts an attempt to connect, in addition to the connection's automatic attempts. */
    void attempt(long now) {
        nextAttemptNanos = now + BETWEEN_ATTEMPTS_NANOS;
        connection().connectSoon();
    }
}
