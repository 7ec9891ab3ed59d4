package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;

/**
 * Records whether a provider offers the service of one reference. The provider may lack the service, for example
 * because another process has taken over its address. The reference then avoids the provider for 10 s, and for 10 s
 * longer after each additional failed attempt, up to 300 s. A new connection resets this state. Thread-safe.
 */
final class ServicePresence {

    private static final long AVOIDED_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long MAX_AVOIDED_NANOS = TimeUnit.SECONDS.toNanos(300);

    // the start of the connection to which all other fields of this object refer
    private volatile long usableSinceNanos;
    private volatile boolean served;
    private volatile long servedMethods; // one bit for each method that has answered a call
    private volatile boolean missing;
    private volatile long untilNanos;
    private int failures; // This object's lock guards the field "failures".

    ServicePresence(long usableSince) {
        this.usableSinceNanos = usableSince;
    }

    /** Returns whether the provider lacks the service, according to its last answers. */
    boolean isMissing(long usableSince, long now) {
        return missing && usableSinceNanos == usableSince && now - untilNanos < 0;
    }

    /** Returns how much longer the provider is avoided, or 0 if it is not avoided. */
    long avoidedForNanos(long usableSince, long now) {
        return isMissing(usableSince, now) ? untilNanos - now : 0;
    }

    /** Returns whether the service has answered a call on the current connection. */
    boolean wasServed(long usableSince) {
        return served && usableSinceNanos == usableSince;
    }

    /** Returns whether the method with the given index has answered a call on the current connection. */
    boolean wasServed(long usableSince, int method) {
        return wasServed(usableSince) && (servedMethods & bit(method)) != 0;
    }

    /**
     * Records that the service has answered a call.
     *
     * @param method the index of the called method, or -1 if the answer only shows that the service exists
     * @return whether the service was recorded as missing before this call
     */
    boolean served(long usableSince, int method) {
        long bit = bit(method);
        return (!served || missing || usableSinceNanos != usableSince || (servedMethods & bit) != bit)
                && found(usableSince, bit);
    }

    private synchronized boolean found(long usableSince, long bit) {
        boolean wasMissing = missing && usableSinceNanos == usableSince;
        begin(usableSince);
        missing = false;
        failures = 0;
        served = true;
        servedMethods |= bit;
        return wasMissing;
    }

    /** Returns the bit of a method, or 0 if the method has no bit, because its service has too many methods. */
    private static long bit(int method) {
        return method < 0 || method >= Long.SIZE ? 0 : 1L << method;
    }

    /**
     * Records that the provider does not offer the service.
     *
     * @return how long the provider will be avoided, or 0 if it is already avoided
     */
    synchronized long missing(long usableSince, long now) {
        if (isMissing(usableSince, now)) {
            return 0;
        }
        begin(usableSince);
        failures++;
        long avoided = Math.min(MAX_AVOIDED_NANOS, failures * AVOIDED_NANOS);
        untilNanos = now + avoided;
        served = false;
        missing = true;
        return avoided;
    }

    /** Resets the state if the provider has been connected again. */
    private void begin(long usableSince) {
        if (usableSinceNanos != usableSince) {
            missing = false;
            served = false;
            servedMethods = 0;
            failures = 0;
            usableSinceNanos = usableSince;
        }
    }
}
