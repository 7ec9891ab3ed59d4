package tern.rpc.diagnosis.failure;

import java.time.Duration;
import java.util.Objects;
import tern.rpc.Phase;

/**
 * A time limit that a property sets for operations of one kind. A diagnosis names the property if operations end after
 * this time.
 *
 * @param kind the kind of the operations, such as {@link Phase#HTTP}
 * @param property the name of the property
 * @param limit the time after which a client stops waiting for an operation; more than zero
 */
public record TimeLimit(Phase kind, String property, Duration limit) {

    /**
     * The measured time of an operation may exceed its limit by at most {@value} of the limit plus {@link #LATE_NANOS}.
     */
    private static final double LATE = 0.3;

    private static final double LATE_NANOS = 20e6;

    /**
     * The measured time of an operation may be shorter than its limit, because the client may start to count the limit
     * before the measurement begins.
     */
    private static final double EARLY = 0.9;

    public TimeLimit {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(property, "property");
        if (limit.isNegative() || limit.isZero()) {
            throw new IllegalArgumentException(property + " is " + limit + "; expected more than 0");
        }
    }

    /** Returns whether this limit may have ended an operation of the given kind that took the given time. */
    public boolean mayEnd(Phase ended, double nanos) {
        // Duration.toNanos() would overflow for a limit above 292 years.
        double limitNanos = limit.toSeconds() * 1e9 + limit.toNanosPart();
        return kind == ended && nanos >= EARLY * limitNanos && nanos <= (1 + LATE) * limitNanos + LATE_NANOS;
    }

    /** Returns the limit and the property, for example {@code 50 ms (spring.http.clients.read-timeout)}. */
    public String text() {
        return limit.toMillis() + " ms (" + property + ")";
    }
}
