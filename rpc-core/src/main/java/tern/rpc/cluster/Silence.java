package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.slf4j.event.Level;
import tern.rpc.transport.ClientConnection;

/**
 * The silence of one provider. A provider is silent if calls are in flight but nothing has arrived from it for a long
 * time. The client then sends pings, to find out whether the provider is alive. Thread-safe.
 */
final class Silence {

    /** A provider with calls in flight counts as silent only after it has sent nothing for this time. */
    private static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /**
     * A provider with calls in flight counts as silent only after it has sent nothing for {@value} times its usual
     * response time.
     */
    private static final int USUAL_TIMES = 10;

    /**
     * A silence is logged if a ping has not been answered for this long. A provider that is only busy with one long
     * call answers the ping earlier.
     */
    private static final long UNANSWERED_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** The minimum time between two pings, because servers limit the rate of pings. */
    private static final long BETWEEN_PINGS_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Supplier<String> name;
    private final ChangeLog log;
    private final NodeCounts counts;
    private final LongConsumer whenResumed;
    // The time when bytes last arrived, or the start of the first call in flight if no bytes have arrived since then.
    private volatile long signNanos;
    private volatile boolean silent;
    private volatile long sinceNanos; // The start of the current silence, or of the last silence.
    private volatile boolean logged; // True if the current silence has been logged.
    private int callsAtStart; // The calls in flight when the silence began, guarded by this object's lock.
    private volatile long nextPingNanos;

    /**
     * @param name the name of the provider in log lines
     * @param log receives a line when a long silence is noticed, and when it ends
     * @param whenResumed is notified of the time when a logged silence ends
     */
    Silence(Supplier<String> name, ChangeLog log, NodeCounts counts, LongConsumer whenResumed, long now) {
        this.name = name;
        this.log = log;
        this.counts = counts;
        this.whenResumed = whenResumed;
        this.signNanos = now;
        this.nextPingNanos = now;
    }

    /** Starts to measure the silence. Called when a call is about to be sent while no other call is in flight. */
    void callsBegin(long now) {
        if (!silent) {
            signNanos = now;
        }
    }

    /** Records that bytes have arrived from the provider, which ends a silence. */
    void heard(long now) {
        signNanos = now;
        if (silent) {
            end(now);
        }
    }

    /**
     * Returns whether the provider is silent. Sends a ping to a silent provider, unless the last ping was sent a short
     * time ago.
     *
     * @param inFlight the number of calls in flight
     * @param usualNanos the provider's usual response time
     */
    boolean isNow(ClientConnection connection, int inFlight, long usualNanos, long now) {
        if (silent) {
            if (connection.isHeardAfter(sinceNanos)) {
                heard(now);
                return false;
            }
            ping(connection, now);
            if (!logged && now - sinceNanos >= UNANSWERED_NANOS) {
                logSilence(now);
            }
            return true;
        }
        if (inFlight == 0) {
            return false;
        }
        long longest = Math.max(MIN_NANOS, USUAL_TIMES * usualNanos);
        if (now - signNanos < longest || connection.isHeardAfter(now - longest) || now - nextPingNanos < 0) {
            return false;
        }
        begin(inFlight, now);
        ping(connection, now);
        return true;
    }

    /** Returns the start of the current silence. */
    long sinceNanos() {
        return sinceNanos;
    }

    private void ping(ClientConnection connection, long now) {
        if (now - nextPingNanos >= 0) {
            nextPingNanos = now + BETWEEN_PINGS_NANOS;
            counts.pinged();
            connection.probe();
        }
    }

    private synchronized void begin(int inFlight, long now) {
        if (!silent) {
            sinceNanos = now;
            callsAtStart = inFlight;
            silent = true;
        }
    }

    private synchronized void logSilence(long now) {
        if (silent && !logged) {
            logged = true;
            long lasts = now - signNanos;
            int calls = callsAtStart;
            log.changed(
                    Level.WARN,
                    () -> name.get() + " is silent: nothing arrived from it for " + ChangeTexts.time(lasts)
                            + " although " + calls + " calls wait; other providers get the new calls");
        }
    }

    private synchronized void end(long now) {
        if (silent) {
            silent = false;
            long lasted = now - sinceNanos;
            if (!logged) {
                return;
            }
            logged = false;
            whenResumed.accept(now);
            log.changed(
                    Level.INFO, () -> name.get() + " sends data again; it was silent for " + ChangeTexts.time(lasted));
        }
    }

    /** Ends the silence without a log line, because the provider has connected again. */
    synchronized void clear(long now) {
        silent = false;
        logged = false;
        signNanos = now;
    }
}
