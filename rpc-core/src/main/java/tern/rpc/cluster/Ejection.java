package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.slf4j.event.Level;

/**
 * Counts the failures of a provider and ejects the provider for a while after too many failures. A provider is ejected
 * after five consecutive failures. It is also ejected if half of its calls within ten seconds have failed and there
 * were at least twenty calls. An ejected provider gets no calls as long as another provider is available. Thread-safe.
 */
public final class Ejection {

    private static final int FAILURES_IN_A_ROW = 5;
    private static final long EJECTED_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long MAX_EJECTED_NANOS = TimeUnit.SECONDS.toNanos(300);

    /** The period over which the share of failed calls is measured. */
    private static final long RATE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final int RATE_MIN_CALLS = 20;

    private final Supplier<String> name;
    private final ChangeLog log;
    private final NodeCounts counts;
    private final LongAdder count = new LongAdder();
    private volatile boolean ejected;
    private volatile long untilNanos;
    private volatile long sinceNanos;
    private volatile String why = "";
    private volatile int failures; // The number of consecutive failures; written under this object's lock.
    // The number of ejections since the last successful call; written under this object's lock.
    private volatile int ejections;
    private long rateSinceNanos; // This object's lock guards rateSinceNanos, callsBefore and failuresInPeriod.
    private long callsBefore;
    private int failuresInPeriod;
    // The time of the first failure in the current series of failures, guarded by this object's lock.
    private long firstInARowNanos;
    private long firstInPeriodNanos;

    /**
     * @param name the name of the provider in logs and error messages
     * @param log gets a line for each change
     */
    Ejection(Supplier<String> name, ChangeLog log, NodeCounts counts, long now) {
        this.name = name;
        this.log = log;
        this.counts = counts;
        this.rateSinceNanos = now;
    }

    /** Returns whether the provider is ejected at the given time. */
    public boolean isNow(long now) {
        return ejected && now - untilNanos < 0;
    }

    /** Returns the time until the ejection ends, or 0 if the provider is not ejected. */
    public long forNanos(long now) {
        return isNow(now) ? untilNanos - now : 0;
    }

    /** Returns the duration of the ejection so far, in nanoseconds, or 0 if the provider is not ejected. */
    long sinceNanos(long now) {
        // Another thread may have ejected the provider after this thread read the clock, so "now" can be before the
        // ejection.
        return isNow(now) ? Math.max(0, now - sinceNanos) : 0;
    }

    /** Returns the reason for the last ejection, or an empty string if the provider has never been ejected. */
    public String why() {
        return why;
    }

    /** Returns the number of ejections since the client started. */
    public long count() {
        return count.sum();
    }

    /** Returns whether the last call failed or the provider is ejected. */
    boolean isFailing(long now) {
        return failures > 0 || isNow(now);
    }

    /** Records that the provider answered a call. */
    void answered(long now) {
        if (failures != 0 || ejections != 0) {
            forgive(now);
        }
    }

    private synchronized void forgive(long now) {
        failures = 0;
        if (!isNow(now)) {
            ejections = 0;
        }
    }

    /**
     * Records a failed call.
     *
     * @param calls the total number of calls so far
     * @return the number of consecutive failures
     */
    synchronized int failed(long calls, long now) {
        int inARow = failures + 1;
        failures = inARow;
        if (inARow == 1) {
            firstInARowNanos = now;
        }
        if (now - rateSinceNanos >= RATE_NANOS) {
            begin(calls, now);
        }
        failuresInPeriod++;
        if (failuresInPeriod == 1) {
            firstInPeriodNanos = now;
        }
        long total = calls - callsBefore;
        if (isNow(now)) {
            return inARow;
        }
        if (inARow >= FAILURES_IN_A_ROW) {
            eject(inARow + " failures in a row", firstInARowNanos, calls, now);
        } else if (total >= RATE_MIN_CALLS && 2L * failuresInPeriod >= total) {
            eject(failuresInPeriod + " of " + total + " calls failed", firstInPeriodNanos, calls, now);
        }
        return inARow;
    }

    private void begin(long calls, long now) {
        rateSinceNanos = now;
        callsBefore = calls;
        failuresInPeriod = 0;
    }

    private void eject(String reason, long firstNanos, long calls, long now) {
        int inSuccession = ejections + 1;
        ejections = inSuccession;
        failures = 0;
        begin(calls, now);
        long forNanos = Math.min(MAX_EJECTED_NANOS, EJECTED_NANOS * inSuccession);
        untilNanos = now + forNanos;
        sinceNanos = now;
        why = reason;
        count.increment();
        counts.ejected();
        ejected = true;
        log.changed(
                Level.WARN,
                () -> name.get() + " is avoided " + (inSuccession == 1 ? "" : "again, ") + "for "
                        + ChangeTexts.time(forNanos) + " while another provider can take its calls: " + reason
                        + ", the first one " + ChangeTexts.time(now - firstNanos) + " ago");
    }

    /** Ends the ejection early, because the provider has recovered. */
    synchronized void end(long now) {
        if (ejected) {
            ejected = false;
            long elapsedNanos = now - sinceNanos;
            log.changed(
                    Level.INFO,
                    () -> name.get() + " has recovered; it was avoided for " + ChangeTexts.time(elapsedNanos));
        }
    }

    /** Ends the ejection if its time has passed. */
    void look(long now) {
        if (ejected && now - untilNanos >= 0) {
            tryAgain(now);
        }
    }

    private synchronized void tryAgain(long now) {
        if (ejected && now - untilNanos >= 0) {
            ejected = false;
            long elapsedNanos = now - sinceNanos;
            log.changed(
                    Level.INFO,
                    () -> name.get() + " gets calls again as a test; it was avoided for "
                            + ChangeTexts.time(elapsedNanos));
        }
    }

    /** Resets all failures and ejections, because the provider's process has been replaced. */
    synchronized void clear(long calls, long now) {
        ejected = false;
        failures = 0;
        ejections = 0;
        begin(calls, now);
    }
}
